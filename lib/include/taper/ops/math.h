#pragma once
// More elementwise functions of one tensor; what <taper/ops/pointwise.h> says of its functions holds for these.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

namespace ops {
extern StructuredOp<Tensor(Tensor)> expm1, exp2, log1p, log2, log10, tan, asin, acos, atan, sinh, cosh, asinh, acosh,
    atanh, erf, erfc, floor, ceil, trunc, round;
}  // namespace ops

// ---- Floating: integers and bool give float32 ----------------------------------------------------------------------
/// exp(self) - 1, precise near 0.
Tensor expm1(const Tensor& self);
/// 2 to the power of self.
Tensor exp2(const Tensor& self);
/// log(1 + self), precise near 0.
Tensor log1p(const Tensor& self);
/// The logarithm to base 2.
Tensor log2(const Tensor& self);
/// The logarithm to base 10.
Tensor log10(const Tensor& self);
/// Radians, as the following ones.
Tensor tan(const Tensor& self);
Tensor asin(const Tensor& self);
Tensor acos(const Tensor& self);
Tensor atan(const Tensor& self);
Tensor sinh(const Tensor& self);
Tensor cosh(const Tensor& self);
Tensor asinh(const Tensor& self);
Tensor acosh(const Tensor& self);
Tensor atanh(const Tensor& self);
/// The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to self.
Tensor erf(const Tensor& self);
/// 1 - erf(self), precise where that is small.
Tensor erfc(const Tensor& self);

// ---- Rounding: integers stay as they are, the gradient is 0, not for bool -------------------------------------------
/// The nearest integers below, above, towards 0; and the nearest, halves to the even one.
Tensor floor(const Tensor& self);
Tensor ceil(const Tensor& self);
Tensor trunc(const Tensor& self);
Tensor round(const Tensor& self);

Tensor& expm1_out(Tensor& out, const Tensor& self);
Tensor& exp2_out(Tensor& out, const Tensor& self);
Tensor& log1p_out(Tensor& out, const Tensor& self);
Tensor& log2_out(Tensor& out, const Tensor& self);
Tensor& log10_out(Tensor& out, const Tensor& self);
Tensor& tan_out(Tensor& out, const Tensor& self);
Tensor& asin_out(Tensor& out, const Tensor& self);
Tensor& acos_out(Tensor& out, const Tensor& self);
Tensor& atan_out(Tensor& out, const Tensor& self);
Tensor& sinh_out(Tensor& out, const Tensor& self);
Tensor& cosh_out(Tensor& out, const Tensor& self);
Tensor& asinh_out(Tensor& out, const Tensor& self);
Tensor& acosh_out(Tensor& out, const Tensor& self);
Tensor& atanh_out(Tensor& out, const Tensor& self);
Tensor& erf_out(Tensor& out, const Tensor& self);
Tensor& erfc_out(Tensor& out, const Tensor& self);
Tensor& floor_out(Tensor& out, const Tensor& self);
Tensor& ceil_out(Tensor& out, const Tensor& self);
Tensor& trunc_out(Tensor& out, const Tensor& self);
Tensor& round_out(Tensor& out, const Tensor& self);

inline Tensor& expm1_(Tensor& self) { return self.expm1_(); }
inline Tensor& exp2_(Tensor& self) { return self.exp2_(); }
inline Tensor& log1p_(Tensor& self) { return self.log1p_(); }
inline Tensor& log2_(Tensor& self) { return self.log2_(); }
inline Tensor& log10_(Tensor& self) { return self.log10_(); }
inline Tensor& tan_(Tensor& self) { return self.tan_(); }
inline Tensor& asin_(Tensor& self) { return self.asin_(); }
inline Tensor& acos_(Tensor& self) { return self.acos_(); }
inline Tensor& atan_(Tensor& self) { return self.atan_(); }
inline Tensor& sinh_(Tensor& self) { return self.sinh_(); }
inline Tensor& cosh_(Tensor& self) { return self.cosh_(); }
inline Tensor& asinh_(Tensor& self) { return self.asinh_(); }
inline Tensor& acosh_(Tensor& self) { return self.acosh_(); }
inline Tensor& atanh_(Tensor& self) { return self.atanh_(); }
inline Tensor& erf_(Tensor& self) { return self.erf_(); }
inline Tensor& erfc_(Tensor& self) { return self.erfc_(); }
inline Tensor& floor_(Tensor& self) { return self.floor_(); }
inline Tensor& ceil_(Tensor& self) { return self.ceil_(); }
inline Tensor& trunc_(Tensor& self) { return self.trunc_(); }
inline Tensor& round_(Tensor& self) { return self.round_(); }

}  // namespace taper
