#include <taper/operator.h>
#include <taper/ops/activation.h>
#include <taper/ops/fn_activation.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/softmax.h>
#include <taper/ops/view.h>

#include "elementwise.h"
#include "op_names.h"
#include "wrap_dim.h"
#include "write_out.h"

namespace taper {
namespace {

template <OpName op, class Shape = fn::ActivationShape>
TensorSpec infer_floating(const Tensor& x, const Shape&) {
  check<DTypeError>(x.is_floating_point(), op.text, ": needs a floating dtype, got x ", x.spec(),
                    "; convert it with x.to(taper::float32)");
  return elementwise_spec(op.text, x.dtype(), x);
}
template <OpName op>
TensorSpec infer_number(const Tensor& x, const fn::ActivationShape& shape) {
  check<DTypeError>(x.dtype() != bool_, op.text, ": is not defined for bool, got x ", x.spec(),
                    "; convert it with x.to(taper::int64)");
  check_fits(op.text, shape.a, x.dtype());
  check_fits(op.text, shape.b, x.dtype());
  return elementwise_spec(op.text, x.dtype(), x);
}
template <OpName op, class Shape = fn::ActivationShape>
TensorSpec infer_gradient(const Tensor& grad, const Tensor& x, const Shape&) {
  check<DTypeError>(grad.is_floating_point(), op.text, ": needs a floating dtype, got grad ", grad.spec());
  return elementwise_spec(op.text, grad.dtype(), grad, x);
}

}  // namespace

namespace ops {
// clang-format off
constinit Activation gelu{"gelu", "x", infer_floating<"gelu">, "gelu_"};
constinit Activation gelu_tanh{"gelu", "x", infer_floating<"gelu">, "gelu_"};
constinit Activation hardshrink{"hardshrink", "x", infer_floating<"hardshrink">};
constinit Activation hardsigmoid{"hardsigmoid", "x", infer_floating<"hardsigmoid">, "hardsigmoid_"};
constinit Activation hardswish{"hardswish", "x", infer_floating<"hardswish">, "hardswish_"};
constinit Activation hardtanh{"hardtanh", "x", infer_number<"hardtanh">, "hardtanh_"};
constinit Activation leaky_relu{"leaky_relu", "x", infer_floating<"leaky_relu">, "leaky_relu_"};
constinit Activation log_sigmoid{"log_sigmoid", "x", infer_floating<"log_sigmoid">};
constinit Activation mish{"mish", "x", infer_floating<"mish">, "mish_"};
constinit Activation silu{"silu", "x", infer_floating<"silu">, "silu_"};
constinit Activation softplus{"softplus", "x", infer_floating<"softplus">};
constinit Activation softshrink{"softshrink", "x", infer_floating<"softshrink">};
constinit Activation threshold{"threshold", "x", infer_number<"threshold">, "threshold_"};
constinit StructuredOp<Tensor(Tensor, fn::Elu)> elu{"elu", "x", infer_floating<"elu", fn::Elu>, "elu_"};

constinit ActivationGradient gelu_grad{"gelu_grad", "grad, x", infer_gradient<"gelu_grad">};
constinit ActivationGradient gelu_tanh_grad{"gelu_tanh_grad", "grad, x", infer_gradient<"gelu_tanh_grad">};
constinit ActivationGradient hardshrink_grad{"hardshrink_grad", "grad, x", infer_gradient<"hardshrink_grad">};
constinit ActivationGradient hardsigmoid_grad{"hardsigmoid_grad", "grad, x", infer_gradient<"hardsigmoid_grad">};
constinit ActivationGradient hardswish_grad{"hardswish_grad", "grad, x", infer_gradient<"hardswish_grad">};
constinit ActivationGradient hardtanh_grad{"hardtanh_grad", "grad, x", infer_gradient<"hardtanh_grad">};
constinit ActivationGradient leaky_relu_grad{"leaky_relu_grad", "grad, x", infer_gradient<"leaky_relu_grad">};
constinit ActivationGradient log_sigmoid_grad{"log_sigmoid_grad", "grad, x", infer_gradient<"log_sigmoid_grad">};
constinit ActivationGradient mish_grad{"mish_grad", "grad, x", infer_gradient<"mish_grad">};
constinit ActivationGradient silu_grad{"silu_grad", "grad, x", infer_gradient<"silu_grad">};
constinit ActivationGradient softplus_grad{"softplus_grad", "grad, x", infer_gradient<"softplus_grad">};
constinit ActivationGradient softshrink_grad{"softshrink_grad", "grad, x", infer_gradient<"softshrink_grad">};
constinit ActivationGradient threshold_grad{"threshold_grad", "grad, x", infer_gradient<"threshold_grad">};
constinit StructuredOp<Tensor(Tensor, Tensor, fn::Elu)> elu_grad{"elu_grad", "grad, x", infer_gradient<"elu_grad", fn::Elu>};
// clang-format on
}  // namespace ops

namespace {

fn::Elu celu_shape(double alpha) {
  check<ValueError>(alpha != 0, "celu: alpha is 0, and x is divided by it");
  return {.negative = alpha, .rate = 1 / alpha};
}
constexpr double kSeluScale = 1.0507009873554804934193349852946, kSeluAlpha = 1.6732632423543772848170429916717;
constexpr fn::Elu kSelu{.negative = kSeluAlpha * kSeluScale, .positive = kSeluScale};

ops::Activation& gelu_of(std::string_view approximate) {
  check<ValueError>(approximate == "none" || approximate == "tanh", "gelu: approximate is '", approximate,
                    "', expected 'none' or 'tanh'");
  return approximate == "none" ? ops::gelu : ops::gelu_tanh;
}
fn::ActivationShape hardtanh_shape(const char* op, Scalar min_val, Scalar max_val) {
  const double min = min_val.to<double>(), max = max_val.to<double>();
  check<ValueError>(min <= max, op, ": min_val ", min_val, " is above max_val ", max_val);
  return {min, max};
}
constexpr fn::ActivationShape kRelu6{0, 6};

}  // namespace

Tensor leaky_relu(const Tensor& x, double negative_slope) { return ops::leaky_relu(x, {negative_slope}); }
Tensor& leaky_relu_out(Tensor& out, const Tensor& x, double negative_slope) {
  return ops::leaky_relu.out(out, x, {negative_slope});
}
Tensor& leaky_relu_(Tensor& x, double negative_slope) { return ops::leaky_relu.inplace(x, x, {negative_slope}); }

Tensor prelu(const Tensor& x, const Tensor& weight) {
  check<DTypeError>(x.is_floating_point(), "prelu: needs a floating dtype, got x ", x.spec());
  if (weight.numel() == 1) return where(x > 0, x, x * weight.view(IntSpan()));
  const std::int64_t channels = x.dim() > 1 ? x.size(1) : 1;
  check<ShapeError>(weight.dim() == 1 && weight.numel() == channels, "prelu: weight ", weight.spec(),
                    " goes with neither all of x ", x.spec(), " nor its ", channels, " channels; expected [1] or [",
                    channels, "]");
  IntVec sizes(std::size_t(x.dim()), 1);
  sizes[1] = channels;
  return where(x > 0, x, x * weight.view(sizes));
}
Tensor& prelu_out(Tensor& out, const Tensor& x, const Tensor& weight) {
  return write_out("prelu", out, prelu(x, weight));
}

Tensor elu(const Tensor& x, double alpha, double scale, double input_scale) {
  return ops::elu(x, {alpha * scale, scale, input_scale});
}
Tensor& elu_out(Tensor& out, const Tensor& x, double alpha, double scale, double input_scale) {
  return ops::elu.out(out, x, {alpha * scale, scale, input_scale});
}
Tensor& elu_(Tensor& x, double alpha, double scale, double input_scale) {
  return ops::elu.inplace(x, x, {alpha * scale, scale, input_scale});
}
Tensor celu(const Tensor& x, double alpha) { return ops::elu(x, celu_shape(alpha)); }
Tensor& celu_out(Tensor& out, const Tensor& x, double alpha) { return ops::elu.out(out, x, celu_shape(alpha)); }
Tensor& celu_(Tensor& x, double alpha) { return ops::elu.inplace(x, x, celu_shape(alpha)); }
Tensor selu(const Tensor& x) { return ops::elu(x, kSelu); }
Tensor& selu_(Tensor& x) { return ops::elu.inplace(x, x, kSelu); }

Tensor gelu(const Tensor& x, std::string_view approximate) { return gelu_of(approximate)(x, {}); }
Tensor& gelu_out(Tensor& out, const Tensor& x, std::string_view approximate) {
  return gelu_of(approximate).out(out, x, {});
}
Tensor& gelu_(Tensor& x, std::string_view approximate) { return gelu_of(approximate).inplace(x, x, {}); }
Tensor silu(const Tensor& x) { return ops::silu(x, {}); }
Tensor& silu_out(Tensor& out, const Tensor& x) { return ops::silu.out(out, x, {}); }
Tensor& silu_(Tensor& x) { return ops::silu.inplace(x, x, {}); }
Tensor mish(const Tensor& x) { return ops::mish(x, {}); }
Tensor& mish_out(Tensor& out, const Tensor& x) { return ops::mish.out(out, x, {}); }
Tensor& mish_(Tensor& x) { return ops::mish.inplace(x, x, {}); }
Tensor softplus(const Tensor& x, double beta, double threshold) {
  check<ValueError>(beta != 0, "softplus: beta is 0, and the result is divided by it");
  return ops::softplus(x, {beta, threshold});
}
Tensor& softplus_out(Tensor& out, const Tensor& x, double beta, double threshold) {
  return write_out("softplus", out, softplus(x, beta, threshold));
}
Tensor softsign(const Tensor& x) { return x / (abs(x) + 1); }
Tensor log_sigmoid(const Tensor& x) { return ops::log_sigmoid(x, {}); }
Tensor& log_sigmoid_out(Tensor& out, const Tensor& x) { return ops::log_sigmoid.out(out, x, {}); }
Tensor tanhshrink(const Tensor& x) { return x - tanh(x); }
Tensor hardshrink(const Tensor& x, double lambd) { return ops::hardshrink(x, {lambd}); }
Tensor& hardshrink_out(Tensor& out, const Tensor& x, double lambd) { return ops::hardshrink.out(out, x, {lambd}); }
Tensor softshrink(const Tensor& x, double lambd) {
  check<ValueError>(lambd >= 0, "softshrink: lambd is ", lambd, ", expected 0 or more");
  return ops::softshrink(x, {lambd});
}
Tensor& softshrink_out(Tensor& out, const Tensor& x, double lambd) {
  return write_out("softshrink", out, softshrink(x, lambd));
}

Tensor hardtanh(const Tensor& x, Scalar min_val, Scalar max_val) {
  return ops::hardtanh(x, hardtanh_shape("hardtanh", min_val, max_val));
}
Tensor& hardtanh_out(Tensor& out, const Tensor& x, Scalar min_val, Scalar max_val) {
  return ops::hardtanh.out(out, x, hardtanh_shape("hardtanh", min_val, max_val));
}
Tensor& hardtanh_(Tensor& x, Scalar min_val, Scalar max_val) {
  return ops::hardtanh.inplace(x, x, hardtanh_shape("hardtanh_", min_val, max_val));
}
Tensor relu6(const Tensor& x) { return ops::hardtanh(x, kRelu6); }
Tensor& relu6_(Tensor& x) { return ops::hardtanh.inplace(x, x, kRelu6); }
Tensor hardsigmoid(const Tensor& x) { return ops::hardsigmoid(x, {}); }
Tensor& hardsigmoid_out(Tensor& out, const Tensor& x) { return ops::hardsigmoid.out(out, x, {}); }
Tensor& hardsigmoid_(Tensor& x) { return ops::hardsigmoid.inplace(x, x, {}); }
Tensor hardswish(const Tensor& x) { return ops::hardswish(x, {}); }
Tensor& hardswish_out(Tensor& out, const Tensor& x) { return ops::hardswish.out(out, x, {}); }
Tensor& hardswish_(Tensor& x) { return ops::hardswish.inplace(x, x, {}); }
Tensor threshold(const Tensor& x, Scalar threshold, Scalar value) {
  return ops::threshold(x, {threshold.to<double>(), value.to<double>()});
}
Tensor& threshold_out(Tensor& out, const Tensor& x, Scalar threshold, Scalar value) {
  return ops::threshold.out(out, x, {threshold.to<double>(), value.to<double>()});
}
Tensor& threshold_(Tensor& x, Scalar threshold, Scalar value) {
  return ops::threshold.inplace(x, x, {threshold.to<double>(), value.to<double>()});
}

Tensor glu(const Tensor& x, std::int64_t dim) {
  check<ShapeError>(x.dim() > 0, "glu: a 0-dim tensor has no halves");
  const std::int64_t d = wrap_dim("glu", dim, x), half = x.size(d) / 2;
  check<ShapeError>(x.size(d) % 2 == 0, "glu: dim ", dim, " of ", x.spec(), " has an odd size and so no halves");
  return x.narrow(d, 0, half) * sigmoid(x.narrow(d, half, half));
}
Tensor& glu_out(Tensor& out, const Tensor& x, std::int64_t dim) { return write_out("glu", out, glu(x, dim)); }
Tensor softmin(const Tensor& x, std::int64_t dim, std::optional<DType> dtype) { return softmax(neg(x), dim, dtype); }

}  // namespace taper
