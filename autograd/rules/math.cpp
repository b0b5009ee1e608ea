// Derivatives of the functions of <taper/ops/math.h>.
#include <taper/autograd/record.h>
#include <taper/ops/math.h>
#include <taper/ops/pointwise.h>

#include <numbers>

#include "from_argument.h"
#include "rules.h"

namespace taper {
namespace {

constexpr double kLn2 = std::numbers::ln2, kLn10 = std::numbers::ln10;
constexpr double kTwoOverSqrtPi = 2 * std::numbers::inv_sqrtpi;

Tensor expm1_gradient(const Tensor& g, const Tensor& y) { return g * (y + 1); }
Tensor exp2_gradient(const Tensor& g, const Tensor& y) { return g * (y * kLn2); }
Tensor log1p_gradient(const Tensor& g, const Tensor& x) { return g / (x + 1); }
Tensor log2_gradient(const Tensor& g, const Tensor& x) { return g / (x * kLn2); }
Tensor log10_gradient(const Tensor& g, const Tensor& x) { return g / (x * kLn10); }
Tensor tan_gradient(const Tensor& g, const Tensor& y) { return g * (square(y) + 1); }
Tensor asin_gradient(const Tensor& g, const Tensor& x) { return g * rsqrt(1 - square(x)); }
Tensor acos_gradient(const Tensor& g, const Tensor& x) { return neg(g) * rsqrt(1 - square(x)); }
Tensor atan_gradient(const Tensor& g, const Tensor& x) { return g / (square(x) + 1); }
Tensor sinh_gradient(const Tensor& g, const Tensor& x) { return g * cosh(x); }
Tensor cosh_gradient(const Tensor& g, const Tensor& x) { return g * sinh(x); }
Tensor asinh_gradient(const Tensor& g, const Tensor& x) { return g * rsqrt(square(x) + 1); }
Tensor acosh_gradient(const Tensor& g, const Tensor& x) { return g * rsqrt(square(x) - 1); }
Tensor atanh_gradient(const Tensor& g, const Tensor& x) { return g / (1 - square(x)); }
Tensor erf_gradient(const Tensor& g, const Tensor& x) { return g * (exp(neg(square(x))) * kTwoOverSqrtPi); }
Tensor erfc_gradient(const Tensor& g, const Tensor& x) { return neg(g) * (exp(neg(square(x))) * kTwoOverSqrtPi); }

}  // namespace

void install_math_rules() {
  differentiate<FromResult<expm1_gradient>, ops::expm1>();
  differentiate<FromResult<exp2_gradient>, ops::exp2>();
  differentiate<FromSelf<log1p_gradient>, ops::log1p>();
  differentiate<FromSelf<log2_gradient>, ops::log2>();
  differentiate<FromSelf<log10_gradient>, ops::log10>();
  differentiate<FromResult<tan_gradient>, ops::tan>();
  differentiate<FromSelf<asin_gradient>, ops::asin>();
  differentiate<FromSelf<acos_gradient>, ops::acos>();
  differentiate<FromSelf<atan_gradient>, ops::atan>();
  differentiate<FromSelf<sinh_gradient>, ops::sinh>();
  differentiate<FromSelf<cosh_gradient>, ops::cosh>();
  differentiate<FromSelf<asinh_gradient>, ops::asinh>();
  differentiate<FromSelf<acosh_gradient>, ops::acosh>();
  differentiate<FromSelf<atanh_gradient>, ops::atanh>();
  differentiate<FromSelf<erf_gradient>, ops::erf>();
  differentiate<FromSelf<erfc_gradient>, ops::erfc>();
  differentiate<ZeroBackward, ops::floor>();
  differentiate<ZeroBackward, ops::ceil>();
  differentiate<ZeroBackward, ops::trunc>();
  differentiate<ZeroBackward, ops::round>();
}

}  // namespace taper
