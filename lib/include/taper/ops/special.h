#pragma once
// Special functions, and the smaller functions of one. Elementwise; integers and bool become float32 unless said
// otherwise. All are differentiable except the ones that give a mask.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <optional>

namespace taper {

/// sin(pi x) / (pi x), which is 1 at 0.
Tensor sinc(const Tensor& self);
Tensor& sinc_out(Tensor& out, const Tensor& self);
/// The inverse of erf: NaN outside [-1, 1].
Tensor erfinv(const Tensor& self);
Tensor& erfinv_out(Tensor& out, const Tensor& self);
/// The logarithm of the absolute value of the gamma function.
Tensor lgamma(const Tensor& self);
Tensor& lgamma_out(Tensor& out, const Tensor& self);
/// The derivative of lgamma.
Tensor digamma(const Tensor& self);
Tensor& digamma_out(Tensor& out, const Tensor& self);
/// The n-th derivative of digamma. Throws ValueError for a negative n.
Tensor polygamma(std::int64_t n, const Tensor& self);
Tensor& polygamma_out(Tensor& out, std::int64_t n, const Tensor& self);
/// log(x / (1 - x)); with eps, x is first clamped to [eps, 1 - eps], outside of which the gradient is 0.
Tensor logit(const Tensor& self, std::optional<double> eps = {});
Tensor& logit_out(Tensor& out, const Tensor& self, std::optional<double> eps = {});
/// The entropy of one outcome, -x log(x): 0 at 0, minus infinity below 0, NaN for NaN. The gradient at 0 is infinity.
Tensor special_entr(const Tensor& self);
Tensor& special_entr_out(Tensor& out, const Tensor& self);

/// x - trunc(x), which has the sign of x. Floating dtypes only.
Tensor frac(const Tensor& self);
Tensor& frac_out(Tensor& out, const Tensor& self);
/// From degrees to radians, and back.
Tensor deg2rad(const Tensor& self);
Tensor& deg2rad_out(Tensor& out, const Tensor& self);
Tensor rad2deg(const Tensor& self);
Tensor& rad2deg_out(Tensor& out, const Tensor& self);
/// NaN, infinity and minus infinity replaced by numbers; by 0 and the largest and smallest of the dtype if none are
/// given. Integers stay as they are. What is replaced has no gradient.
Tensor nan_to_num(const Tensor& self, double nan = 0, std::optional<double> posinf = {},
                  std::optional<double> neginf = {});
Tensor& nan_to_num_out(Tensor& out, const Tensor& self, double nan = 0, std::optional<double> posinf = {},
                       std::optional<double> neginf = {});
/// self. Throws DTypeError for bool.
Tensor positive(const Tensor& self);
/// Rounds to `decimals` digits after the point, or to tens, hundreds, ... if negative; halves to the even neighbour.
/// Floating dtypes only, unless decimals is 0.
Tensor round(const Tensor& self, std::int64_t decimals);

/// A mask of the elements with a minus sign, -0 among them.
Tensor signbit(const Tensor& self);
Tensor& signbit_out(Tensor& out, const Tensor& self);
/// Masks of the elements that are infinity, or minus infinity.
Tensor isposinf(const Tensor& self);
Tensor& isposinf_out(Tensor& out, const Tensor& self);
Tensor isneginf(const Tensor& self);
Tensor& isneginf_out(Tensor& out, const Tensor& self);

namespace ops {
extern StructuredOp<Tensor(Tensor)> sinc, erfinv, lgamma, digamma, special_entr, signbit;
extern StructuredOp<Tensor(Tensor, std::int64_t)> polygamma;       // self, n
extern StructuredOp<Tensor(Tensor, std::optional<double>)> logit;  // self, eps
}  // namespace ops

}  // namespace taper
