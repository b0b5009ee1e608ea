#pragma once
// Elementwise operators. Operands broadcast: shapes are aligned at the right, sizes are equal, 1 or missing. Operands
// of different dtypes are computed in result_type() of the two (<taper/promotion.h>). A form that ends in _ writes into
// self, whose dtype must be able to hold the result; a form that ends in _out writes into `out`, which is resized if it
// has no elements, and is not differentiable. Errors: ShapeError if shapes do not broadcast, or do not broadcast to the
// tensor written to; DTypeError where a dtype is not supported.
#include <taper/ops/compare.h>
#include <taper/ops/copy.h>
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

namespace ops {
extern StructuredOp<Tensor(Tensor)> abs, neg, exp, log, sqrt, rsqrt, square, reciprocal, tanh, sigmoid, relu, sin, cos,
    sign;
extern StructuredOp<Tensor(Tensor, Tensor, Scalar)> add, sub;
extern StructuredOp<Tensor(Tensor, Tensor)> mul, div, pow, maximum, minimum;
// With a number as the second operand: nothing to allocate, save or send a gradient to.
extern StructuredOp<Tensor(Tensor, Scalar, Scalar)> add_scalar, sub_scalar;
extern StructuredOp<Tensor(Tensor, Scalar)> mul_scalar, div_scalar, pow_scalar, clamp_min, clamp_max;
extern StructuredOp<Tensor(Tensor, std::optional<Scalar>, std::optional<Scalar>)> clamp;
extern StructuredOp<Tensor(Tensor, std::optional<Tensor>, std::optional<Tensor>)> clamp_tensor;
extern StructuredOp<Tensor(Tensor, Tensor, Tensor)> where;
// The gradient of a call in one pass: (grad, result), and (grad, self, min, max) for clamp.
extern StructuredOp<Tensor(Tensor, Tensor)> relu_grad, tanh_grad, sigmoid_grad;
extern StructuredOp<Tensor(Tensor, Tensor, std::optional<Scalar>, std::optional<Scalar>)> clamp_grad;
}  // namespace ops

// ---- Arithmetic ----------------------------------------------------------------------------------------------------
/// self + alpha * other. For bool, "or". alpha must be an integer if the result is one.
Tensor add(const Tensor& self, const Tensor& other, Scalar alpha = 1);
Tensor add(const Tensor& self, Scalar other, Scalar alpha = 1);
Tensor& add_out(Tensor& out, const Tensor& self, const Tensor& other, Scalar alpha = 1);
/// self - alpha * other. Not for bool: use logical_xor() or logical_not().
Tensor sub(const Tensor& self, const Tensor& other, Scalar alpha = 1);
Tensor sub(const Tensor& self, Scalar other, Scalar alpha = 1);
Tensor& sub_out(Tensor& out, const Tensor& self, const Tensor& other, Scalar alpha = 1);
/// other - alpha * self.
Tensor rsub(const Tensor& self, const Tensor& other, Scalar alpha = 1);
Tensor& rsub_out(Tensor& out, const Tensor& self, const Tensor& other, Scalar alpha = 1);
Tensor rsub(const Tensor& self, Scalar other, Scalar alpha = 1);
Tensor& rsub_out(Tensor& out, const Tensor& self, Scalar other, Scalar alpha = 1);
/// self * other. For bool, "and".
Tensor mul(const Tensor& self, const Tensor& other);
Tensor mul(const Tensor& self, Scalar other);
Tensor& mul_out(Tensor& out, const Tensor& self, const Tensor& other);
/// self / other; float32 if both are integers or bool.
Tensor div(const Tensor& self, const Tensor& other);
Tensor div(const Tensor& self, Scalar other);
Tensor& div_out(Tensor& out, const Tensor& self, const Tensor& other);
/// self to the power of exponent. Integers stay integers: a negative integer exponent throws ValueError if it is a
/// number, and gives 0 (1 and -1 for bases 1 and -1) if it is an element. The gradient to the exponent is 0 where self
/// is 0 and exponent >= 0; that to self is 0 where exponent is 0.
Tensor pow(const Tensor& self, const Tensor& exponent);
Tensor pow(const Tensor& self, Scalar exponent);
Tensor pow(Scalar self, const Tensor& exponent);
Tensor& pow_out(Tensor& out, const Tensor& self, const Tensor& exponent);
Tensor& pow_out(Tensor& out, const Tensor& self, Scalar exponent);
/// The larger of the two; NaN if either is NaN. Where they are equal, each gets half of the gradient.
Tensor maximum(const Tensor& self, const Tensor& other);
Tensor& maximum_out(Tensor& out, const Tensor& self, const Tensor& other);
/// The smaller of the two; otherwise as maximum.
Tensor minimum(const Tensor& self, const Tensor& other);
Tensor& minimum_out(Tensor& out, const Tensor& self, const Tensor& other);

