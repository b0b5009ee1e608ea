#include <taper/operator.h>
#include <taper/ops/pointwise.h>
#include <taper/promotion.h>

#include "elementwise.h"
#include "op_names.h"
#include "write_out.h"

namespace taper {
namespace {

// ---- What a call returns -------------------------------------------------------------------------------------------
template <OpName op>
TensorSpec infer_same(const Tensor& self) {
  return elementwise_spec(op.text, self.dtype(), self);
}
template <OpName op>
TensorSpec infer_floating(const Tensor& self) {
  return elementwise_spec(op.text, floating_of(self.dtype()), self);
}
template <OpName op>
TensorSpec infer_number(const Tensor& self) {
  check<DTypeError>(self.dtype() != bool_, op.text, ": is not defined for bool, got ", self,
                    "; convert with x.to(taper::int64) first");
  return infer_same<op>(self);
}
TensorSpec infer_neg(const Tensor& self) {
  check<DTypeError>(self.dtype() != bool_, "neg: is not defined for bool, got ", self,
                    "; logical_not() inverts a mask");
  return infer_same<"neg">(self);
}
TensorSpec infer_square(const Tensor& self) {
  return elementwise_spec("square", self.dtype() == bool_ ? int64 : self.dtype(), self);
}

template <OpName op>
TensorSpec infer_promoted(const Tensor& self, const Tensor& other) {
  return elementwise_spec(op.text, result_type(self, other), self, other);
}
template <OpName op>
TensorSpec infer_promoted_scalar(const Tensor& self, const Scalar& other) {
  return elementwise_spec(op.text, result_type(self, other), self);
}

void check_alpha(const char* op, DType result, Scalar alpha) {
  check<DTypeError>(!alpha.is_floating() || is_floating(result), op, ": alpha is ", alpha, " but the result is ",
                    result, "; an integer result needs an integer alpha");
  check<DTypeError>(alpha.dtype() != bool_ || result == bool_, op, ": alpha is a bool but the result is ", result,
                    "; give a number");
}
void check_no_bool(DType a, DType b) {
  check<DTypeError>(a != bool_ && b != bool_, "sub: is not defined for bool, got ", a, " and ", b,
                    "; logical_xor() and logical_not() work on masks, x.to(taper::int64) converts one");
}

TensorSpec infer_add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  const DType result = result_type(self, other);
  check_alpha("add", result, alpha);
  return elementwise_spec("add", result, self, other);
}
TensorSpec infer_add_scalar(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  const DType result = result_type(self, other);
  check_alpha("add", result, alpha);
  return elementwise_spec("add", result, self);
}
TensorSpec infer_sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  const DType result = result_type(self, other);
  check_no_bool(self.dtype(), other.dtype());
  check_alpha("sub", result, alpha);
  return elementwise_spec("sub", result, self, other);
}
TensorSpec infer_sub_scalar(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  const DType result = result_type(self, other);
  check_no_bool(self.dtype(), other.dtype());
  check_alpha("sub", result, alpha);
  return elementwise_spec("sub", result, self);
}
TensorSpec infer_div(const Tensor& self, const Tensor& other) {
  return elementwise_spec("div", floating_of(result_type(self, other)), self, other);
}
TensorSpec infer_div_scalar(const Tensor& self, const Scalar& other) {
  return elementwise_spec("div", floating_of(result_type(self, other)), self);
}
TensorSpec infer_pow_scalar(const Tensor& self, const Scalar& exponent) {
  const DType result = result_type(self, exponent);
  check<ValueError>(is_floating(result) || exponent.to<std::int64_t>() >= 0, "pow: an integer to the negative power ",
                    exponent, " is not an integer; convert ", self, " with x.to(taper::float32) first");
  return elementwise_spec("pow", result, self);
}

TensorSpec infer_where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  check<DTypeError>(condition.dtype() == bool_ || condition.dtype() == uint8, "where: condition must be bool, got ",
                    condition, "; compare first, as in where(x != 0, a, b)");
  return elementwise_spec("where", result_type(self, other), condition, self, other);
}

