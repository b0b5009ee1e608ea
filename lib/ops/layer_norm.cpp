#include <taper/operator.h>
#include <taper/ops/norm_samples.h>
#include <taper/ops/pointwise.h>

#include <limits>

namespace taper {
namespace {

IntSpan leading(const Tensor& x, std::int64_t dims) { return IntSpan(x.sizes().data(), std::size_t(x.dim() - dims)); }
IntSpan trailing(const Tensor& x, std::int64_t dims) {
  return IntSpan(x.sizes().data() + (x.dim() - dims), std::size_t(dims));
}

void check_parameter(const char* name, const Tensor& x, const std::optional<Tensor>& t, std::int64_t dims) {
  if (!t) return;
  check<ShapeError>(t->sizes() == trailing(x, dims), "layer_norm: ", name, " must be ", trailing(x, dims), ", got ",
                    t->sizes());
  check<DTypeError>(t->dtype() == x.dtype(), "layer_norm: ", name, " (", t->spec(), ") and x (", x.spec(),
                    ") differ in dtype; convert one of them with to()");
}

std::array<TensorSpec, 3> infer_layer_norm(const Tensor& x, const std::optional<Tensor>& weight,
                                           const std::optional<Tensor>& bias, const LayerNormOptions& o) {
  check<DTypeError>(x.is_floating_point(), "layer_norm: needs a floating dtype, got x ", x.spec(),
                    "; convert with x.to(taper::float32) first");
  check<ShapeError>(0 <= o.dims && o.dims <= x.dim(), "layer_norm: x ", x.spec(), " does not have ", o.dims, " dims");
  check_parameter("weight", x, weight, o.dims);
  check_parameter("bias", x, bias, o.dims);
  const TensorSpec per_line = TensorSpec::contiguous(leading(x, o.dims), compute_dtype(x.dtype()), x.device());
  return {TensorSpec::contiguous(x.sizes(), x.dtype(), x.device()), per_line, per_line};
}

std::array<TensorSpec, 3> infer_layer_norm_backward(const Tensor& grad, const Tensor& x, const std::optional<Tensor>&,
                                                    const Tensor&, const Tensor&, const LayerNormOptions& o,
                                                    const std::array<bool, 3>& wanted) {
  check<ShapeError>(grad.sizes() == x.sizes(), "layer_norm_backward: grad ", grad.spec(), " and x ", x.spec(),
                    " differ in shape");
  const auto spec = [&](bool is_wanted, IntSpan sizes) {
    return is_wanted ? TensorSpec::contiguous(sizes, x.dtype(), x.device())
                     : TensorSpec::contiguous({0}, x.dtype(), x.device());
  };
  return {spec(wanted[0], x.sizes()), spec(wanted[1], trailing(x, o.dims)), spec(wanted[2], trailing(x, o.dims))};
}

}  // namespace

namespace ops {
constinit StructuredOp<std::array<Tensor, 3>(Tensor, std::optional<Tensor>, std::optional<Tensor>, LayerNormOptions)>
    layer_norm{"layer_norm", "x, weight, bias, options", infer_layer_norm};
constinit StructuredOp<std::array<Tensor, 3>(Tensor, Tensor, std::optional<Tensor>, Tensor, Tensor, LayerNormOptions,
                                             std::array<bool, 3>)>
    layer_norm_backward{"layer_norm_backward", "grad, x, weight, mean, invstd, options, wanted",
                        infer_layer_norm_backward};
}  // namespace ops

namespace {

Tensor normalized(const char* op, const Tensor& x, IntSpan shape, const Tensor& weight, const Tensor& bias, double eps,
                  bool centered) {
  check<ShapeError>(!shape.empty(), op, ": shape must have at least one entry");
  const std::int64_t dims = std::int64_t(shape.size());
  check<ShapeError>(dims <= x.dim() && trailing(x, dims) == shape, op, ": x ", x.sizes(), " does not end in the shape ",
                    shape);
  const auto checked = [&](const char* name, const Tensor& t) {
    check<ShapeError>(!t.defined() || t.sizes() == shape, op, ": ", name, " must be ", shape, ", got ",
                      t.defined() ? t.sizes() : IntSpan());
    return t.defined() && t.dtype() == x.dtype() ? std::optional<Tensor>(t) : std::nullopt;
  };
  const std::optional<Tensor> w = checked("weight", weight), b = checked("bias", bias);
  const LayerNormOptions options{.dims = dims, .eps = eps, .centered = centered};
  if (weight.defined() == w.has_value() && bias.defined() == b.has_value()) return ops::layer_norm(x, w, b, options)[0];
  // Of several dtypes: as the promotion of mul and add has it.
  const Tensor y = ops::layer_norm(x, std::optional<Tensor>(), std::optional<Tensor>(), options)[0];
  const Tensor z = weight.defined() ? y.mul(weight) : y;
  return bias.defined() ? z.add(bias) : z;
}

void need_floating(const char* op, const Tensor& x) {
  check<DTypeError>(x.is_floating_point(), op, ": needs a floating dtype, got x ", x.spec(),
                    "; convert with x.to(taper::float32) first");
}

}  // namespace

Tensor layer_norm(const Tensor& x, IntSpan shape, const Tensor& weight, const Tensor& bias, double eps) {
  need_floating("layer_norm", x);
  return normalized("layer_norm", x, shape, weight, bias, eps, true);
}
Tensor rms_norm(const Tensor& x, IntSpan shape, const Tensor& weight, std::optional<double> eps) {
  need_floating("rms_norm", x);
  constexpr double kFloat = std::numeric_limits<float>::epsilon(), kDouble = std::numeric_limits<double>::epsilon();
  return normalized("rms_norm", x, shape, weight, {}, eps.value_or(x.dtype() == float64 ? kDouble : kFloat), false);
}

}  // namespace taper
