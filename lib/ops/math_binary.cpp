#include <taper/operator.h>
#include <taper/ops/compare.h>
#include <taper/ops/math_binary.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/promotion.h>

#include "elementwise.h"
#include "op_names.h"
#include "write_out.h"

namespace taper {
namespace {

template <OpName op>
TensorSpec infer_promoted(const Tensor& self, const Tensor& other) {
  return elementwise_spec(op.text, result_type(self, other), self, other);
}
template <OpName op>
TensorSpec infer_floating(const Tensor& self, const Tensor& other) {
  return elementwise_spec(op.text, floating_of(result_type(self, other)), self, other);
}
template <OpName op>
TensorSpec infer_only_floating(const Tensor& self, const Tensor& other) {
  const DType d = result_type(self, other);
  check<DTypeError>(is_floating(d), op.text, ": needs a floating dtype, got ", self.dtype(), " and ", other.dtype(),
                    "; convert with x.to(taper::float32) first");
  return elementwise_spec(op.text, d, self, other);
}
template <OpName op>
TensorSpec infer_division(const Tensor& self, const Tensor& other) {
  const DType d = result_type(self, other);
  check<DTypeError>(d != bool_, op.text, ": is not defined for bool, got ", self.dtype(), " and ", other.dtype(),
                    "; convert with x.to(taper::int64) first");
  TensorSpec spec = elementwise_spec(op.text, d, self, other);
  if (is_floating(d) || other.device().is_meta() || spec.geometry.numel() == 0) return spec;
  check<ValueError>(other.ne(0).all().item<bool>(), op.text, ": integer division by zero: other ", other,
                    " has an element that is 0; floating dtypes give inf or NaN instead");
  return spec;
}

}  // namespace

namespace ops {
// clang-format off
constinit StructuredOp<Tensor(Tensor, Tensor)> remainder{"remainder", "self, other", infer_division<"remainder">, "remainder_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> fmod{"fmod", "self, other", infer_division<"fmod">, "fmod_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> floor_divide{"floor_divide", "self, other", infer_division<"floor_divide">, "floor_divide_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> xlogy{"xlogy", "self, other", infer_floating<"xlogy">, "xlogy_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> copysign{"copysign", "self, other", infer_floating<"copysign">, "copysign_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> atan2{"atan2", "self, other", infer_floating<"atan2">, "atan2_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> hypot{"hypot", "self, other", infer_only_floating<"hypot">, "hypot_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> fmax{"fmax", "self, other", infer_promoted<"fmax">};
constinit StructuredOp<Tensor(Tensor, Tensor)> fmin{"fmin", "self, other", infer_promoted<"fmin">};
constinit StructuredOp<Tensor(Tensor, Tensor)> logaddexp{"logaddexp", "self, other", infer_only_floating<"logaddexp">};
constinit StructuredOp<Tensor(Tensor, Tensor)> logaddexp2{"logaddexp2", "self, other", infer_only_floating<"logaddexp2">};
constinit StructuredOp<Tensor(Tensor, Tensor)> trunc_divide{"div", "self, other", infer_division<"div">, "div_"};
// clang-format on
}  // namespace ops

// clang-format off
Tensor remainder(const Tensor& self, const Tensor& other) { return ops::remainder(self, other); }
Tensor remainder(const Tensor& self, Scalar other) { return ops::remainder(self, wrapped_number(other)); }
Tensor& remainder_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::remainder.out(out, self, other); }
Tensor Tensor::remainder(const Tensor& other) const { return ops::remainder(*this, other); }
Tensor Tensor::remainder(Scalar other) const { return ops::remainder(*this, wrapped_number(other)); }
Tensor& Tensor::remainder_(const Tensor& other) { return ops::remainder.inplace(*this, *this, other); }
Tensor& Tensor::remainder_(Scalar other) { return ops::remainder.inplace(*this, *this, wrapped_number(other)); }
Tensor fmod(const Tensor& self, const Tensor& other) { return ops::fmod(self, other); }
Tensor fmod(const Tensor& self, Scalar other) { return ops::fmod(self, wrapped_number(other)); }
Tensor& fmod_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::fmod.out(out, self, other); }
Tensor Tensor::fmod(const Tensor& other) const { return ops::fmod(*this, other); }
Tensor Tensor::fmod(Scalar other) const { return ops::fmod(*this, wrapped_number(other)); }
Tensor& Tensor::fmod_(const Tensor& other) { return ops::fmod.inplace(*this, *this, other); }
Tensor& Tensor::fmod_(Scalar other) { return ops::fmod.inplace(*this, *this, wrapped_number(other)); }
Tensor floor_divide(const Tensor& self, const Tensor& other) { return ops::floor_divide(self, other); }
Tensor floor_divide(const Tensor& self, Scalar other) { return ops::floor_divide(self, wrapped_number(other)); }
Tensor& floor_divide_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::floor_divide.out(out, self, other); }
Tensor Tensor::floor_divide(const Tensor& other) const { return ops::floor_divide(*this, other); }
Tensor Tensor::floor_divide(Scalar other) const { return ops::floor_divide(*this, wrapped_number(other)); }
Tensor& Tensor::floor_divide_(const Tensor& other) { return ops::floor_divide.inplace(*this, *this, other); }
Tensor& Tensor::floor_divide_(Scalar other) { return ops::floor_divide.inplace(*this, *this, wrapped_number(other)); }
Tensor xlogy(const Tensor& self, const Tensor& other) { return ops::xlogy(self, other); }
Tensor xlogy(const Tensor& self, Scalar other) { return ops::xlogy(self, wrapped_number(other)); }
Tensor& xlogy_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::xlogy.out(out, self, other); }
Tensor Tensor::xlogy(const Tensor& other) const { return ops::xlogy(*this, other); }
Tensor Tensor::xlogy(Scalar other) const { return ops::xlogy(*this, wrapped_number(other)); }
Tensor& Tensor::xlogy_(const Tensor& other) { return ops::xlogy.inplace(*this, *this, other); }
Tensor& Tensor::xlogy_(Scalar other) { return ops::xlogy.inplace(*this, *this, wrapped_number(other)); }
Tensor copysign(const Tensor& self, const Tensor& other) { return ops::copysign(self, other); }
Tensor copysign(const Tensor& self, Scalar other) { return ops::copysign(self, wrapped_number(other)); }
Tensor& copysign_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::copysign.out(out, self, other); }
Tensor Tensor::copysign(const Tensor& other) const { return ops::copysign(*this, other); }
Tensor Tensor::copysign(Scalar other) const { return ops::copysign(*this, wrapped_number(other)); }
Tensor& Tensor::copysign_(const Tensor& other) { return ops::copysign.inplace(*this, *this, other); }
Tensor& Tensor::copysign_(Scalar other) { return ops::copysign.inplace(*this, *this, wrapped_number(other)); }
Tensor atan2(const Tensor& self, const Tensor& other) { return ops::atan2(self, other); }
Tensor& atan2_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::atan2.out(out, self, other); }
Tensor Tensor::atan2(const Tensor& other) const { return ops::atan2(*this, other); }
Tensor& Tensor::atan2_(const Tensor& other) { return ops::atan2.inplace(*this, *this, other); }
Tensor hypot(const Tensor& self, const Tensor& other) { return ops::hypot(self, other); }
Tensor& hypot_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::hypot.out(out, self, other); }
Tensor Tensor::hypot(const Tensor& other) const { return ops::hypot(*this, other); }
Tensor& Tensor::hypot_(const Tensor& other) { return ops::hypot.inplace(*this, *this, other); }
Tensor fmax(const Tensor& self, const Tensor& other) { return ops::fmax(self, other); }
Tensor& fmax_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::fmax.out(out, self, other); }
Tensor Tensor::fmax(const Tensor& other) const { return ops::fmax(*this, other); }
Tensor fmin(const Tensor& self, const Tensor& other) { return ops::fmin(self, other); }
Tensor& fmin_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::fmin.out(out, self, other); }
Tensor Tensor::fmin(const Tensor& other) const { return ops::fmin(*this, other); }
Tensor logaddexp(const Tensor& self, const Tensor& other) { return ops::logaddexp(self, other); }
Tensor& logaddexp_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::logaddexp.out(out, self, other); }
Tensor Tensor::logaddexp(const Tensor& other) const { return ops::logaddexp(*this, other); }
Tensor logaddexp2(const Tensor& self, const Tensor& other) { return ops::logaddexp2(self, other); }
Tensor& logaddexp2_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::logaddexp2.out(out, self, other); }
Tensor Tensor::logaddexp2(const Tensor& other) const { return ops::logaddexp2(*this, other); }
// clang-format on
Tensor xlogy(Scalar self, const Tensor& other) { return ops::xlogy(wrapped_number(self), other); }

