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

/// x = 2^exponent (1 + f), 1 + f in [sqrt 1/2, sqrt 2), and log(1 + f) = f + tail. For finite x > 0.
struct Logarithm {
  float exponent, f, tail;
};
inline Logarithm logarithm(float x) {
  const bool tiny = x < 0x1p-126f;
  const std::int32_t b = bits(tiny ? x * 0x1p23f : x);
  constexpr std::int32_t kSqrtHalf = 0x3f3504f3;
  const std::int32_t exponent = std::int32_t(std::uint32_t(b) - std::uint32_t(kSqrtHalf)) >> 23;
  const float f = from_bits(std::int32_t(std::uint32_t(b) - (std::uint32_t(exponent) << 23))) - 1.f;
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
  return {float(exponent) - (tiny ? 23.f : 0.f), f, fma(f2 * f, p, f2 * -0.5f)};
}
/// `finite` for finite x > 0, and what every logarithm is elsewhere.
inline float log_at_ends(float x, float finite) {
  const float positive = x > 0x1.fffffep127f ? x : finite;
  const float at_most_zero = x == 0.f ? -__builtin_inff() : __builtin_nanf("");
  return x > 0.f ? positive : at_most_zero;
}
inline float log(float x) {
  const Logarithm s = logarithm(x);
  return log_at_ends(x, fma(s.exponent, kLn2High, s.f + fma(s.exponent, kLn2Low, s.tail)));
}
/// high + low is one number in the log's base for each e; powers of 2 have no rounding error.
inline float log2(float x) {
  constexpr float high = 0x1.715476p+0f, low = 0x1.4ae0cp-26f;  // 1 / ln 2
  const Logarithm s = logarithm(x);
  return log_at_ends(x, s.exponent + fma(s.f, high, fma(s.tail, high, s.f * low)));
}
inline float log10(float x) {
  constexpr float high = 0x1.bcb7b2p-2f, low = -0x1.5b235ep-27f;              // 1 / ln 10
  constexpr float log10_2_high = 0x1.344p-2f, log10_2_low = 0x1.3509f8p-18f;  // times an exponent: exact, and the rest
  const Logarithm s = logarithm(x);
  const float rest = fma(s.f, high, fma(s.tail, high, fma(s.f, low, s.exponent * log10_2_low)));
  return log_at_ends(x, fma(s.exponent, log10_2_high, rest));
}
/// By log(1 + x) = log u + (x - (u - 1)) / u, u being 1 + x rounded.
inline float log1p(float x) {
  const float u = 1.f + x, rounding = x < 1.f ? x - (u - 1.f) : 1.f - (u - x);
  const Logarithm s = logarithm(u);
  const float tail = s.tail + rounding / u;
  const float finite = fma(s.exponent, kLn2High, s.f + fma(s.exponent, kLn2Low, tail));
  const float y = log_at_ends(u, finite);
  return x == 0.f ? x : y;
}
/// x = n + r with |r| <= 1/2: 2^x = 2^n e^(r ln 2).
inline float exp2(float x) {
  const float above = x < -152.f ? -152.f : x, inside = above > 130.f ? 130.f : above;
  constexpr float kRound = 0x1.8p23f;
  const float shifted = inside + kRound, r = inside - (shifted - kRound);
  const std::int32_t n = std::int32_t(std::uint32_t(bits(shifted)) - std::uint32_t(bits(kRound))), half = n >> 1;
  const float e = expm1_near_zero(fma(r, 0x1.62e43p-1f, r * -0x1.05c61p-29f));
  return (1.f + e) * power_of_two(half) * power_of_two(std::int32_t(std::uint32_t(n) - std::uint32_t(half)));
}
/// From e^(x/2), which overflows nowhere that the result does not.
inline float cosh(float x) {
  const float e = exp(0.5f * __builtin_fabsf(x)), square = e * e;
  return fma(0.5f * e, e, 0.5f / square);
}
inline float sinh(float x) {
  const float size = __builtin_fabsf(x), e = exp(0.5f * size);
  const float m = expm1_in_range(size > 1.f ? 1.f : size);
  const float large = fma(0.5f * e, e, -0.5f / (e * e)), small = 0.5f * (m + m / (m + 1.f));
  return __builtin_copysignf(size > 1.f ? large : small, x);
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
TAPER_HD T log2_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::log2(x);
#endif
  return std::log2(x);
}
template <class T>
TAPER_HD T log10_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::log10(x);
#endif
  return std::log10(x);
}
template <class T>
TAPER_HD T log1p_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::log1p(x);
#endif
  return std::log1p(x);
}
template <class T>
TAPER_HD T exp2_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::exp2(x);
#endif
  return std::exp2(x);
}
template <class T>
TAPER_HD T sinh_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::sinh(x);
#endif
  return std::sinh(x);
}
template <class T>
TAPER_HD T cosh_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::cosh(x);
#endif
  return std::cosh(x);
}
template <class T>
TAPER_HD T expm1_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::expm1(x);
#endif
  return std::expm1(x);
}

}  // namespace taper::fn