DType clamped_type(const char* op, DType result, const Tensor& self) {
  check<DTypeError>(result != bool_, op, ": is not defined for bool, got ", self,
                    "; convert with x.to(taper::int64) first");
  return result;
}
template <OpName op>
TensorSpec infer_clamp_one(const Tensor& self, const Scalar& bound) {
  return elementwise_spec(op.text, clamped_type(op.text, result_type(self, bound), self), self);
}
TensorSpec infer_clamp(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  check<ValueError>(min || max, "clamp: needs min, max or both, got neither");
  DType result = self.dtype();
  if (min) result = promote_types(result, result_type(self, *min));
  if (max) result = promote_types(result, result_type(self, *max));
  return elementwise_spec("clamp", clamped_type("clamp", result, self), self);
}
TensorSpec infer_clamp_tensor(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  const bool has_min = min && min->defined(), has_max = max && max->defined();
  check<ValueError>(has_min || has_max, "clamp: needs min, max or both, got neither");
  TensorList operands{self};
  if (has_min) operands.push_back(*min);
  if (has_max) operands.push_back(*max);
  const DType result = clamped_type("clamp", result_type(operands), self);
  if (has_min && has_max) return elementwise_spec("clamp", result, self, *min, *max);
  return elementwise_spec("clamp", result, self, operands[1]);
}

template <OpName op>
TensorSpec infer_grad(const Tensor& grad, const Tensor& result) {
  check<DTypeError>(grad.is_floating_point(), op.text, ": needs a floating dtype, got grad ", grad.spec());
  return elementwise_spec(op.text, grad.dtype(), grad, result);
}
TensorSpec infer_clamp_grad(const Tensor& grad, const Tensor& self, const std::optional<Scalar>&,
                            const std::optional<Scalar>&) {
  check<DTypeError>(grad.is_floating_point(), "clamp_grad: needs a floating dtype, got grad ", grad.spec());
  return elementwise_spec("clamp_grad", grad.dtype(), grad, self);
}

}  // namespace