namespace {
StructuredOp<Tensor(Tensor, Tensor)>& rounded_division(std::string_view mode) {
  check<ValueError>(mode == "trunc" || mode == "floor", "div: rounding_mode is '", mode,
                    "', expected \"trunc\" or \"floor\"; leave it out for the exact quotient");
  return mode == "trunc" ? ops::trunc_divide : ops::floor_divide;
}
}  // namespace

Tensor div(const Tensor& self, const Tensor& other, std::string_view rounding_mode) {
  return rounded_division(rounding_mode)(self, other);
}
Tensor div(const Tensor& self, Scalar other, std::string_view rounding_mode) {
  return rounded_division(rounding_mode)(self, wrapped_number(other));
}
Tensor& div_out(Tensor& out, const Tensor& self, const Tensor& other, std::string_view rounding_mode) {
  return rounded_division(rounding_mode).out(out, self, other);
}
Tensor Tensor::div(const Tensor& other, std::string_view rounding_mode) const {
  return rounded_division(rounding_mode)(*this, other);
}
Tensor Tensor::div(Scalar other, std::string_view rounding_mode) const {
  return rounded_division(rounding_mode)(*this, wrapped_number(other));
}
Tensor& Tensor::div_(const Tensor& other, std::string_view rounding_mode) {
  return rounded_division(rounding_mode).inplace(*this, *this, other);
}
Tensor& Tensor::div_(Scalar other, std::string_view rounding_mode) {
  return rounded_division(rounding_mode).inplace(*this, *this, wrapped_number(other));
}

