#include <taper/autograd/engine.h>
#include <taper/factory.h>
#include <taper/ops/bitwise.h>
#include <taper/ops/blend.h>
#include <taper/ops/math_binary.h>
#include <taper/ops/pointwise.h>

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

TEST_CASE("remainders and rounded quotients of negative numbers, whole and not", "[B59]") {
  for (DType d : {int64, int32, float64, float32}) {
    const Tensor a = tensor({-5, 5, -5, 5}, d), b = tensor({3, 3, -3, -3}, d);
    CHECK(values(a.remainder(b)) == Values{1, 2, -2, -1});
    CHECK(values(a.fmod(b)) == Values{-2, 2, -2, 2});
    CHECK(values(a.floor_divide(b)) == Values{-2, 1, 1, -2});
    CHECK(values(a.div(b, "trunc")) == Values{-1, 1, 1, -1});
    CHECK(a.remainder(b).dtype() == d);
  }
  const Tensor seven = tensor({-7}, int64);
  CHECK(values(seven.floor_divide(2)) == Values{-4});
  CHECK(values(seven.div(2, "trunc")) == Values{-3});
}

TEST_CASE("an integer divided by zero is an error and by minus one never traps; a floating one is infinite or NaN",
          "[B59]") {
  Tensor x = tensor({4, 0, 3}, int64);
  CHECK_THROWS_WITH(x.remainder(0), Contains("remainder: integer division by zero"));
  CHECK_THROWS_AS(x.fmod(tensor({1, 0, 2}, int64)), ValueError);
  CHECK_THROWS_AS(x.floor_divide_(0), ValueError);
  CHECK_THROWS_AS(x.div_(0, "trunc"), ValueError);
  CHECK(values(x) == Values{4, 0, 3});
  CHECK(x.version() == 0);

  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const Tensor lowest = tensor({least}, int64);
  CHECK(lowest.remainder(-1).item<std::int64_t>() == 0);
  CHECK(lowest.fmod(-1).item<std::int64_t>() == 0);
  CHECK(lowest.floor_divide(-1).item<std::int64_t>() == least);

  const Values q = values(tensor({1., 0., -1.}, float64).floor_divide(0.));
  CHECK(q[0] == kInf);
  CHECK(std::isnan(q[1]));
  CHECK(q[2] == -kInf);
}

TEST_CASE("a quotient is rounded down from the exact remainder") {
  // 1 / 0.1 is just below 10 exactly, and 10 when rounded.
  CHECK(tensor({1.}, float64).floor_divide(0.1).item<double>() == 9);
  CHECK_THROWS_WITH(tensor({1.}).div(2, "up"), Contains("rounding_mode is 'up'"));
}

TEST_CASE("fmax and fmin pass over NaN and give all of the gradient to the first of equals") {
  const Tensor a = tensor({1., kNan, 2., kNan}, float64).requires_grad_();
  const Tensor b = tensor({1., 3., kNan, kNan}, float64).requires_grad_();
  const Tensor y = a.fmax(b);
  CHECK(values(y)[1] == 3);
  CHECK(values(y)[2] == 2);
  CHECK(std::isnan(values(y)[3]));
  y.sum().backward();
  CHECK(values(a.grad()) == Values{1, 0, 1, 1});
  CHECK(values(b.grad()) == Values{0, 1, 0, 0});
}

TEST_CASE("xlogy is 0 where its first operand is, also in its gradient, and NaN for NaN") {
  const Tensor a = tensor({0., 0., 2., 0.}, float64).requires_grad_();
  const Tensor b = tensor({0., -1., 1., kNan}, float64).requires_grad_();
  const Tensor y = xlogy(a, b);
  CHECK(values(y)[0] == 0);
  CHECK(values(y)[1] == 0);
  CHECK(values(y)[2] == 0);
  CHECK(std::isnan(values(y)[3]));
  y.narrow(0, 0, 3).sum().backward();
  CHECK(values(a.grad().narrow(0, 0, 3)) == Values{0, 0, 0});
  CHECK(values(xlogy(2, tensor({1.}, float64))) == Values{0});
}

TEST_CASE("sums of exponentials neither overflow nor lose equal infinities") {
  const Tensor a = tensor({1000., -kInf, kInf, kInf}, float64), b = tensor({1000., -kInf, kInf, -kInf}, float64);
  const Values e = values(a.logaddexp(b));
  CHECK(e[0] == Approx(1000 + std::log(2.)));
  CHECK(e[1] == -kInf);
  CHECK(e[2] == kInf);
  CHECK(e[3] == kInf);
  CHECK(values(a.logaddexp2(b))[0] == Approx(1001));
  CHECK_THROWS_AS(tensor({1, 2}).logaddexp(tensor({1, 2})), DTypeError);
}

TEST_CASE("copysign takes the sign of minus zero; angles have their quadrant") {
  CHECK(std::signbit(tensor({2.}, float64).copysign(-0.).item<double>()));
  CHECK(tensor({1}, int64).copysign(tensor({-3}, int64)).dtype() == float32);
  CHECK(values(tensor({1., -1.}, float64).atan2(tensor({-1., -1.}, float64)))[0] == Approx(2.35619449));
  CHECK(values(tensor({3e300}, float64).hypot(tensor({4e300}, float64)))[0] == Approx(5e300));
}

TEST_CASE("lerp is exact at both ends and keeps to one dtype") {
  const Tensor a = tensor({1., 2.}, float64), b = tensor({3., 1e17}, float64);
  CHECK(values(a.lerp(b, 0)) == values(a));
  CHECK(values(a.lerp(b, 1)) == values(b));
  CHECK(values(a.lerp(b, tensor({0.5, 0.}, float64))) == Values{2, 2});
  CHECK_THROWS_WITH(a.lerp(b.to(float32), 0.5), Contains("self is float64 but end is float32"));
  CHECK_THROWS_AS(tensor({1}).lerp(tensor({2}), 0.5), DTypeError);
}

TEST_CASE("sums with a product work on integers, sums with a quotient do not") {
  const Tensor a = tensor({1, 2}, int64), b = tensor({3, 4}, int64);
  CHECK(values(a.addcmul(b, b, 2)) == Values{19, 34});
  CHECK_THROWS_AS(a.addcmul(b, b, 0.5), DTypeError);
  CHECK_THROWS_WITH(a.addcdiv(b, b), Contains("whose quotient is no integer"));
  CHECK(values(a.to(float64).addcdiv(b, b.to(float64), 0.5)) == Values{1.5, 2.5});
}

TEST_CASE("bits of integers and masks") {
  const Tensor a = tensor({12, -1}, int32), b = tensor({10, 6}, int32);
  CHECK(values(a.bitwise_and(b)) == Values{8, 6});
  CHECK(values(a.bitwise_or(b)) == Values{14, -1});
  CHECK(values(a.bitwise_xor(b)) == Values{6, -7});
  CHECK(values(a.bitwise_not()) == Values{-13, 0});
  CHECK(values(tensor({true, false}).bitwise_not()) == Values{0, 1});
  CHECK(values(a.bitwise_left_shift(2)) == Values{48, -4});
  CHECK(values(a.bitwise_right_shift(tensor({2, 31}, int32))) == Values{3, -1});
  CHECK(values(a.bitwise_right_shift(40)) == Values{0, -1});
  CHECK(values(a.bitwise_left_shift(-1)) == Values{0, 0});
  CHECK_THROWS_WITH(tensor({1.}).bitwise_and(1), Contains("bitwise_and: needs integers or bool"));
  CHECK_THROWS_AS(tensor({true}).bitwise_left_shift(tensor({true})), DTypeError);
}
