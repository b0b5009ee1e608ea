#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/activation.h>
#include <taper/ops/loss_elementwise.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/promotion.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "elementwise.h"
#include "loss_parts.h"
#include "value_checks.h"
#include "write_out.h"

namespace taper {
namespace {

TensorSpec infer_bce(const Tensor& input, const Tensor& target) {
  expect_between("binary_cross_entropy", input, 0, 1,
                 "input must hold probabilities, from 0 to 1 (binary_cross_entropy_with_logits takes any numbers)");
  return elementwise_spec("binary_cross_entropy", input.dtype(), input, target);
}

TensorSpec infer_bce_grad(const Tensor& grad, const Tensor& input, const Tensor& target) {
  return elementwise_spec("binary_cross_entropy_grad", input.dtype(), grad, input, target);
}

Tensor weighted(const Tensor& losses, const Tensor& weight) { return weight.defined() ? losses.mul(weight) : losses; }

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor, Tensor)> binary_cross_entropy{"binary_cross_entropy", "input, target", infer_bce};
constinit StructuredOp<Tensor(Tensor, Tensor, Tensor)> binary_cross_entropy_grad{"binary_cross_entropy_grad",
                                                                                 "grad, input, target", infer_bce_grad};
}  // namespace ops

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, Reduction reduction, double beta) {
  check<ValueError>(beta >= 0, "smooth_l1_loss: beta is ", beta, ", expected 0 or more");
  if (beta == 0) return l1_loss(input, target, reduction);
  const auto [x, t] = alike("smooth_l1_loss", input, target);
  const Tensor d = x.sub(t), size = d.abs();
  return reduced(where(size.lt(beta), d.square().mul(0.5 / beta), size.sub(0.5 * beta)), reduction);
}
Tensor& smooth_l1_loss_out(Tensor& out, const Tensor& input, const Tensor& target, Reduction reduction, double beta) {
  return write_out("smooth_l1_loss", out, smooth_l1_loss(input, target, reduction, beta));
}

Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction, double delta) {
  check<ValueError>(delta > 0, "huber_loss: delta is ", delta, ", expected a number above 0");
  const auto [x, t] = alike("huber_loss", input, target);
  const Tensor d = x.sub(t), size = d.abs();
  return reduced(where(size.le(delta), d.square().mul(0.5), size.sub(0.5 * delta).mul(delta)), reduction);
}
Tensor& huber_loss_out(Tensor& out, const Tensor& input, const Tensor& target, Reduction reduction, double delta) {
  return write_out("huber_loss", out, huber_loss(input, target, reduction, delta));
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight, Reduction reduction) {
  const auto [x, t] = alike("binary_cross_entropy", input, target);
  return reduced(weighted(ops::binary_cross_entropy(x, t), weight), reduction);
}
Tensor& binary_cross_entropy_out(Tensor& out, const Tensor& input, const Tensor& target, const Tensor& weight,
                                 Reduction reduction) {
  return write_out("binary_cross_entropy", out, binary_cross_entropy(input, target, weight, reduction));
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const Tensor& weight,
                                        Reduction reduction, const Tensor& pos_weight) {
  const auto [x, t] = alike("binary_cross_entropy_with_logits", input, target);
  const Tensor log_p = log_sigmoid(x);  // log(1 - p) is log p - x
  const Tensor of_target = pos_weight.defined() ? t.mul(pos_weight.sub(1)).add(1) : Tensor();
  const Tensor losses = x.mul(rsub(t, 1)).sub(of_target.defined() ? log_p.mul(of_target) : log_p);
  return reduced(weighted(losses, weight), reduction);
}
Tensor& binary_cross_entropy_with_logits_out(Tensor& out, const Tensor& input, const Tensor& target,
                                             const Tensor& weight, Reduction reduction, const Tensor& pos_weight) {
  return write_out("binary_cross_entropy_with_logits", out,
                   binary_cross_entropy_with_logits(input, target, weight, reduction, pos_weight));
}

Tensor kl_div(const Tensor& input, const Tensor& target, KlReduction reduction, bool log_target) {
  const auto [x, t] = alike("kl_div", input, target);
  Tensor losses;
  if (log_target) {
    losses = t.exp().mul(t.sub(x));
  } else {
    const Tensor counts = t.gt(0);
    losses = where(counts, t.mul(where(counts, t, 1).log().sub(x)), 0);
  }
  if (reduction == KlReduction::batchmean) {
    check<ShapeError>(input.dim() > 0, "kl_div: batchmean needs a dim of samples, got input ", input);
    return losses.sum().div(double(input.size(0)));
  }
  return reduced(losses, reduction == KlReduction::none  ? Reduction::none
                         : reduction == KlReduction::sum ? Reduction::sum
                                                         : Reduction::mean);
}

Tensor soft_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  const auto [x, t] = alike("soft_margin_loss", input, target);
  return reduced(log_sigmoid(x.mul(t)).neg(), reduction);
}
Tensor& soft_margin_loss_out(Tensor& out, const Tensor& input, const Tensor& target, Reduction reduction) {
  return write_out("soft_margin_loss", out, soft_margin_loss(input, target, reduction));
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin, Reduction reduction) {
  const auto [x, t] = alike("hinge_embedding_loss", input, target);
  const Tensor apart = where(t.ne(1), rsub(x, margin).clamp_min(0), 0), together = where(t.ne(-1), x, 0);
  return reduced(apart.add(together), reduction);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNllOptions& o) {
  const auto [x, t] = alike("poisson_nll_loss", input, target);
  Tensor losses = o.log_input ? x.exp().sub(t.mul(x)) : x.sub(t.mul(x.add(o.eps).log()));
  if (o.full) {
    const Tensor large = t.gt(1), safe = where(large, t, 1);
    const Tensor stirling = safe.mul(safe.log()).sub(safe).add(safe.mul(2 * std::numbers::pi).log().mul(0.5));
    losses = losses.add(where(large, stirling, 0));
  }
  return reduced(losses, o.reduction);
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, const GaussianNllOptions& o) {
  constexpr const char* op = "gaussian_nll_loss";
  check<DTypeError>(input.is_floating_point() && target.is_floating_point() && var.is_floating_point(), op,
                    ": needs floating dtypes, got ", input.dtype(), ", ", target.dtype(), " and ", var.dtype());
  Tensor v = var;
  if (var.sizes() != input.sizes()) {
    const IntVec sizes = input.sizes().vec();
    IntVec shorter(sizes.begin(), sizes.empty() ? sizes.end() : sizes.end() - 1), narrow = shorter;
    narrow.push_back(1);
    if (var.sizes() == IntSpan(shorter))
      v = var.unsqueeze(-1);
    else
      check<ShapeError>(var.sizes() == IntSpan(narrow), op, ": var ", var.sizes(), " must have input's shape ",
                        input.sizes(), ", or lack the last dim, or have size 1 there");
  }
  check<ShapeError>(broadcast_sizes(op, input.sizes(), target.sizes()) == input.sizes().vec(), op, ": target ",
                    target.sizes(), " does not broadcast to input ", input.sizes());
  expect_between(op, v, 0, std::numeric_limits<double>::infinity(), "var must hold variances, 0 or more");
  // Raised to eps in value only.
  const Tensor fixed = v.detach();
  v = v.add(fixed.clamp_min(o.eps).sub(fixed));
  Tensor losses = v.log().add(input.sub(target).square().div(v)).mul(0.5);
  if (o.full) losses = losses.add(0.5 * std::log(2 * std::numbers::pi));
  return reduced(losses, o.reduction);
}

}  // namespace taper
