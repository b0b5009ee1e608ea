// Derivatives of the functions of <taper/ops/special.h>.
#include <taper/autograd/record.h>
#include <taper/ops/math.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/special.h>

#include <numbers>

#include "from_argument.h"
#include "rules.h"

namespace taper {
namespace {

/// (pi x cos(pi x) - sin(pi x)) / (pi x^2), which at 0 is 0 with the slope -pi^2 / 3. So it is where x^2 underflows.
Tensor sinc_gradient(const Tensor& g, const Tensor& x) {
  constexpr double pi = std::numbers::pi;
  const Tensor at_zero = abs(x) < 1e-15, safe = where(at_zero, 1, x), a = safe * pi;
  const Tensor slope = (a * cos(a) - sin(a)) / (a * safe);
  return g * where(at_zero, x * (-pi * pi / 3), slope);
}
/// erfinv' = sqrt(pi) / 2 e^(y^2)
Tensor erfinv_gradient(const Tensor& g, const Tensor& y) {
  return g * (exp(square(y)) * (0.5 / std::numbers::inv_sqrtpi));
}
Tensor lgamma_gradient(const Tensor& g, const Tensor& x) { return g * digamma(x); }
Tensor digamma_gradient(const Tensor& g, const Tensor& x) { return g * polygamma(1, x); }
// entr' = -log x - 1
Tensor special_entr_gradient(const Tensor& g, const Tensor& x) { return g * (-log(x) - 1); }

struct PolygammaBackward final : Node {
  Saved self{this, "self"};
  std::int64_t n = 0;
  bool saves_self() const { return true; }
  void save(const Tensor& x, std::int64_t order) { self = x, n = order; }
  Gradients apply(Gradients g) override { return {g[0] * polygamma(n + 1, self)}; }
};

/// 1 / (x (1 - x)); with eps 0 outside of [eps, 1 - eps], without it NaN outside of [0, 1].
struct LogitBackward final : Node {
  Saved self{this, "self"};
  std::optional<double> eps;
  bool saves_self() const { return true; }
  void save(const Tensor& x, const std::optional<double>& e) { self = x, eps = e; }
  Gradients apply(Gradients g) override {
    const Tensor x = self;
    const double edge = eps.value_or(0);
    const Tensor inside = logical_and(x >= edge, x <= 1 - edge);
    const Tensor safe = where(inside, x, 0.5);
    const Tensor slope = g[0] / (safe * (1 - safe));
    return {where(inside, slope, eps ? 0. : std::numeric_limits<double>::quiet_NaN())};
  }
};

}  // namespace

void install_special_rules() {
  differentiate<FromSelf<sinc_gradient>, ops::sinc>();
  differentiate<FromResult<erfinv_gradient>, ops::erfinv>();
  differentiate<FromSelf<lgamma_gradient>, ops::lgamma>();
  differentiate<FromSelf<digamma_gradient>, ops::digamma>();
  differentiate<FromSelf<special_entr_gradient>, ops::special_entr>();
  differentiate<PolygammaBackward, ops::polygamma>();
  differentiate<LogitBackward, ops::logit>();
  ops::signbit.declare_non_differentiable();
}

}  // namespace taper