namespace ops {
// clang-format off
constinit StructuredOp<Tensor(Tensor)> abs{"abs", "self", infer_number<"abs">, "abs_"};
constinit StructuredOp<Tensor(Tensor)> neg{"neg", "self", infer_neg, "neg_"};
constinit StructuredOp<Tensor(Tensor)> exp{"exp", "self", infer_floating<"exp">, "exp_"};
constinit StructuredOp<Tensor(Tensor)> log{"log", "self", infer_floating<"log">, "log_"};
constinit StructuredOp<Tensor(Tensor)> sqrt{"sqrt", "self", infer_floating<"sqrt">, "sqrt_"};
constinit StructuredOp<Tensor(Tensor)> rsqrt{"rsqrt", "self", infer_floating<"rsqrt">, "rsqrt_"};
constinit StructuredOp<Tensor(Tensor)> square{"square", "self", infer_square, "square_"};
constinit StructuredOp<Tensor(Tensor)> reciprocal{"reciprocal", "self", infer_floating<"reciprocal">, "reciprocal_"};
constinit StructuredOp<Tensor(Tensor)> tanh{"tanh", "self", infer_floating<"tanh">, "tanh_"};
constinit StructuredOp<Tensor(Tensor)> sigmoid{"sigmoid", "self", infer_floating<"sigmoid">, "sigmoid_"};
constinit StructuredOp<Tensor(Tensor)> relu{"relu", "self", infer_number<"relu">, "relu_"};
constinit StructuredOp<Tensor(Tensor)> sin{"sin", "self", infer_floating<"sin">, "sin_"};
constinit StructuredOp<Tensor(Tensor)> cos{"cos", "self", infer_floating<"cos">, "cos_"};
constinit StructuredOp<Tensor(Tensor)> sign{"sign", "self", infer_same<"sign">, "sign_"};

constinit StructuredOp<Tensor(Tensor, Tensor, Scalar)> add{"add", "self, other, alpha", infer_add, "add_"};
constinit StructuredOp<Tensor(Tensor, Tensor, Scalar)> sub{"sub", "self, other, alpha", infer_sub, "sub_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> mul{"mul", "self, other", infer_promoted<"mul">, "mul_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> div{"div", "self, other", infer_div, "div_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> pow{"pow", "self, exponent", infer_promoted<"pow">, "pow_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> maximum{"maximum", "self, other", infer_promoted<"maximum">};
constinit StructuredOp<Tensor(Tensor, Tensor)> minimum{"minimum", "self, other", infer_promoted<"minimum">};
constinit StructuredOp<Tensor(Tensor, Scalar, Scalar)> add_scalar{"add", "self, other, alpha", infer_add_scalar, "add_"};
constinit StructuredOp<Tensor(Tensor, Scalar, Scalar)> sub_scalar{"sub", "self, other, alpha", infer_sub_scalar, "sub_"};
constinit StructuredOp<Tensor(Tensor, Scalar)> mul_scalar{"mul", "self, other", infer_promoted_scalar<"mul">, "mul_"};
constinit StructuredOp<Tensor(Tensor, Scalar)> div_scalar{"div", "self, other", infer_div_scalar, "div_"};
constinit StructuredOp<Tensor(Tensor, Scalar)> pow_scalar{"pow", "self, exponent", infer_pow_scalar, "pow_"};
constinit StructuredOp<Tensor(Tensor, Scalar)> clamp_min{"clamp_min", "self, min", infer_clamp_one<"clamp_min">, "clamp_min_"};
constinit StructuredOp<Tensor(Tensor, Scalar)> clamp_max{"clamp_max", "self, max", infer_clamp_one<"clamp_max">, "clamp_max_"};
constinit StructuredOp<Tensor(Tensor, std::optional<Scalar>, std::optional<Scalar>)> clamp{"clamp", "self, min, max", infer_clamp, "clamp_"};
constinit StructuredOp<Tensor(Tensor, std::optional<Tensor>, std::optional<Tensor>)> clamp_tensor{"clamp", "self, min, max", infer_clamp_tensor, "clamp_"};
constinit StructuredOp<Tensor(Tensor, Tensor, Tensor)> where{"where", "condition, self, other", infer_where};

constinit StructuredOp<Tensor(Tensor, Tensor)> relu_grad{"relu_grad", "grad, result", infer_grad<"relu_grad">};
constinit StructuredOp<Tensor(Tensor, Tensor)> tanh_grad{"tanh_grad", "grad, result", infer_grad<"tanh_grad">};
constinit StructuredOp<Tensor(Tensor, Tensor)> sigmoid_grad{"sigmoid_grad", "grad, result", infer_grad<"sigmoid_grad">};
constinit StructuredOp<Tensor(Tensor, Tensor, std::optional<Scalar>, std::optional<Scalar>)> clamp_grad{"clamp_grad", "grad, self, min, max", infer_clamp_grad};
// clang-format on
}  // namespace ops

// ---- Functions of one ----------------------------------------------------------------------------------------------
// clang-format off
Tensor abs(const Tensor& self) { return ops::abs(self); }
Tensor& abs_out(Tensor& out, const Tensor& self) { return ops::abs.out(out, self); }
Tensor Tensor::abs() const { return ops::abs(*this); }
Tensor& Tensor::abs_() { return ops::abs.inplace(*this, *this); }
Tensor neg(const Tensor& self) { return ops::neg(self); }
Tensor& neg_out(Tensor& out, const Tensor& self) { return ops::neg.out(out, self); }
Tensor Tensor::neg() const { return ops::neg(*this); }
Tensor& Tensor::neg_() { return ops::neg.inplace(*this, *this); }
Tensor exp(const Tensor& self) { return ops::exp(self); }
Tensor& exp_out(Tensor& out, const Tensor& self) { return ops::exp.out(out, self); }
Tensor Tensor::exp() const { return ops::exp(*this); }
Tensor& Tensor::exp_() { return ops::exp.inplace(*this, *this); }
Tensor log(const Tensor& self) { return ops::log(self); }
Tensor& log_out(Tensor& out, const Tensor& self) { return ops::log.out(out, self); }
Tensor Tensor::log() const { return ops::log(*this); }
Tensor& Tensor::log_() { return ops::log.inplace(*this, *this); }
Tensor sqrt(const Tensor& self) { return ops::sqrt(self); }
Tensor& sqrt_out(Tensor& out, const Tensor& self) { return ops::sqrt.out(out, self); }
Tensor Tensor::sqrt() const { return ops::sqrt(*this); }
Tensor& Tensor::sqrt_() { return ops::sqrt.inplace(*this, *this); }
Tensor rsqrt(const Tensor& self) { return ops::rsqrt(self); }
Tensor& rsqrt_out(Tensor& out, const Tensor& self) { return ops::rsqrt.out(out, self); }
Tensor Tensor::rsqrt() const { return ops::rsqrt(*this); }
Tensor& Tensor::rsqrt_() { return ops::rsqrt.inplace(*this, *this); }
Tensor square(const Tensor& self) { return ops::square(self); }
Tensor& square_out(Tensor& out, const Tensor& self) { return ops::square.out(out, self); }
Tensor Tensor::square() const { return ops::square(*this); }
Tensor& Tensor::square_() { return ops::square.inplace(*this, *this); }
Tensor reciprocal(const Tensor& self) { return ops::reciprocal(self); }
Tensor& reciprocal_out(Tensor& out, const Tensor& self) { return ops::reciprocal.out(out, self); }
Tensor Tensor::reciprocal() const { return ops::reciprocal(*this); }
Tensor& Tensor::reciprocal_() { return ops::reciprocal.inplace(*this, *this); }
Tensor tanh(const Tensor& self) { return ops::tanh(self); }
Tensor& tanh_out(Tensor& out, const Tensor& self) { return ops::tanh.out(out, self); }
Tensor Tensor::tanh() const { return ops::tanh(*this); }
Tensor& Tensor::tanh_() { return ops::tanh.inplace(*this, *this); }
Tensor sigmoid(const Tensor& self) { return ops::sigmoid(self); }
Tensor& sigmoid_out(Tensor& out, const Tensor& self) { return ops::sigmoid.out(out, self); }
Tensor Tensor::sigmoid() const { return ops::sigmoid(*this); }
Tensor& Tensor::sigmoid_() { return ops::sigmoid.inplace(*this, *this); }
Tensor relu(const Tensor& self) { return ops::relu(self); }
Tensor& relu_out(Tensor& out, const Tensor& self) { return ops::relu.out(out, self); }
Tensor Tensor::relu() const { return ops::relu(*this); }
Tensor& Tensor::relu_() { return ops::relu.inplace(*this, *this); }
Tensor sin(const Tensor& self) { return ops::sin(self); }
Tensor& sin_out(Tensor& out, const Tensor& self) { return ops::sin.out(out, self); }
Tensor Tensor::sin() const { return ops::sin(*this); }
Tensor& Tensor::sin_() { return ops::sin.inplace(*this, *this); }
Tensor cos(const Tensor& self) { return ops::cos(self); }
Tensor& cos_out(Tensor& out, const Tensor& self) { return ops::cos.out(out, self); }
Tensor Tensor::cos() const { return ops::cos(*this); }
Tensor& Tensor::cos_() { return ops::cos.inplace(*this, *this); }
Tensor sign(const Tensor& self) { return ops::sign(self); }
Tensor& sign_out(Tensor& out, const Tensor& self) { return ops::sign.out(out, self); }
Tensor Tensor::sign() const { return ops::sign(*this); }
Tensor& Tensor::sign_() { return ops::sign.inplace(*this, *this); }
// clang-format on

// ---- Arithmetic ----------------------------------------------------------------------------------------------------
Tensor add(const Tensor& self, const Tensor& other, Scalar alpha) { return ops::add(self, other, alpha); }
Tensor add(const Tensor& self, Scalar other, Scalar alpha) { return ops::add_scalar(self, other, alpha); }
Tensor& add_out(Tensor& out, const Tensor& self, const Tensor& other, Scalar alpha) {
  return ops::add.out(out, self, other, alpha);
}
Tensor Tensor::add(const Tensor& other, Scalar alpha) const { return ops::add(*this, other, alpha); }
Tensor Tensor::add(Scalar other, Scalar alpha) const { return ops::add_scalar(*this, other, alpha); }
Tensor& Tensor::add_(const Tensor& other, Scalar alpha) { return ops::add.inplace(*this, *this, other, alpha); }
Tensor& Tensor::add_(Scalar other, Scalar alpha) { return ops::add_scalar.inplace(*this, *this, other, alpha); }

Tensor sub(const Tensor& self, const Tensor& other, Scalar alpha) { return ops::sub(self, other, alpha); }
Tensor sub(const Tensor& self, Scalar other, Scalar alpha) { return ops::sub_scalar(self, other, alpha); }
Tensor& sub_out(Tensor& out, const Tensor& self, const Tensor& other, Scalar alpha) {
  return ops::sub.out(out, self, other, alpha);
}
Tensor Tensor::sub(const Tensor& other, Scalar alpha) const { return ops::sub(*this, other, alpha); }
Tensor Tensor::sub(Scalar other, Scalar alpha) const { return ops::sub_scalar(*this, other, alpha); }
Tensor& Tensor::sub_(const Tensor& other, Scalar alpha) { return ops::sub.inplace(*this, *this, other, alpha); }
Tensor& Tensor::sub_(Scalar other, Scalar alpha) { return ops::sub_scalar.inplace(*this, *this, other, alpha); }

Tensor rsub(const Tensor& self, const Tensor& other, Scalar alpha) { return ops::sub(other, self, alpha); }
Tensor& rsub_out(Tensor& out, const Tensor& self, const Tensor& other, Scalar alpha) {
  return write_out("rsub", out, rsub(self, other, alpha));
}
Tensor rsub(const Tensor& self, Scalar other, Scalar alpha) { return ops::sub(wrapped_number(other), self, alpha); }
Tensor& rsub_out(Tensor& out, const Tensor& self, Scalar other, Scalar alpha) {
  return write_out("rsub", out, rsub(self, other, alpha));
}

Tensor mul(const Tensor& self, const Tensor& other) { return ops::mul(self, other); }
Tensor mul(const Tensor& self, Scalar other) { return ops::mul_scalar(self, other); }
Tensor& mul_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::mul.out(out, self, other); }
Tensor Tensor::mul(const Tensor& other) const { return ops::mul(*this, other); }
Tensor Tensor::mul(Scalar other) const { return ops::mul_scalar(*this, other); }
Tensor& Tensor::mul_(const Tensor& other) { return ops::mul.inplace(*this, *this, other); }
Tensor& Tensor::mul_(Scalar other) { return ops::mul_scalar.inplace(*this, *this, other); }

Tensor div(const Tensor& self, const Tensor& other) { return ops::div(self, other); }
Tensor div(const Tensor& self, Scalar other) { return ops::div_scalar(self, other); }
Tensor& div_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::div.out(out, self, other); }
Tensor Tensor::div(const Tensor& other) const { return ops::div(*this, other); }
Tensor Tensor::div(Scalar other) const { return ops::div_scalar(*this, other); }
Tensor& Tensor::div_(const Tensor& other) { return ops::div.inplace(*this, *this, other); }
Tensor& Tensor::div_(Scalar other) { return ops::div_scalar.inplace(*this, *this, other); }