Tensor float_power(const Tensor& self, const Tensor& exponent) { return self.to(float64).pow(exponent.to(float64)); }
Tensor float_power(const Tensor& self, Scalar exponent) { return self.to(float64).pow(exponent); }
Tensor float_power(Scalar self, const Tensor& exponent) { return taper::pow(self, exponent.to(float64)); }
Tensor& float_power_out(Tensor& out, const Tensor& self, const Tensor& exponent) {
  return write_out("float_power", out, float_power(self, exponent));
}
Tensor& float_power_out(Tensor& out, const Tensor& self, Scalar exponent) {
  return write_out("float_power", out, float_power(self, exponent));
}
Tensor ldexp(const Tensor& self, const Tensor& other) { return self.mul(taper::pow(2.0, other)); }
Tensor& ldexp_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return write_out("ldexp", out, ldexp(self, other));
}
Tensor heaviside(const Tensor& self, const Tensor& values) {
  check<DTypeError>(self.dtype() == values.dtype(), "heaviside: self is ", self, " but values are ", values,
                    "; convert one of them with to()");
  const NoGradGuard no_grad;
  return where(self.eq(0), values, self.gt(0).to(self.dtype()));
}
Tensor& heaviside_out(Tensor& out, const Tensor& self, const Tensor& values) {
  return write_out("heaviside", out, heaviside(self, values));
}

Tensor Tensor::float_power(const Tensor& exponent) const { return taper::float_power(*this, exponent); }
Tensor Tensor::float_power(Scalar exponent) const { return taper::float_power(*this, exponent); }
namespace {
Tensor& to_float_power(Tensor& self, const Tensor& power) {
  check<DTypeError>(self.dtype() == float64, "float_power_: the result is float64, which cannot be stored in the ",
                    self, " written to; use float_power() without the underscore");
  return self.copy_(power);
}
}  // namespace
// Of a copy: the gradient needs what is overwritten.
Tensor& Tensor::float_power_(const Tensor& exponent) {
  return to_float_power(*this, taper::float_power(clone(), exponent));
}
Tensor& Tensor::float_power_(Scalar exponent) { return to_float_power(*this, taper::float_power(clone(), exponent)); }
Tensor Tensor::ldexp(const Tensor& other) const { return taper::ldexp(*this, other); }
Tensor& Tensor::ldexp_(const Tensor& other) { return mul_(taper::pow(2.0, other)); }
Tensor Tensor::heaviside(const Tensor& values) const { return taper::heaviside(*this, values); }

}  // namespace taper
