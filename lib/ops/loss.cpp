#include <taper/operator.h>
#include <taper/ops/loss.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/softmax.h>
#include <taper/promotion.h>

#include "loss_parts.h"
#include "write_out.h"

namespace taper {
namespace ops {
namespace {

using OptionalTensor = std::optional<Tensor>;

void need_floating(const char* op, const Tensor& input) {
  check<DTypeError>(input.is_floating_point(), op, ": needs a floating dtype, got input ", input.spec(),
                    "; convert it first with input.to(taper::float32)");
}

/// The shape of targets that goes with an input [N, C, ...] or [C]: without the classes.
SizesAndStrides without_classes(const Tensor& input) {
  const int rank = input.dim(), classes = rank == 1 ? 0 : 1;
  SizesAndStrides sizes = SizesAndStrides::of_rank(rank - 1);
  for (int d = 0, to = 0; d < rank; ++d)
    if (d != classes) sizes.set(to++, input.size(d), 0);
  return sizes;
}

void check_weight(const char* op, const Tensor& input, const OptionalTensor& weight, std::int64_t classes) {
  if (!weight || !weight->defined()) return;
  check<AutogradError>(!(GradMode::is_enabled() && detail::requires_grad_hook && detail::requires_grad_hook(*weight)),
                       op, ": weight requires grad, but the loss has no derivative by it; pass weight.detach()");
  check<ShapeError>(weight->dim() == 1 && weight->size(0) == classes, op, ": weight must be [", classes,
                    "], one number for each class of input ", input.sizes(), ", got ", weight->sizes());
  check<DTypeError>(weight->dtype() == input.dtype(), op, ": weight is ", weight->dtype(), " but input is ",
                    input.dtype(), "; convert one of them with to()");
}

void check_class_loss(const char* op, const Tensor& input, const Tensor& target, const OptionalTensor& weight,
                      const ClassLoss& o) {
  need_floating(op, input);
  check<ShapeError>(input.dim() >= 1, op, ": input must be [N, C, ...] or [C], got ", input.sizes());
  check<DTypeError>(target.dtype() == int64, op, ": targets must be class indices (int64), got ", target.spec(),
                    is_floating(target.dtype()) ? "; use mse_loss() for real-valued targets"
                                                : "; convert them with target.to(taper::int64)");
  const SizesAndStrides want = without_classes(input);
  check<ShapeError>(target.sizes() == want.sizes(), op, ": target must be ", want.sizes(), " to go with input ",
                    input.sizes(), ", got ", target.sizes());
  check_weight(op, input, weight, o.classes);
}

TensorSpec loss_spec(const Tensor& of, IntSpan sizes, Reduction reduction) {
  return TensorSpec::contiguous(reduction == Reduction::none ? sizes : IntSpan(), of.dtype(), of.device());
}

std::array<TensorSpec, 2> infer_cross_entropy(const Tensor& input, const Tensor& target, const OptionalTensor& weight,
                                              const ClassLoss& o) {
  check_class_loss("cross_entropy", input, target, weight, o);
  SizesAndStrides statistics = SizesAndStrides::of_rank(target.dim() + 1);
  statistics.set(0, 2, 0);
  for (int d = 0; d < target.dim(); ++d) statistics.set(d + 1, target.size(d), 0);
  return {loss_spec(input, target.sizes(), o.reduction),
          TensorSpec::contiguous(statistics.sizes(), compute_dtype(input.dtype()), input.device())};
}
TensorSpec infer_cross_entropy_backward(const Tensor&, const Tensor& input, const Tensor&, const OptionalTensor&,
                                        const Tensor&, const ClassLoss&) {
  return TensorSpec::contiguous(input.sizes(), input.dtype(), input.device());
}
TensorSpec infer_nll_loss(const Tensor& input, const Tensor& target, const OptionalTensor& weight, const ClassLoss& o) {
  check_class_loss("nll_loss", input, target, weight, o);
  return loss_spec(input, target.sizes(), o.reduction);
}
TensorSpec infer_nll_loss_backward(const Tensor& grad, const Tensor& target, const OptionalTensor&,
                                   const ClassLoss& o) {
  const int rank = target.dim() + 1, classes = rank == 1 ? 0 : 1;
  SizesAndStrides sizes = SizesAndStrides::of_rank(rank);
  for (int d = 0, from = 0; d < rank; ++d) sizes.set(d, d == classes ? o.classes : target.size(from++), 0);
  return TensorSpec::contiguous(sizes.sizes(), grad.dtype(), grad.device());
}
TensorSpec infer_mse_loss(const Tensor& input, const Tensor&, const Reduction&) {
  return TensorSpec::contiguous({}, input.dtype(), input.device());
}

}  // namespace

constinit StructuredOp<std::array<Tensor, 2>(Tensor, Tensor, OptionalTensor, ClassLoss)> cross_entropy{
    "cross_entropy", "input, target, weight", infer_cross_entropy};
constinit StructuredOp<Tensor(Tensor, Tensor, Tensor, OptionalTensor, Tensor, ClassLoss)> cross_entropy_backward{
    "cross_entropy_backward", "grad, input, target, weight, statistics", infer_cross_entropy_backward};
constinit StructuredOp<Tensor(Tensor, Tensor, OptionalTensor, ClassLoss)> nll_loss{"nll_loss", "input, target, weight",
                                                                                   infer_nll_loss};
constinit StructuredOp<Tensor(Tensor, Tensor, OptionalTensor, ClassLoss)> nll_loss_backward{
    "nll_loss_backward", "grad, target, weight", infer_nll_loss_backward};
constinit StructuredOp<Tensor(Tensor, Tensor, Reduction)> mse_loss{"mse_loss", "input, target", infer_mse_loss};

}  // namespace ops

Tensor reduced(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::mean ? mean(losses) : sum(losses);
}

Pair alike(const char* op, const Tensor& input, const Tensor& target) {
  if (!input.defined() || !target.defined()) return {input, target};  // the operator reports it
  check<ShapeError>(input.sizes() == target.sizes(), op, ": input ", input.sizes(), " and target ", target.sizes(),
                    " must have the same shape",
                    input.numel() == target.numel() ? "; bring one into the other's with target.view_as(input)" : "");
  const DType dtype = result_type(input, target);
  check<DTypeError>(is_floating(dtype), op, ": needs a floating dtype, got input ", input.spec(), " and target ",
                    target.spec(), "; convert them first with to(taper::float32)");
  return {input.dtype() == dtype ? input : input.to(dtype), target.dtype() == dtype ? target : target.to(dtype)};
}

namespace {

std::optional<Tensor> if_defined(const Tensor& t) { return t.defined() ? std::optional<Tensor>(t) : std::nullopt; }

std::int64_t classes_of(const Tensor& input) {
  return !input.defined() || input.dim() == 0 ? 0 : input.size(input.dim() == 1 ? 0 : 1);
}

/// Targets that are a probability for each class.
Tensor cross_entropy_of_probabilities(const Tensor& input, const Tensor& target, const CrossEntropyOptions& o) {
  check<DTypeError>(target.is_floating_point(), "cross_entropy: target has input's shape ", input.sizes(),
                    ", so it must hold class probabilities in a floating dtype, got ", target.spec(),
                    "; class indices have a shape without the classes");
  ops::need_floating("cross_entropy", input);
  const std::int64_t classes = classes_of(input);
  ops::check_weight("cross_entropy", input, if_defined(o.weight), classes);
  const int dim = input.dim() == 1 ? 0 : 1;
  Tensor log_p = log_softmax(input, dim), p = target;
  if (o.label_smoothing > 0) p = p.mul(1 - o.label_smoothing).add(o.label_smoothing / double(classes));
  if (o.weight.defined()) {
    Tensor weight = o.weight;
    for (int d = dim + 1; d < input.dim(); ++d) weight = weight.unsqueeze(-1);  // [C, 1, ...]
    p = p.mul(weight);
  }
  const Tensor losses = sum(log_p.mul(p), dim).neg();
  return reduced(losses, o.reduction);
}

}  // namespace

Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyOptions& o) {
  check<ValueError>(o.label_smoothing >= 0 && o.label_smoothing <= 1,
                    "cross_entropy: label_smoothing must be between 0 and 1, got ", o.label_smoothing);
  if (input.defined() && target.defined() && input.sizes() == target.sizes() && input.dim() > 0)
    return cross_entropy_of_probabilities(input, target, o);
  return ops::cross_entropy(input, target, if_defined(o.weight),
                            {classes_of(input), o.ignore_index, o.reduction, o.label_smoothing})[0];
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const NllLossOptions& o) {
  return ops::nll_loss(input, target, if_defined(o.weight), {classes_of(input), o.ignore_index, o.reduction, 0});
}
Tensor& nll_loss_out(Tensor& out, const Tensor& input, const Tensor& target, const NllLossOptions& options) {
  return write_out("nll_loss", out, nll_loss(input, target, options));
}

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  const Pair p = alike("mse_loss", input, target);
  return reduction == Reduction::none ? p.input.sub(p.target).square() : ops::mse_loss(p.input, p.target, reduction);
}
Tensor& mse_loss_out(Tensor& out, const Tensor& input, const Tensor& target, Reduction reduction) {
  return write_out("mse_loss", out, mse_loss(input, target, reduction));
}

Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  const Pair p = alike("l1_loss", input, target);
  return reduced(p.input.sub(p.target).abs(), reduction);
}

}  // namespace taper