Tensor pow(const Tensor& self, const Tensor& exponent) { return ops::pow(self, exponent); }
Tensor pow(const Tensor& self, Scalar exponent) { return ops::pow_scalar(self, exponent); }
Tensor& pow_out(Tensor& out, const Tensor& self, const Tensor& exponent) { return ops::pow.out(out, self, exponent); }
Tensor Tensor::pow(const Tensor& exponent) const { return ops::pow(*this, exponent); }
Tensor Tensor::pow(Scalar exponent) const { return ops::pow_scalar(*this, exponent); }
Tensor& Tensor::pow_(const Tensor& exponent) { return ops::pow.inplace(*this, *this, exponent); }
Tensor& Tensor::pow_(Scalar exponent) { return ops::pow_scalar.inplace(*this, *this, exponent); }
Tensor pow(Scalar self, const Tensor& exponent) { return ops::pow(wrapped_number(self), exponent); }
Tensor& pow_out(Tensor& out, const Tensor& self, Scalar exponent) { return ops::pow_scalar.out(out, self, exponent); }

Tensor maximum(const Tensor& self, const Tensor& other) { return ops::maximum(self, other); }
Tensor& maximum_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::maximum.out(out, self, other); }
Tensor Tensor::maximum(const Tensor& other) const { return ops::maximum(*this, other); }

