#include <taper/operator.h>
#include <taper/ops/norm.h>
#include <taper/recomputation.h>

namespace taper {
namespace {

std::int64_t channels_of(const Tensor& x) { return x.dim() >= 2 ? x.size(1) : x.dim() == 1 ? x.size(0) : 0; }

void check_per_channel(const char* name, const Tensor& x, const std::optional<Tensor>& t) {
  if (!t) return;
  check<ShapeError>(t->dim() == 1 && t->size(0) == channels_of(x), "batch_norm: ", name, " is ", t->spec(), " but x ",
                    x.spec(), " has ", channels_of(x), " channels and needs one of [", channels_of(x), "]");
  check<DTypeError>(t->dtype() == x.dtype() || t->dtype() == compute_dtype(x.dtype()), "batch_norm: ", name, " (",
                    t->spec(), ") and x (", x.spec(), ") differ in dtype; convert one of them with to()");
}

/// Running statistics are written to, not differentiated.
void check_running(const char* name, const Tensor& x, const std::optional<Tensor>& t, bool training) {
  check_per_channel(name, x, t);
  if (!t) return;
  check<AutogradError>(
      !((training || GradMode::is_enabled()) && detail::requires_grad_hook && detail::requires_grad_hook(*t)),
      "batch_norm: ", name, " requires grad, but running statistics are not differentiated; use detach()");
  if (!training) return;
  check<ShapeError>(!overlaps_itself(*t), "batch_norm: ", name, " (", t->spec(), " with strides ", t->strides(),
                    ") shows one memory location as several elements; clone() it first");
}

std::array<TensorSpec, 3> infer_batch_norm(const Tensor& x, const std::optional<Tensor>& weight,
                                           const std::optional<Tensor>& bias, const std::optional<Tensor>& running_mean,
                                           const std::optional<Tensor>& running_var, const BatchNormOptions& o) {
  check<DTypeError>(is_floating(x.dtype()), "batch_norm: needs a floating dtype, got x ", x.spec(),
                    "; convert with x.to(taper::float32) first");
  check<ShapeError>(x.dim() >= 2 || (x.dim() == 1 && x.numel() == 0), "batch_norm: needs x [n, c, ...], got ",
                    x.spec());
  check_per_channel("weight", x, weight);
  check_per_channel("bias", x, bias);
  check_running("running_mean", x, running_mean, o.training);
  check_running("running_var", x, running_var, o.training);
  check<ValueError>(running_mean.has_value() == running_var.has_value(),
                    "batch_norm: running_mean and running_var go together, only one is defined");
  const std::int64_t c = channels_of(x);
  if (!o.training)
    check<ValueError>(running_mean.has_value(), "batch_norm: running_mean and running_var are undefined, which only ",
                      "training allows");
  else
    check<ValueError>(x.numel() != c || c == 0,
                      "batch_norm: Expected more than 1 value per channel when training, got x ", x.spec(),
                      "; use a larger batch, or eval mode");
  const TensorSpec per_channel = TensorSpec::contiguous({c}, compute_dtype(x.dtype()), x.device());
  return {TensorSpec{dense_geometry(x.sizes(), suggested_memory_format(x)), x.dtype(), x.device()}, per_channel,
          per_channel};
}

std::array<TensorSpec, 3> infer_batch_norm_backward(const Tensor& grad, const Tensor& x, const std::optional<Tensor>&,
                                                    const Tensor&, const Tensor&, const BatchNormOptions&,
                                                    const std::array<bool, 3>& wanted) {
  const auto per_channel = [&](bool is_wanted) {
    return TensorSpec::contiguous({is_wanted ? channels_of(x) : 0}, x.dtype(), x.device());
  };
  check<ShapeError>(grad.sizes() == x.sizes(), "batch_norm_backward: grad ", grad.spec(), " and x ", x.spec(),
                    " differ in shape");
  return {wanted[0] ? TensorSpec{dense_geometry(x.sizes(), suggested_memory_format(x)), x.dtype(), x.device()}
                    : per_channel(false),
          per_channel(wanted[1]), per_channel(wanted[2])};
}

std::optional<Tensor> optional(const Tensor& t) { return t.defined() ? std::optional<Tensor>(t) : std::nullopt; }

}  // namespace

namespace ops {
constinit StructuredOp<std::array<Tensor, 3>(Tensor, std::optional<Tensor>, std::optional<Tensor>,
                                             std::optional<Tensor>, std::optional<Tensor>, BatchNormOptions)>
    batch_norm{"batch_norm", "x, weight, bias, running_mean, running_var, options", infer_batch_norm};
constinit StructuredOp<std::array<Tensor, 3>(Tensor, Tensor, std::optional<Tensor>, Tensor, Tensor, BatchNormOptions,
                                             std::array<bool, 3>)>
    batch_norm_backward{"batch_norm_backward", "grad, x, weight, mean, invstd, options, wanted",
                        infer_batch_norm_backward};
}  // namespace ops

Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                  const Tensor& running_var, bool training, double momentum, double eps) {
  if (Recomputation::is_active()) momentum = 0;  // the first computation has moved them
  return ops::batch_norm(x, optional(weight), optional(bias), optional(running_mean), optional(running_var),
                         {training, momentum, eps})[0];
}

}  // namespace taper
