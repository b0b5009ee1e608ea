#pragma once
// More elementwise functions of two tensors; what <taper/ops/pointwise.h> says holds for them too.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

namespace ops {
extern StructuredOp<Tensor(Tensor, Tensor)> remainder, fmod, floor_divide, trunc_divide, fmax, fmin, copysign, atan2,
    hypot, xlogy, logaddexp, logaddexp2;
}  // namespace ops

// ---- Division with a remainder: not for bool. An integer divisor of 0 throws ValueError before anything is written --

/// self - other * floor(self / other), which has the sign of other: remainder(-5, 3) is 1. The gradient to other is
/// -floor(self / other).
Tensor remainder(const Tensor& self, const Tensor& other);
Tensor remainder(const Tensor& self, Scalar other);
Tensor& remainder_out(Tensor& out, const Tensor& self, const Tensor& other);
/// self - other * trunc(self / other), which has the sign of self: fmod(-5, 3) is -2.
Tensor fmod(const Tensor& self, const Tensor& other);
Tensor fmod(const Tensor& self, Scalar other);
Tensor& fmod_out(Tensor& out, const Tensor& self, const Tensor& other);
/// floor(self / other); the gradient is 0.
Tensor floor_divide(const Tensor& self, const Tensor& other);
Tensor floor_divide(const Tensor& self, Scalar other);
Tensor& floor_divide_out(Tensor& out, const Tensor& self, const Tensor& other);
/// The quotient rounded as rounding_mode says: towards zero ("trunc") or down ("floor"). Integers stay integers; the
/// gradient is 0. Throws ValueError for another mode.
Tensor div(const Tensor& self, const Tensor& other, std::string_view rounding_mode);
Tensor div(const Tensor& self, Scalar other, std::string_view rounding_mode);
Tensor& div_out(Tensor& out, const Tensor& self, const Tensor& other, std::string_view rounding_mode);

// ---- Choice --------------------------------------------------------------------------------------------------------

/// The larger of the two; where one is NaN, the other. Where they are equal, self gets the gradient.
Tensor fmax(const Tensor& self, const Tensor& other);
Tensor& fmax_out(Tensor& out, const Tensor& self, const Tensor& other);
/// The smaller of the two; otherwise as fmax.
Tensor fmin(const Tensor& self, const Tensor& other);
Tensor& fmin_out(Tensor& out, const Tensor& self, const Tensor& other);
/// self with the sign of other, -0 being negative. Integers become float32. No gradient to other.
Tensor copysign(const Tensor& self, const Tensor& other);
Tensor copysign(const Tensor& self, Scalar other);
Tensor& copysign_out(Tensor& out, const Tensor& self, const Tensor& other);

// ---- Floating results ----------------------------------------------------------------------------------------------

/// The angle of the point (other, self) in radians, from -pi to pi; float32 for integers.
Tensor atan2(const Tensor& self, const Tensor& other);
Tensor& atan2_out(Tensor& out, const Tensor& self, const Tensor& other);
/// sqrt(self^2 + other^2) without overflow on the way. Floating dtypes only.
Tensor hypot(const Tensor& self, const Tensor& other);
Tensor& hypot_out(Tensor& out, const Tensor& self, const Tensor& other);
/// self * log(other), and 0 where self is 0 unless other is NaN; float32 for integers.
Tensor xlogy(const Tensor& self, const Tensor& other);
Tensor xlogy(const Tensor& self, Scalar other);
Tensor& xlogy_out(Tensor& out, const Tensor& self, const Tensor& other);
Tensor xlogy(Scalar self, const Tensor& other);
/// log(exp(self) + exp(other)) without overflow on the way. Floating dtypes only.
Tensor logaddexp(const Tensor& self, const Tensor& other);
Tensor& logaddexp_out(Tensor& out, const Tensor& self, const Tensor& other);
/// log2(2^self + 2^other). Floating dtypes only.
Tensor logaddexp2(const Tensor& self, const Tensor& other);
Tensor& logaddexp2_out(Tensor& out, const Tensor& self, const Tensor& other);
/// self to the power of exponent, computed in float64 whatever the dtypes; the result is float64.
Tensor float_power(const Tensor& self, const Tensor& exponent);
Tensor float_power(const Tensor& self, Scalar exponent);
Tensor float_power(Scalar self, const Tensor& exponent);
Tensor& float_power_out(Tensor& out, const Tensor& self, const Tensor& exponent);
Tensor& float_power_out(Tensor& out, const Tensor& self, Scalar exponent);
/// self * 2^other.
Tensor ldexp(const Tensor& self, const Tensor& other);
Tensor& ldexp_out(Tensor& out, const Tensor& self, const Tensor& other);
/// 0 where self is below 0, 1 above, and `values` at 0; 0 for NaN. Both have one dtype. No derivative.
Tensor heaviside(const Tensor& self, const Tensor& values);
Tensor& heaviside_out(Tensor& out, const Tensor& self, const Tensor& values);

}  // namespace taper