Tensor minimum(const Tensor& self, const Tensor& other) { return ops::minimum(self, other); }
Tensor& minimum_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::minimum.out(out, self, other); }
Tensor Tensor::minimum(const Tensor& other) const { return ops::minimum(*this, other); }

// ---- Choice --------------------------------------------------------------------------------------------------------
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  return ops::where(condition, self, other);
}
Tensor where(const Tensor& condition, const Tensor& self, Scalar other) {
  return ops::where(condition, self, wrapped_number(other));
}
Tensor where(const Tensor& condition, Scalar self, const Tensor& other) {
  return ops::where(condition, wrapped_number(self), other);
}
Tensor where(const Tensor& condition, Scalar self, Scalar other) {
  return ops::where(condition, wrapped_number(self), wrapped_number(other));
}
Tensor& where_out(Tensor& out, const Tensor& condition, const Tensor& self, const Tensor& other) {
  return ops::where.out(out, condition, self, other);
}

Tensor clamp(const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max) {
  return ops::clamp(self, min, max);
}
Tensor& clamp_out(Tensor& out, const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max) {
  return ops::clamp.out(out, self, min, max);
}
Tensor clamp(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  return ops::clamp_tensor(self, min, max);
}
Tensor clamp_min(const Tensor& self, Scalar min) { return ops::clamp_min(self, min); }
Tensor& clamp_min_out(Tensor& out, const Tensor& self, Scalar min) { return ops::clamp_min.out(out, self, min); }
Tensor clamp_min(const Tensor& self, const Tensor& min) { return ops::clamp_tensor(self, min, {}); }
Tensor& clamp_min_out(Tensor& out, const Tensor& self, const Tensor& min) {
  return ops::clamp_tensor.out(out, self, min, std::nullopt);
}
Tensor clamp_max(const Tensor& self, Scalar max) { return ops::clamp_max(self, max); }
Tensor& clamp_max_out(Tensor& out, const Tensor& self, Scalar max) { return ops::clamp_max.out(out, self, max); }
Tensor clamp_max(const Tensor& self, const Tensor& max) { return ops::clamp_tensor(self, {}, max); }
Tensor& clamp_max_out(Tensor& out, const Tensor& self, const Tensor& max) {
  return ops::clamp_tensor.out(out, self, std::nullopt, max);
}

