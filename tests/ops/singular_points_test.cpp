// Derivatives at points where the formula meets 0 / 0, an infinity or an overflow, and the derivative exists.
#include <taper/autograd/engine.h>
#include <taper/factory.h>
#include <taper/ops/activation.h>
#include <taper/ops/math_binary.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/scan.h>
#include <taper/ops/special.h>

#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/values.h"

using namespace taper;

namespace {
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float32, .requires_grad = true}); }
/// d sum(of) / d to, recorded.
Tensor slope(const Tensor& of, const Tensor& to) {
  return autograd::grad({of.sum()}, {to}, {}, {.create_graph = true})[0];
}
}  // namespace

TEST_CASE("logaddexp has second derivatives however far its operands are apart") {
  const Tensor a = leaf({-100, 0, 200}), b = leaf({0, 0, 0});
  for (const auto& f : {taper::logaddexp, taper::logaddexp2}) {
    const Tensor da = slope(f(a, b), a), db = slope(f(a, b), b);
    CHECK(values(da)[1] == 0.5);
    CHECK(values(db)[2] == Approx(0).margin(1e-30));
    for (const Tensor& second : {slope(da, a), slope(da, b), slope(db, a), slope(db, b)}) {
      CHECK(values(second)[0] == Approx(0).margin(1e-30));
      CHECK(std::abs(values(second)[1]) == Approx(f == &taper::logaddexp ? 0.25 : 0.25 * std::log(2.)));
      CHECK(values(second)[2] == Approx(0).margin(1e-30));
    }
  }
}

TEST_CASE("the powers of 0 above 1 have mixed second derivatives of 0, and the others none") {
  const Tensor a = leaf({0, 0, 0, 2}), b = leaf({2, 1.5, 1, 3});
  const Tensor by_base = slope(pow(a, b), a), by_exponent = slope(pow(a, b), b);
  CHECK(values(by_exponent.narrow(0, 0, 3)) == std::vector<double>{0, 0, 0});
  CHECK(values(by_exponent)[3] == Approx(8 * std::log(2.)));

  const Tensor mixed = slope(by_exponent, a), other_way = slope(by_base, b);
  for (const std::size_t i : {0u, 1u}) {
    CHECK(values(mixed)[i] == 0);
    CHECK(values(other_way)[i] == 0);
  }
  CHECK(std::isnan(values(mixed)[2]));  // the limit is minus infinity
  CHECK(values(mixed)[3] == Approx(4 + 12 * std::log(2.)));
  CHECK(values(other_way)[3] == Approx(4 + 12 * std::log(2.)));
}

TEST_CASE("what logcumsumexp makes of an infinity does not reach the derivatives of other entries") {
  const Tensor low = leaf({-kInfinity, -kInfinity, 1, 2}), one = slope(logcumsumexp(low, 0), low);
  const double share = 1 / (1 + std::exp(1.));
  CHECK(values(one)[2] == Approx(1 + share));
  CHECK(values(one)[3] == Approx(1 - share));
  const Tensor twice = slope(one.narrow(0, 3, 1), low);
  CHECK(values(twice)[2] == Approx(-share * (1 - share)));
  CHECK(values(twice)[3] == Approx(share * (1 - share)));

  const Tensor high = leaf({kInfinity, 1, 2}), from_high = slope(logcumsumexp(high, 0), high);
  CHECK(std::isnan(values(from_high)[0]));
  CHECK(values(from_high)[1] == 0);
  CHECK(values(from_high)[2] == 0);
  CHECK(values(slope(from_high.narrow(0, 1, 2), high))[1] == 0);
}

TEST_CASE("norms of numbers whose powers underflow have gradients") {
  for (const double p : {1.5, 2., 3., 5.}) {
    const Tensor x = leaf({1e-30, -2e-30, 1e-30});
    const double y = std::pow(2 + std::pow(2., p), 1 / p);
    const std::vector<double> g = values(slope(norm(x, p), x));
    CHECK(g[0] == Approx(std::pow(1 / y, p - 1)));
    CHECK(g[1] == Approx(-std::pow(2 / y, p - 1)));
  }
}

TEST_CASE("the derivative of sinc next to 0 is 0, and its second derivative what it is at 0") {
  const Tensor x = leaf({0, 1e-30, -1e-22}), first = slope(sinc(x), x);
  for (const double v : values(first)) CHECK(v == Approx(0).margin(1e-20));
  for (const double v : values(slope(first, x))) CHECK(v == Approx(-3.289868133696453));
}

TEST_CASE("safe_where gives a gradient where where() alone gives NaN", "[B63]") {
  const auto root = [](const Tensor& t) { return t.sqrt(); };
  const Tensor x = leaf({-1, 4}), y = leaf({-1, 4});
  const Tensor plain = where(x > 0, x.sqrt(), x), safe = safe_where(y > 0, y, root, y);
  CHECK(values(plain) == values(safe));
  CHECK(std::isnan(values(slope(plain, x))[0]));
  const Tensor d = slope(safe, y);
  CHECK(values(d) == Values{1, 0.25});
  CHECK(values(slope(d, y))[0] == 0);
  CHECK(values(slope(d, y))[1] == Approx(-1. / 32));
}

TEST_CASE("softplus and log_sigmoid stay finite far out", "[B63]") {
  const Tensor x = leaf({0, 100, -100});
  const Tensor y = softplus(x);
  CHECK(values(y)[1] == 100);
  CHECK(values(y)[2] == Approx(3.78e-44).epsilon(0.05));
  CHECK(values(slope(y, x))[0] == 0.5);
  CHECK(values(log_sigmoid(tensor({-200.f})))[0] == -200);
}
