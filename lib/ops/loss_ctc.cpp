#include <taper/factory.h>
#include <taper/ops/index.h>
#include <taper/ops/join.h>
#include <taper/ops/loss_ctc.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include <algorithm>
#include <limits>

#include "loss_parts.h"

namespace taper {
namespace {

// The logarithm of no probability: finite, so that gradients are; far below every sum of real ones.
constexpr double kNever = -1e30;

std::vector<std::int64_t> lengths_of(const char* name, const Tensor& lengths, std::int64_t n, std::int64_t most) {
  check<DTypeError>(lengths.dtype() == int64 || lengths.dtype() == int32, "ctc_loss: ", name,
                    " must be int64 or int32, got ", lengths);
  check<ShapeError>(lengths.numel() == n && lengths.dim() <= 1, "ctc_loss: ", name, " must be [", n, "], got ",
                    lengths.sizes());
  if (lengths.device().is_meta()) return std::vector<std::int64_t>(std::size_t(n), 0);
  const std::vector<std::int64_t> values = lengths.to(int64).to_vector<std::int64_t>();
  for (const std::int64_t v : values)
    check<ValueError>(v >= 0 && v <= most, "ctc_loss: ", name, " has ", v, ", expected 0 to ", most);
  return values;
}

/// The targets with blanks before, between and after their entries, [n, states]; and where a state can be reached from
/// the one before the blank in front of it, which a class cannot from itself.
struct States {
  std::int64_t count;
  Tensor classes, skips;

  States(const Tensor& targets, const std::vector<std::int64_t>& lengths, std::int64_t num_classes,
         std::int64_t blank) {
    const std::int64_t n = std::int64_t(lengths.size());
    std::int64_t longest = 0, total = 0;
    for (const std::int64_t l : lengths) longest = std::max(longest, l), total += l;
    check<ShapeError>(targets.dim() == 1 || (targets.dim() == 2 && targets.size(0) == n), "ctc_loss: targets ",
                      targets.sizes(), " must be [", n, ", s], or have one dim");
    check<DTypeError>(targets.dtype() == int64 || targets.dtype() == int32,
                      "ctc_loss: targets must be int64 or int32, got ", targets);
    const std::int64_t there = targets.dim() == 1 ? total : longest;
    check<ShapeError>(targets.size(-1) >= there, "ctc_loss: targets ", targets.sizes(), " are shorter than the ", there,
                      " entries of target_lengths");
    const std::vector<std::int64_t> listed =
        targets.device().is_meta() ? std::vector<std::int64_t>() : targets.to(int64).to_vector<std::int64_t>();
    count = 2 * longest + 1;
    std::vector<std::int64_t> all(std::size_t(n * count), blank);
    std::vector<std::int64_t> can_skip(std::size_t(n * count), 0);
    std::int64_t begin = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < lengths[std::size_t(i)]; ++j) {
        const std::int64_t c = listed[std::size_t(begin + j)];
        check<ValueError>(c >= 0 && c < num_classes, "ctc_loss: target ", c, " is no class; there are ", num_classes);
        const std::size_t at = std::size_t(i * count + 2 * j + 1);
        all[at] = c;
        can_skip[at] = j > 0 && c != blank && c != listed[std::size_t(begin + j - 1)];
      }
      begin += targets.dim() == 1 ? lengths[std::size_t(i)] : targets.size(1);
    }
    classes = from_vector(std::move(all), IntVec{n, count}).to(targets.device());
    skips = from_vector(std::move(can_skip), IntVec{n, count}).to(targets.device()).ne(0);
  }
};

/// The entries moved up by `by` states, kNever coming in.
Tensor moved_up(const Tensor& alpha, std::int64_t by) {
  const std::int64_t n = alpha.size(0), count = alpha.size(1), shift = std::min(by, count);
  return cat({full({n, shift}, kNever, alpha.dtype(), alpha.device()), alpha.narrow(1, 0, count - shift)}, 1);
}

Tensor column(const std::vector<std::int64_t>& values, Device device) {
  return from_vector(std::vector<std::int64_t>(values), IntVec{std::int64_t(values.size()), 1}).to(device);
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CtcLossOptions& o) {
  check<ShapeError>(log_probs.dim() == 2 || log_probs.dim() == 3,
                    "ctc_loss: log_probs must be [t, n, classes] or [t, classes], got ", log_probs.sizes());
  check<DTypeError>(log_probs.is_floating_point(), "ctc_loss: needs floating log_probs, got ", log_probs);
  const bool one = log_probs.dim() == 2;
  const Tensor lp = one ? log_probs.unsqueeze(1) : log_probs;
  const std::int64_t steps = lp.size(0), n = lp.size(1), num_classes = lp.size(2);
  check<ValueError>(o.blank >= 0 && o.blank < num_classes, "ctc_loss: blank is ", o.blank, " but there are ",
                    num_classes, " classes");
  check<ShapeError>(steps > 0, "ctc_loss: log_probs ", log_probs.sizes(), " has no time steps");
  const std::vector<std::int64_t> of_inputs = lengths_of("input_lengths", input_lengths, n, steps);
  const std::vector<std::int64_t> of_targets =
      lengths_of("target_lengths", target_lengths, n, std::numeric_limits<std::int32_t>::max());
  const States states(targets, of_targets, num_classes, o.blank);

  // alpha[n][s]: the log-probability of all ways to be in state s after so many steps; a start is before state 0 or 1.
  const Tensor length = column(of_inputs, lp.device());
  const auto at = [&](std::int64_t t) { return gather(lp.select(0, t), 1, states.classes); };
  const Tensor never = full({n, states.count}, kNever, lp.dtype(), lp.device());
  Tensor start = never.clone();
  start.narrow(1, 0, std::min<std::int64_t>(2, states.count)).fill_(0);
  Tensor alpha = where(length.gt(0), start.add(at(0)), never);
  for (std::int64_t t = 1; t < steps; ++t) {
    const Tensor skipped = where(states.skips, moved_up(alpha, 2), never);
    const Tensor next = logsumexp(stack({alpha, moved_up(alpha, 1), skipped}), IntSpan{0}).add(at(t));
    alpha = where(length.gt(t), next, alpha);
  }

  const Tensor last = column(of_targets, lp.device()).mul(2);
  const Tensor in_blank = gather(alpha, 1, last), in_class = gather(alpha, 1, last.sub(1).clamp_min(0));
  const Tensor ends = cat({in_blank, where(last.gt(0), in_class, kNever)}, 1);
  Tensor losses = logsumexp(ends, IntSpan{1}).neg();
  // An empty input tells an empty target for sure.
  losses = where(length.select(1, 0).eq(0).logical_and(last.select(1, 0).eq(0)), 0, losses);
  // What log_softmax adds to the gradient, in a term that is 0.
  const Tensor p = lp.exp(), counted = arange(steps, {.dtype = int64, .device = lp.device()}).unsqueeze(1);
  const Tensor within = counted.lt(length.select(1, 0));
  losses = losses.add(where(within, p.sub(p.detach()).sum(IntSpan{2}), 0).sum(IntSpan{0}));

  const double infinite = o.zero_infinity ? 0 : std::numeric_limits<double>::infinity();
  losses = where(losses.gt(-kNever / 2), infinite, losses);
  if (o.reduction == Reduction::mean) losses = losses.div(last.select(1, 0).div(2).clamp_min(1).to(lp.dtype()));
  const Tensor y = reduced(losses, o.reduction);
  return one && o.reduction == Reduction::none ? y.squeeze(0) : y;
}

}  // namespace taper
