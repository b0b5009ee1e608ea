#include <taper/autograd/engine.h>
#include <taper/factory.h>
#include <taper/ops/math.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/special.h>

#include <cmath>
#include <limits>

#include "support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }
constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("erfinv undoes erf to the last digits, up to the ends") {
  for (const double x : {-3.5, -1.2, -0.3, 0., 1e-9, 0.47, 0.9, 2., 4.}) {
    const double y = std::erf(x);
    if (std::fabs(y) < 1) CHECK(tensor({y}, float64).erfinv().item<double>() == Approx(x).epsilon(1e-9));
  }
  CHECK(tensor({1.}, float64).erfinv().item<double>() == kInf);
  CHECK(std::isnan(tensor({1.5}, float64).erfinv().item<double>()));
}

TEST_CASE("digamma next to 0 is -1/x on both sides") {
  for (const double x : {-1e-10, -1e-17, -1e-40, 1e-10, 1e-40})
    CHECK(tensor({x}, float64).digamma().item<double>() == Approx(-1 / x).epsilon(1e-8));
}

TEST_CASE("digamma and its derivatives at known points, below zero too") {
  constexpr double euler = 0.57721566490153286, pi = 3.14159265358979324;
  CHECK(tensor({1.}, float64).digamma().item<double>() == Approx(-euler).epsilon(1e-14));
  CHECK(tensor({0.5}, float64).digamma().item<double>() == Approx(-euler - 2 * std::log(2.)).epsilon(1e-14));
  CHECK(tensor({-0.5}, float64).digamma().item<double>() == Approx(2 - euler - 2 * std::log(2.)).epsilon(1e-13));
  CHECK(tensor({0.}, float64).digamma().item<double>() == -kInf);
  CHECK(std::isnan(tensor({-2.}, float64).digamma().item<double>()));
  CHECK(polygamma(1, tensor({1.}, float64)).item<double>() == Approx(pi * pi / 6).epsilon(1e-14));
  CHECK(polygamma(1, tensor({-0.5}, float64)).item<double>() == Approx(pi * pi / 2 + 4).epsilon(1e-13));
  CHECK(polygamma(2, tensor({1.}, float64)).item<double>() == Approx(-2.4041138063191886).epsilon(1e-13));
  CHECK_THROWS_AS(polygamma(-1, tensor({1.})), ValueError);
  CHECK(tensor({4.}, float64).lgamma().item<double>() == Approx(std::log(6.)));
}

TEST_CASE("sinc has a second derivative at 0") {
  Tensor x = tensor({0.}, float64).requires_grad_();
  const Tensor g = autograd::grad({x.sinc().sum()}, {x}, {}, {.create_graph = true})[0];
  CHECK(g.item<double>() == 0);
  CHECK(autograd::grad({g.sum()}, {x})[0].item<double>() == Approx(-3.28986813369645));
}

TEST_CASE("special_entr is 0 at 0 with an infinite slope, minus infinity below, and NaN for NaN") {
  Tensor x = tensor({-1., 0., 0.5, 1., kNan}, float64).requires_grad_();
  const Tensor y = special_entr(x);
  const Values v = values(y);
  CHECK(v[0] == -kInf);
  CHECK(v[1] == 0);
  CHECK(v[2] == Approx(0.5 * std::log(2.)));
  CHECK(v[3] == 0);
  CHECK(std::isnan(v[4]));
  CHECK(special_entr(tensor({1})).dtype() == float32);

  y.sum().backward();
  const Values slope = values(x.grad());
  CHECK(std::isnan(slope[0]));
  CHECK(slope[1] == kInf);
  CHECK(slope[2] == Approx(std::log(2.) - 1));
  CHECK(slope[3] == -1);
}

TEST_CASE("logit without eps is NaN outside of 0 to 1, with eps it is clamped and flat there") {
  Tensor x = tensor({-0.5, 0., 0.5, 1.}, float64).requires_grad_();
  const Values open = values(x.logit());
  CHECK(std::isnan(open[0]));
  CHECK(open[1] == -kInf);
  CHECK(open[2] == 0);
  CHECK(open[3] == kInf);
  x.logit(0.1).sum().backward();
  CHECK(values(x.grad()) == Values{0, 0, 4, 0});
}

TEST_CASE("what is not a number becomes one, and has no gradient") {
  Tensor x = tensor({kNan, kInf, -kInf, 2.}, float32).requires_grad_();
  const Tensor y = x.nan_to_num(1, 5);
  CHECK(values(y) == Values{1, 5, -double(std::numeric_limits<float>::max()), 2});
  y.sum().backward();
  CHECK(values(x.grad()) == Values{0, 0, 0, 1});
  CHECK(values(tensor({3}).nan_to_num()) == Values{3});
  const Tensor infinite = tensor({std::numeric_limits<double>::infinity()}, float64);
  CHECK(values(infinite.to(float16).nan_to_num()) == Values{65504});
  CHECK(values(infinite.to(bfloat16).nan_to_num()) == Values{std::ldexp(255. / 128, 127)});
}

TEST_CASE("signs and infinities as masks") {
  const Tensor x = tensor({-0., 0., -kInf, kInf, kNan}, float64);
  CHECK(values(x.signbit()) == Values{1, 0, 1, 0, 0});
  CHECK(values(x.isposinf()) == Values{0, 0, 0, 1, 0});
  CHECK(values(x.isneginf()) == Values{0, 0, 1, 0, 0});
  CHECK(values(tensor({-1, 1}).signbit()) == Values{1, 0});
}

TEST_CASE("degrees, fractions and digits") {
  CHECK(values(tensor({180}).deg2rad())[0] == Approx(3.14159265));
  CHECK(tensor({180}).deg2rad().dtype() == float32);
  CHECK(values(tensor({-1.75, 2.5}, float64).frac()) == Values{-0.75, 0.5});
  CHECK(values(tensor({1.25, 2.675}, float64).round(1)) == Values{1.2, 2.7});
  CHECK(values(tensor({1250., 1350.}, float64).round(-2)) == Values{1200, 1400});
  CHECK_THROWS_AS(tensor({true}).positive(), DTypeError);
  CHECK_THROWS_WITH(tensor({1}).frac(), Contains("frac: needs a floating dtype"));
}