Tensor Tensor::clamp(std::optional<Scalar> min, std::optional<Scalar> max) const { return ops::clamp(*this, min, max); }
Tensor& Tensor::clamp_(std::optional<Scalar> min, std::optional<Scalar> max) {
  return ops::clamp.inplace(*this, *this, min, max);
}
Tensor Tensor::clamp(const std::optional<Tensor>& min, const std::optional<Tensor>& max) const {
  return ops::clamp_tensor(*this, min, max);
}
Tensor& Tensor::clamp_(const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  return ops::clamp_tensor.inplace(*this, *this, min, max);
}
Tensor Tensor::clamp_min(const Tensor& min) const { return ops::clamp_tensor(*this, min, {}); }
Tensor& Tensor::clamp_min_(const Tensor& min) { return ops::clamp_tensor.inplace(*this, *this, min, {}); }
Tensor Tensor::clamp_max(const Tensor& max) const { return ops::clamp_tensor(*this, {}, max); }
Tensor& Tensor::clamp_max_(const Tensor& max) { return ops::clamp_tensor.inplace(*this, *this, {}, max); }
Tensor Tensor::clamp_min(Scalar min) const { return ops::clamp_min(*this, min); }
Tensor& Tensor::clamp_min_(Scalar min) { return ops::clamp_min.inplace(*this, *this, min); }
Tensor Tensor::clamp_max(Scalar max) const { return ops::clamp_max(*this, max); }
Tensor& Tensor::clamp_max_(Scalar max) { return ops::clamp_max.inplace(*this, *this, max); }

Tensor Tensor::where(const Tensor& condition, const Tensor& other) const {
  return taper::where(condition, *this, other);
}
Tensor Tensor::where(const Tensor& condition, Scalar other) const { return taper::where(condition, *this, other); }

}  // namespace taper