// ---- Choice --------------------------------------------------------------------------------------------------------
/// self where condition is true, other elsewhere. condition is bool (or uint8).
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
Tensor where(const Tensor& condition, const Tensor& self, Scalar other);
Tensor where(const Tensor& condition, Scalar self, const Tensor& other);
Tensor where(const Tensor& condition, Scalar self, Scalar other);
/// where(condition, f(x), other) whose gradient is not NaN where f is not defined: a gradient of 0 times an infinite
/// slope, as that of sqrt below 0, would make it so. f sees `harmless` in place of the elements it is not for:
/// safe_where(x > 0, x, [](const Tensor& t) { return t.sqrt(); }, x).
template <class F>
Tensor safe_where(const Tensor& condition, const Tensor& x, F&& f, const Tensor& other, Scalar harmless = 1) {
  return where(condition, f(where(condition, x, harmless)), other);
}
Tensor& where_out(Tensor& out, const Tensor& condition, const Tensor& self, const Tensor& other);
/// min(max(self, low), high); at least one bound is needed. NaN stays NaN; where the bounds cross, max wins. The
/// gradient passes inside and at the bounds.
Tensor clamp(const Tensor& self, std::optional<Scalar> min = {}, std::optional<Scalar> max = {});
Tensor& clamp_out(Tensor& out, const Tensor& self, std::optional<Scalar> min = {}, std::optional<Scalar> max = {});
/// With a bound for each element, broadcast. Where a bound decides, it gets the gradient.
Tensor clamp(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max = {});
Tensor clamp_min(const Tensor& self, Scalar min);
Tensor& clamp_min_out(Tensor& out, const Tensor& self, Scalar min);
Tensor clamp_min(const Tensor& self, const Tensor& min);
Tensor& clamp_min_out(Tensor& out, const Tensor& self, const Tensor& min);
Tensor clamp_max(const Tensor& self, Scalar max);
Tensor& clamp_max_out(Tensor& out, const Tensor& self, Scalar max);
Tensor clamp_max(const Tensor& self, const Tensor& max);
Tensor& clamp_max_out(Tensor& out, const Tensor& self, const Tensor& max);

// ---- Functions of one, any number dtype ----------------------------------------------------------------------------
/// Not for bool.
Tensor abs(const Tensor& self);
/// -self. Not for bool: use logical_not().
Tensor neg(const Tensor& self);
/// self * self; int64 for bool.
Tensor square(const Tensor& self);
/// max(self, 0); NaN stays NaN; the gradient at 0 is 0. Not for bool.
Tensor relu(const Tensor& self);
/// -1, 0 or 1; 0 for NaN. The gradient is 0.
Tensor sign(const Tensor& self);

// ---- Functions of one, floating: integers and bool give float32 ----------------------------------------------------
Tensor exp(const Tensor& self);
/// The natural logarithm.
Tensor log(const Tensor& self);
Tensor sqrt(const Tensor& self);
/// 1 / sqrt(self).
Tensor rsqrt(const Tensor& self);
/// 1 / self.
Tensor reciprocal(const Tensor& self);
Tensor tanh(const Tensor& self);
/// 1 / (1 + exp(-self)).
Tensor sigmoid(const Tensor& self);
/// Radians, as cos.
Tensor sin(const Tensor& self);
Tensor cos(const Tensor& self);

Tensor& abs_out(Tensor& out, const Tensor& self);
Tensor& neg_out(Tensor& out, const Tensor& self);
Tensor& square_out(Tensor& out, const Tensor& self);
Tensor& relu_out(Tensor& out, const Tensor& self);
Tensor& sign_out(Tensor& out, const Tensor& self);
Tensor& exp_out(Tensor& out, const Tensor& self);
Tensor& log_out(Tensor& out, const Tensor& self);
Tensor& sqrt_out(Tensor& out, const Tensor& self);
Tensor& rsqrt_out(Tensor& out, const Tensor& self);
Tensor& reciprocal_out(Tensor& out, const Tensor& self);
Tensor& tanh_out(Tensor& out, const Tensor& self);
Tensor& sigmoid_out(Tensor& out, const Tensor& self);
Tensor& sin_out(Tensor& out, const Tensor& self);
Tensor& cos_out(Tensor& out, const Tensor& self);

inline Tensor& abs_(Tensor& self) { return self.abs_(); }
inline Tensor& neg_(Tensor& self) { return self.neg_(); }
inline Tensor& square_(Tensor& self) { return self.square_(); }
inline Tensor& relu_(Tensor& self) { return self.relu_(); }
inline Tensor& exp_(Tensor& self) { return self.exp_(); }
inline Tensor& log_(Tensor& self) { return self.log_(); }
inline Tensor& sqrt_(Tensor& self) { return self.sqrt_(); }
inline Tensor& rsqrt_(Tensor& self) { return self.rsqrt_(); }
inline Tensor& reciprocal_(Tensor& self) { return self.reciprocal_(); }
inline Tensor& tanh_(Tensor& self) { return self.tanh_(); }
inline Tensor& sigmoid_(Tensor& self) { return self.sigmoid_(); }
inline Tensor& sin_(Tensor& self) { return self.sin_(); }
inline Tensor& cos_(Tensor& self) { return self.cos_(); }

// ---- Operators -----------------------------------------------------------------------------------------------------
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator+(const Tensor& a, Scalar b) { return add(a, b); }
inline Tensor operator+(Scalar a, const Tensor& b) { return add(b, a); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator-(const Tensor& a, Scalar b) { return sub(a, b); }
inline Tensor operator-(Scalar a, const Tensor& b) { return rsub(b, a); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator*(const Tensor& a, Scalar b) { return mul(a, b); }
inline Tensor operator*(Scalar a, const Tensor& b) { return mul(b, a); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator/(const Tensor& a, Scalar b) { return div(a, b); }
inline Tensor operator/(Scalar a, const Tensor& b) { return mul(reciprocal(b), a); }

}  // namespace taper
