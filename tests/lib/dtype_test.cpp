#include <taper/dtype.h>
#include <taper/factory.h>
#include <taper/promotion.h>

#include <bit>
#include <cmath>
#include <limits>

#include "support/catch.h"

using namespace taper;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What a 16-bit pattern stands for, from the definition of the format.
double meaning(std::uint16_t bits, int exponent_bits, int fraction_bits) {
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1), fraction = bits & ((1 << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction == 0 ? sign * kInfinity : std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

/// Whether `bits` is what x rounds to, given its neighbours; x lies between two finite numbers of the format or on one.
template <class T>
bool is_nearest_even(float x, std::uint16_t bits, int exponent_bits, int fraction_bits) {
  const double got = meaning(bits, exponent_bits, fraction_bits);
  if (got == double(x)) return true;
  const double error = std::abs(got - double(x));
  for (const int step : {-1, 1}) {
    const auto other_bits = std::uint16_t(bits + step);
    if ((other_bits ^ bits) & 0x8000) continue;  // passed zero
    double other = meaning(other_bits, exponent_bits, fraction_bits);
    if (std::isinf(other)) other = std::copysign(std::ldexp(1, 1 << (exponent_bits - 1)), other);
    const double other_error = std::abs(other - double(x));
    if (other_error < error || (other_error == error && bits % 2 == 1)) return false;
  }
  return true;
}

template <class T>
void check_format(int exponent_bits, int fraction_bits) {
  int wrong = 0;
  for (int i = 0; i < 0x10000; ++i) {
    const auto bits = std::uint16_t(i);
    const double want = meaning(bits, exponent_bits, fraction_bits), got = double(float(T::from_bits(bits)));
    if (std::isnan(want)) {
      wrong += !std::isnan(got) || !std::isnan(float(T(float(got))));
      continue;
    }
    wrong += got != want || std::signbit(got) != std::signbit(want);
    wrong += T(float(got)).bits != bits;
    if (std::isinf(want)) continue;
    // Just beside, halfway to the next, and just beside that.
    const double next = meaning(std::uint16_t(bits + 1), exponent_bits, fraction_bits);
    if (!std::isfinite(next)) continue;
    const auto middle = float((want + next) / 2);
    for (const float x : {std::nextafterf(float(want), INFINITY), std::nextafterf(float(want), -INFINITY), middle,
                          std::nextafterf(middle, INFINITY), std::nextafterf(middle, -INFINITY)})
      wrong += !is_nearest_even<T>(x, T(x).bits, exponent_bits, fraction_bits);
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("16-bit floats are what their formats say, and conversion rounds to nearest even", "[S116][S117][S118]") {
  check_format<Half>(5, 10);
  check_format<BFloat16>(8, 7);
}

TEST_CASE("bfloat16 rounds where truncation would differ", "[S116]") {
  CHECK(BFloat16(1.005f).bits == 0x3f81);
  CHECK(float(BFloat16(1.005f)) == 1.0078125f);
  CHECK(float(BFloat16(1.00390625f)) == 1.0f);
  CHECK(float(BFloat16(1.01171875f)) == 1.015625f);
  CHECK(std::isnan(float(BFloat16(NAN))));
  CHECK(std::isinf(float(BFloat16(3.4e38f))));
  CHECK(float(std::numeric_limits<BFloat16>::max()) == Approx(3.3895e38).epsilon(1e-4));
  CHECK(float(std::numeric_limits<BFloat16>::epsilon()) == 0x1p-7f);
}

TEST_CASE("float16 has the range of its format", "[S117]") {
  CHECK(float(Half(65504.0f)) == 65504.0f);
  CHECK(float(Half(65519.0f)) == 65504.0f);
  CHECK(std::isinf(float(Half(65520.0f))));
  CHECK(std::isinf(float(Half(-INFINITY))));
  CHECK(std::isnan(float(Half(NAN))));
  CHECK(float(Half(0x1p-25f)) == 0.0f);
  CHECK(float(Half(0x1.8p-25f)) == 0x1p-24f);
  CHECK(float(std::numeric_limits<Half>::epsilon()) == 0x1p-10f);
  CHECK(std::signbit(float(Half(-0.0f))));
  static_assert(float(Half(1.5f)) == 1.5f);
}

TEST_CASE("the bits of one", "[S118]") {
  CHECK(Half(1.0f).bits == 0x3c00);
  CHECK(BFloat16(1.0f).bits == 0x3f80);
  CHECK(std::bit_cast<std::uint32_t>(1.0f) == 0x3f800000u);
}

TEST_CASE("promote_types is PyTorch's table for every pair", "[S119][S120][S124]") {
  // Rows and columns: bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64.
  constexpr DType b1 = bool_, u1 = uint8, i1 = int8, i2 = int16, i4 = int32, i8 = int64, f2 = float16, bf = bfloat16,
                  f4 = float32, f8 = float64;
  constexpr DType kTable[10][10] = {{b1, u1, i1, i2, i4, i8, f2, bf, f4, f8}, {u1, u1, i2, i2, i4, i8, f2, bf, f4, f8},
                                    {i1, i2, i1, i2, i4, i8, f2, bf, f4, f8}, {i2, i2, i2, i2, i4, i8, f2, bf, f4, f8},
                                    {i4, i4, i4, i4, i4, i8, f2, bf, f4, f8}, {i8, i8, i8, i8, i8, i8, f2, bf, f4, f8},
                                    {f2, f2, f2, f2, f2, f2, f2, f4, f4, f8}, {bf, bf, bf, bf, bf, bf, f4, bf, f4, f8},
                                    {f4, f4, f4, f4, f4, f4, f4, f4, f4, f8}, {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8}};
  static_assert(promote_types(float16, bfloat16) == float32 && promote_types(uint8, int8) == int16);
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 10; ++j) {
      INFO(name_of(kAllDTypes[i]) << " with " << name_of(kAllDTypes[j]));
      CHECK(promote_types(kAllDTypes[i], kAllDTypes[j]) == kTable[i][j]);
      CHECK(result_type(ones({1}, kAllDTypes[i]), ones({1}, kAllDTypes[j])) == kTable[i][j]);
    }
}

TEST_CASE("operands with dimensions count before 0-dim tensors and numbers, also in 16 bits", "[S119][S120]") {
  CHECK(result_type(ones({2}, float16), ones({}, float64)) == float16);
  CHECK(result_type(ones({2}, bfloat16), ones({}, float16)) == bfloat16);
  CHECK(result_type(ones({2}, int8), ones({}, float16)) == float16);
  CHECK(result_type(ones({}, float16), ones({}, bfloat16)) == float32);
  CHECK(result_type(ones({2}, bfloat16), 1.5) == bfloat16);
  CHECK(result_type(ones({2}, int16), 1.5) == float32);
  CHECK(result_type(ones({2}, int16), 3) == int16);
  CHECK(result_type(ones({2}, uint8), ones({}, int8)) == uint8);
}

TEST_CASE("numbers are checked against the range of small dtypes") {
  CHECK_THROWS_AS(full({1}, 128, int8), ValueError);
  CHECK_THROWS_AS(full({1}, 40000, int16), ValueError);
  CHECK_THROWS_AS(full({1}, 1e6, float16), ValueError);
  CHECK(full({}, -128, int8).item<int>() == -128);
  CHECK(full({}, 1e6, bfloat16).item<double>() == Approx(1e6).epsilon(0.01));
  CHECK(std::isinf(full({}, kInfinity, float16).item<float>()));
}
