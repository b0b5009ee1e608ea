#include <taper/factory.h>
#include <taper/ops/compare.h>
#include <taper/ops/pointwise.h>

#include <limits>

#include "support/catch.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Bits = std::vector<int>;
Bits bits(const Tensor& t) {
  CHECK(t.dtype() == bool_);
  Bits out;
  for (std::uint8_t b : t.to(uint8).to_vector<std::uint8_t>()) out.push_back(b);
  return out;
}
}  // namespace

TEST_CASE("comparisons give bool for every dtype") {
  for (DType d : {uint8, int32, int64, float32, float64}) {
    INFO(name_of(d));
    const Tensor a = tensor({1, 2, 3}, d), b = tensor({2, 2, 2}, d);
    CHECK(bits(a == b) == Bits{0, 1, 0});
    CHECK(bits(a != b) == Bits{1, 0, 1});
    CHECK(bits(a < b) == Bits{1, 0, 0});
    CHECK(bits(a <= b) == Bits{1, 1, 0});
    CHECK(bits(a > b) == Bits{0, 0, 1});
    CHECK(bits(a >= b) == Bits{0, 1, 1});
    CHECK(bits(a == 2) == Bits{0, 1, 0});
    CHECK(bits(a != 2) == Bits{1, 0, 1});
    CHECK(bits(a < 2) == Bits{1, 0, 0});
    CHECK(bits(a <= 2) == Bits{1, 1, 0});
    CHECK(bits(a > 2) == Bits{0, 0, 1});
    CHECK(bits(a >= 2) == Bits{0, 1, 1});
    CHECK(bits(2 == a) == Bits{0, 1, 0});
    CHECK(bits(2 != a) == Bits{1, 0, 1});
    CHECK(bits(2 < a) == Bits{0, 0, 1});
    CHECK(bits(2 >= a) == Bits{1, 1, 0});
    CHECK(bits(2 > a) == Bits{1, 0, 0});
    CHECK(bits(2 <= a) == Bits{0, 1, 1});
  }
  CHECK(bits(tensor({true, false}) > tensor({false, false})) == Bits{1, 0});
}

TEST_CASE("comparison happens in the promoted dtype") {
  CHECK(bits(tensor({1, 2}) < tensor({1.5, 1.5})) == Bits{1, 0});
  CHECK(bits(tensor({1, 2}) > 1.5) == Bits{0, 1});
  // 2^24 + 1 is no float32: as in PyTorch an integer tensor meets a float32 tensor in float32.
  CHECK(bits(tensor({16777217}) == tensor({16777216.0}, float32)) == Bits{1});
}

TEST_CASE("NaN is unequal to itself and neither less nor greater") {
  const Tensor x = tensor({kNan, 1.0}, float64);
  CHECK(bits(x == x) == Bits{0, 1});
  CHECK(bits(x != x) == Bits{1, 0});
  CHECK(bits(x < x) == Bits{0, 0});
  CHECK(bits(x >= x) == Bits{0, 1});
  CHECK(bits(isnan(x)) == Bits{1, 0});
  CHECK(bits(isfinite(tensor({kNan, kInf, -kInf, 0.0}))) == Bits{0, 0, 0, 1});
  CHECK(bits(isfinite(tensor({1, 2}))) == Bits{1, 1});
  CHECK(bits(isnan(tensor({1, 2}))) == Bits{0, 0});
}

TEST_CASE("logic takes any dtype: what is not 0 is true") {
  const Tensor a = tensor({0.0, 0.5, 2.0, 0.0}), b = tensor({0, 1, 0, 3});
  CHECK(bits(logical_and(a, b)) == Bits{0, 1, 0, 0});
  CHECK(bits(logical_or(a, b)) == Bits{0, 1, 1, 1});
  CHECK(bits(logical_xor(a, b)) == Bits{0, 0, 1, 1});
  CHECK(bits(logical_not(a)) == Bits{1, 0, 0, 1});
  CHECK(bits(!tensor({true, false})) == Bits{0, 1});
  Tensor out = empty({0}, float32);
  logical_and_out(out, a, b);
  CHECK(out.to_vector<float>() == std::vector<float>{0, 1, 0, 0});
}

TEST_CASE("masks broadcast and read strided operands") {
  const Tensor t = arange(6).as_strided({2, 3}, {1, 2});  // 0 2 4 / 1 3 5
  CHECK(bits((t > tensor({1, 2, 9})).contiguous()) == Bits{0, 0, 0, 0, 1, 0});
  CHECK(bits(tensor({{true}, {false}}).logical_or(tensor({false, true}))) == Bits{1, 1, 0, 1});
}

TEST_CASE("results of comparisons have no history and need none") {
  Tensor x = tensor({1.0, 2.0}, float64);
  x.requires_grad_();
  CHECK_FALSE((x > 1).requires_grad());
  CHECK_FALSE(isnan(x).requires_grad());
  CHECK_FALSE(x.logical_not().requires_grad());
}

TEST_CASE("equal compares shapes and values and wants one dtype") {
  const Tensor x = tensor({1.0, 2.0});
  CHECK(equal(x, tensor({1.0, 2.0})));
  CHECK_FALSE(equal(x, tensor({1.0, 3.0})));
  CHECK_FALSE(equal(x, tensor({{1.0, 2.0}})));
  CHECK_FALSE(equal(tensor({kNan}), tensor({kNan})));
  CHECK(equal(tensor({0.0}), tensor({-0.0})));
  CHECK(equal(zeros({0, 2}), zeros({0, 2})));
  CHECK(arange(6).as_strided({2, 3}, {1, 2}).equal(tensor({{0, 2, 4}, {1, 3, 5}})));
  CHECK_THROWS_WITH(equal(x, tensor({1, 2})), Contains("equal: self is float32[2] on cpu but other is int64[2]"));
}

TEST_CASE("allclose allows atol + rtol |other| and equal infinities") {
  CHECK(allclose(tensor({1.0, 100.0}), tensor({1.000001, 100.0001})));
  CHECK_FALSE(allclose(tensor({1.0}), tensor({1.001})));
  CHECK(allclose(tensor({1.0}), tensor({1.001}), 1e-2));
  CHECK(allclose(tensor({1.0, kInf}), tensor({1.0, kInf})));
  CHECK_FALSE(allclose(tensor({kInf}), tensor({-kInf})));
  CHECK_FALSE(allclose(tensor({1.0}), tensor({kInf})));
  CHECK_FALSE(allclose(tensor({kNan}), tensor({kNan})));
  CHECK(allclose(tensor({kNan}), tensor({kNan}), 1e-5, 1e-8, true));
  CHECK_FALSE(allclose(tensor({2, 1, 0}), tensor({3, 4, 2}), 1e-5, 1.0));
  CHECK_THROWS_AS(allclose(tensor({1.0}), tensor({1.0}), -1), ValueError);
}
