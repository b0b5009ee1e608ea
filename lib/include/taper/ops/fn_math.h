#pragma once
// exp, log and their kin for one element. The float versions for the CPU have no branches and no calls, so that a loop
// over them becomes vector instructions; they are right to 1 or 2 units in the last place over the whole range.
#include <taper/host_device.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace taper::fn {

#if !defined(__CUDA_ARCH__)
namespace host {

inline float fma(float a, float b, float c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
inline std::int32_t bits(float x) { return __builtin_bit_cast(std::int32_t, x); }
inline float from_bits(std::int32_t b) { return __builtin_bit_cast(float, b); }

// ln 2 in two parts: n * kLn2High is exact for |n| < 2^10.
inline constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;

/// x = n ln 2 + r with |r| <= ln 2 / 2. For |x| < 200; NaN stays NaN in r, and n is then any number.
struct Reduced {
  float r;
  std::int32_t n;
};
inline Reduced reduce(float x) {
  // Adding 1.5 * 2^23 leaves the nearest integer in the low bits.
  constexpr float kRound = 0x1.8p23f;
  const float shifted = fma(x, 0x1.715476p0f, kRound);
  const float n = shifted - kRound;
  const float r = fma(n, -kLn2Low, fma(n, -kLn2High, x));
  return {r, std::int32_t(std::uint32_t(bits(shifted)) - std::uint32_t(bits(kRound)))};
}
/// e^r - 1 for |r| <= ln 2 / 2: r + r^2 q(r), q interpolating at Chebyshev nodes.
inline float expm1_near_zero(float r) {
  float q = 0.00139262504f;
  q = fma(q, r, 0.00836323295f);
  q = fma(q, r, 0.0416665524f);
  q = fma(q, r, 0.166665763f);
  q = fma(q, r, 0.5f);
  return fma(q * r, r, r);
}
/// 2^n for -126 <= n <= 127.
inline float power_of_two(std::int32_t n) { return from_bits(std::int32_t((std::uint32_t(n) + 127u) << 23)); }

inline float exp(float x) {
  const float above = x < -105.f ? -105.f : x;
  const Reduced s = reduce(above > 90.f ? 90.f : above);
  // In two steps, because 2^n itself may be out of range where the result is not.
  const std::int32_t half = s.n >> 1;
  return (1.f + expm1_near_zero(s.r)) * power_of_two(half) *
         power_of_two(std::int32_t(std::uint32_t(s.n) - std::uint32_t(half)));
}

/// e^x - 1 for -40 <= x <= 80, NaN included.
inline float expm1_in_range(float x) {
  const Reduced s = reduce(x);
  const float scale = power_of_two(s.n);
  return fma(expm1_near_zero(s.r), scale, scale - 1.f);
}

inline float expm1(float x) {
  const float above = x < -40.f ? -40.f : x;
  const float in_range = expm1_in_range(above > 80.f ? 80.f : above);
  return x > 80.f ? exp(x) : in_range;
}

inline float tanh(float x) {
  // tanh x = (e^2x - 1) / (e^2x + 1); from 2x = 20 on it is 1 to float precision.
  const float size = __builtin_fabsf(x);
  const float e = expm1_in_range(size > 10.f ? 20.f : 2.f * size);
  return __builtin_copysignf(e / (e + 2.f), x);
}

inline float log(float x) {
  const bool tiny = x < 0x1p-126f;
  const std::int32_t b = bits(tiny ? x * 0x1p23f : x);
  // The fraction in [sqrt 1/2, sqrt 2) and the exponent that goes with it.
  constexpr std::int32_t kSqrtHalf = 0x3f3504f3;
  const std::int32_t exponent = std::int32_t(std::uint32_t(b) - std::uint32_t(kSqrtHalf)) >> 23;
  const float f = from_bits(std::int32_t(std::uint32_t(b) - (std::uint32_t(exponent) << 23))) - 1.f;
  const float e = float(exponent) - (tiny ? 23.f : 0.f);
  // log(1 + f) = f - f^2 / 2 + f^3 p(f), p interpolating at Chebyshev nodes.
  float p = 0.0697161183f;
  p = fma(p, f, -0.114797339f);
  p = fma(p, f, 0.116854198f);
  p = fma(p, f, -0.124256872f);
  p = fma(p, f, 0.142490581f);
  p = fma(p, f, -0.166678026f);
  p = fma(p, f, 0.200007156f);
  p = fma(p, f, -0.24999997f);
  p = fma(p, f, 0.333333313f);
  const float f2 = f * f;
  const float tail = fma(f2 * f, p, fma(f2, -0.5f, e * kLn2Low));
  const float finite = fma(e, kLn2High, f + tail);
  const float positive = x > 0x1.fffffep127f ? x : finite;
  const float at_most_zero = x == 0.f ? -__builtin_inff() : __builtin_nanf("");
  return x > 0.f ? positive : at_most_zero;
}

/// A series in x^2 below 1; above, 1 - e^-p(x) with p interpolating -log erfc x. From 4 on it is 1.
inline float erf(float x) {
  const float x2 = x * x;
  float series = 7.87587487e-05f;
  series = fma(series, x2, -8.01686430e-04f);
  series = fma(series, x2, 5.18908724e-03f);
  series = fma(series, x2, -2.68542115e-02f);
  series = fma(series, x2, 0.112835944f);
  series = fma(series, x2, -0.37612626f);
  series = fma(series, x2, 1.12837911f);
  const float size = __builtin_fabsf(x), a = size > 4.f ? 4.f : size;
  float p = -1.64266797e-06f;
  p = fma(p, a, 4.61647869e-05f);
  p = fma(p, a, -5.97677252e-04f);
  p = fma(p, a, 4.76350961e-03f);
  p = fma(p, a, -2.64316425e-02f);
  p = fma(p, a, 0.110097244f);
  p = fma(p, a, 0.631809533f);
  p = fma(p, a, 1.13024187f);
  p = fma(p, a, -3.21866246e-04f);
  return size < 1.f ? x * series : __builtin_copysignf(-expm1_in_range(-p), x);
}

}  // namespace host
#endif

template <class T>
inline constexpr bool is_float = std::is_same_v<T, float>;

// On the device, and for double, the standard functions.
template <class T>
TAPER_HD T exp_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::exp(x);
#endif
  return std::exp(x);
}
template <class T>
TAPER_HD T log_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::log(x);
#endif
  return std::log(x);
}
template <class T>
TAPER_HD T tanh_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::tanh(x);
#endif
  return std::tanh(x);
}
template <class T>
TAPER_HD T erf_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::erf(x);
#endif
  return std::erf(x);
}
template <class T>
TAPER_HD T expm1_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::expm1(x);
#endif
  return std::expm1(x);
}

}  // namespace taper::fn
