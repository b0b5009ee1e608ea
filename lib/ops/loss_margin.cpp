#include <taper/factory.h>
#include <taper/ops/activation.h>
#include <taper/ops/distance.h>
#include <taper/ops/index.h>
#include <taper/ops/loss_margin.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include "loss_parts.h"
#include "positions.h"
#include "write_out.h"

namespace taper {
namespace {

/// input as [n, classes].
Tensor rows_of(const char* op, const Tensor& input) {
  check<ShapeError>(input.dim() <= 2, op, ": input must be [n, classes], or [classes] of one sample, got ", input);
  check<DTypeError>(input.is_floating_point(), op, ": needs a floating dtype, got input ", input,
                    "; convert with x.to(taper::float32) first");
  return input.dim() == 2 ? input : input.reshape({1, input.numel()});
}

}  // namespace

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                           Reduction reduction) {
  check<ShapeError>(input1.dim() == input2.dim() && input1.dim() == target.dim(), "margin_ranking_loss: input1 ",
                    input1.sizes(), ", input2 ", input2.sizes(), " and target ", target.sizes(),
                    " must have the same number of dims");
  return reduced(target.neg().mul(input1.sub(input2)).add(margin).clamp_min(0), reduction);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                             Reduction reduction) {
  constexpr const char* op = "cosine_embedding_loss";
  check<ShapeError>((input1.dim() == 2 && target.dim() == 1) || (input1.dim() == 1 && target.dim() == 0), op,
                    ": needs inputs [n, d] with target [n], or [d] with [], got ", input1.sizes(), " and ",
                    target.sizes());
  check<ShapeError>(input1.sizes() == input2.sizes() && (target.dim() == 0 || target.size(0) == input1.size(0)), op,
                    ": input1 ", input1.sizes(), ", input2 ", input2.sizes(), " and target ", target.sizes(),
                    " do not fit");
  const IntVec last{-1};
  const auto squares = [&](const Tensor& x) { return x.square().sum(last).add(1e-12); };
  const Tensor cosine = input1.mul(input2).sum(last).div(squares(input1).mul(squares(input2)).sqrt());
  const Tensor together = where(target.eq(1), rsub(cosine, 1), 0);
  const Tensor apart = where(target.eq(-1), cosine.sub(margin).clamp_min(0), 0);
  return reduced(together.add(apart), reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginOptions& o) {
  check<ShapeError>(anchor.dim() == positive.dim() && anchor.dim() == negative.dim(), "triplet_margin_loss: anchor ",
                    anchor.sizes(), ", positive ", positive.sizes(), " and negative ", negative.sizes(),
                    " must have the same number of dims");
  const Tensor near = pairwise_distance(anchor, positive, o.p, o.eps);
  Tensor far = pairwise_distance(anchor, negative, o.p, o.eps);
  if (o.swap) far = minimum(far, pairwise_distance(positive, negative, o.p, o.eps));
  return reduced(near.add(o.margin).sub(far).clamp_min(0), o.reduction);
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginOptions& o) {
  constexpr const char* op = "multi_margin_loss";
  check<ValueError>(o.p == 1 || o.p == 2, op, ": p is ", o.p, ", expected 1 or 2");
  const Tensor x = rows_of(op, input);
  const std::int64_t n = x.size(0), classes = x.size(1);
  check<ShapeError>(classes > 0, op, ": input ", input, " has no classes");
  check<ShapeError>(target.dim() <= 1 && target.numel() == n && (target.dim() == 1 || input.dim() < 2), op, ": target ",
                    target.sizes(), " does not fit input ", input.sizes());
  check<DTypeError>(target.dtype() == int64, op, ": target must be class indices (int64), got ", target);
  check<ShapeError>(!o.weight.defined() || (o.weight.dim() == 1 && o.weight.size(0) == classes), op,
                    ": weight must be [", classes, "], got ", o.weight.defined() ? o.weight.sizes() : IntSpan());
  const Tensor at = target.reshape({n, 1});
  check_positions(op, at, classes, 1, x, Negative::refused);
  const Tensor lead = rsub(gather(x, 1, at), o.margin).add(x);
  const Tensor other = scatter(ones(x.sizes(), bool_, x.device()), 1, at, false);
  const Tensor counted = lead.gt(0).logical_and(other);
  Tensor losses = where(counted, o.p == 1 ? lead : lead.square(), 0);
  if (o.weight.defined()) losses = losses.mul(index_select(o.weight, 0, at.reshape(-1)).unsqueeze(1));
  losses = losses.sum(IntSpan{1}).div(double(classes));
  return reduced(target.dim() == 0 ? losses.reshape(IntSpan{}) : losses, o.reduction);
}
Tensor& multi_margin_loss_out(Tensor& out, const Tensor& input, const Tensor& target,
                              const MultiMarginOptions& options) {
  return write_out("multi_margin_loss", out, multi_margin_loss(input, target, options));
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  constexpr const char* op = "multilabel_margin_loss";
  const Tensor x = rows_of(op, input);
  check<ShapeError>(input.sizes() == target.sizes(), op, ": input ", input.sizes(), " and target ", target.sizes(),
                    " must have the same shape");
  check<DTypeError>(target.dtype() == int64, op, ": target must be class indices (int64), got ", target);
  const std::int64_t n = x.size(0), classes = x.size(1);
  const bool has_values = !target.device().is_meta();
  const std::vector<std::int64_t> listed =
      has_values ? target.to_vector<std::int64_t>() : std::vector<std::int64_t>(std::size_t(n * classes), -1);
  std::vector<double> times(listed.size(), 0);  // how often each class is a target
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < classes; ++j) {
      const std::int64_t c = listed[std::size_t(i * classes + j)];
      check<IndexError>(c >= -1 && c < classes, op, ": target ", c, " is no class; there are ", classes);
      if (c < 0) break;
      times[std::size_t(i * classes + c)] += 1;
    }
  const Tensor counts = from_vector(std::move(times), IntVec{n, classes}).to(x.device(), x.dtype());
  const Tensor lead = rsub(x.unsqueeze(2), 1).add(x.unsqueeze(1));  // [n, target, class]
  const Tensor weights = counts.unsqueeze(2).mul(counts.eq(0).unsqueeze(1));
  const Tensor losses = where(lead.gt(0), lead, 0).mul(weights).sum({1, 2}).div(double(classes));
  return reduced(input.dim() < 2 ? losses.reshape(IntSpan{}) : losses, reduction);
}
Tensor& multilabel_margin_loss_out(Tensor& out, const Tensor& input, const Tensor& target, Reduction reduction) {
  return write_out("multilabel_margin_loss", out, multilabel_margin_loss(input, target, reduction));
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                                   Reduction reduction) {
  const auto [x, t] = alike("multilabel_soft_margin_loss", input, target);
  check<ShapeError>(x.dim() > 0, "multilabel_soft_margin_loss: needs a dim of classes, got input ", input);
  // -(t log p + (1 - t) log(1 - p)), where log(1 - p) is log p - x.
  Tensor losses = x.mul(rsub(t, 1)).sub(log_sigmoid(x));
  if (weight.defined()) losses = losses.mul(weight);
  return reduced(losses.sum(IntSpan{-1}).div(double(x.size(-1))), reduction);
}

}  // namespace taper
