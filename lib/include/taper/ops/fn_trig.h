#pragma once
// sin, atan and their kin for one element. As in <taper/ops/fn_math.h>: the float versions for the CPU have no branches
// and no calls, and are right to 3 units in the last place (tan: 4).
#include <taper/ops/fn_math.h>

namespace taper::fn {

#if !defined(__CUDA_ARCH__)
namespace host {

/// Whether sin, cos and tan are computed here: for angles that quarter turns can be taken off exactly. NaN is.
inline bool is_small_angle(float x) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return !(__builtin_fabsf(x) > 4e6f);
#else
  return x != x;
#endif
}

/// x is `turns` quarter turns and r, with |r| <= pi / 4 and its sine and cosine.
struct Angle {
  std::uint32_t turns;
  float sin, cos;
};
inline Angle angle_of(float x) {
  constexpr float kRound = 0x1.8p23f;
  const float shifted = fma(x, 0x1.45f306p-1f, kRound), n = shifted - kRound;
  // pi / 2 in three parts: the first difference is exact, the others are of the size of what they correct.
  const float r = fma(n, 0x1.ee59dap-50f, fma(n, 0x1.777a5cp-25f, fma(n, -0x1.921fb6p+0f, x)));
  const float r2 = r * r;
  float s = 2.72493141e-06f, c = -2.73004482e-07f;  // interpolating at Chebyshev nodes
  s = fma(s, r2, -0.00019840082f), c = fma(c, r2, 2.48005964e-05f);
  s = fma(s, r2, 0.00833333187f), c = fma(c, r2, -0.00138888877f);
  s = fma(s, r2, -0.166666667f), c = fma(c, r2, 0.0416666667f);
  return {std::uint32_t(bits(shifted)), fma(s * r2, r, r), fma(c * r2, r2, fma(r2, -0.5f, 1.f))};
}
/// x, negated if the lowest bit but one is set.
inline float negated_if(std::uint32_t bit_1, float x) {
  return from_bits(std::int32_t(std::uint32_t(bits(x)) ^ ((bit_1 & 2u) << 30)));
}
inline float small_sin(float x) {
  const Angle a = angle_of(x);
  const float y = negated_if(a.turns, a.turns & 1u ? a.cos : a.sin);
  return x == 0.f ? x : y;  // -0 stays
}
inline float small_cos(float x) {
  const Angle a = angle_of(x);
  return negated_if(a.turns + 1u, a.turns & 1u ? a.sin : a.cos);
}
inline float small_tan(float x) {
  const Angle a = angle_of(x);
  const bool odd = a.turns & 1u;
  const float y = (odd ? -a.cos : a.sin) / (odd ? a.sin : a.cos);
  return x == 0.f ? x : y;
}

/// atan x for 0 <= x <= 1.
inline float atan_to_1(float x) {
  const float x2 = x * x;
  float p = 0.00148869193f;  // interpolating at Chebyshev nodes
  p = fma(p, x2, -0.00914462973f);
  p = fma(p, x2, 0.0263050011f);
  p = fma(p, x2, -0.048960514f);
  p = fma(p, x2, 0.0703191425f);
  p = fma(p, x2, -0.0893182678f);
  p = fma(p, x2, 0.110882616f);
  p = fma(p, x2, -0.142840038f);
  p = fma(p, x2, 0.199999493f);
  p = fma(p, x2, -0.333333331f);
  return fma(p * x2, x, x);
}
inline constexpr float kPi = 0x1.921fb6p+1f, kHalfPi = 0x1.921fb6p+0f, kHalfPiLow = -0x1.777a5cp-25f;

inline float atan(float x) {
  const float size = __builtin_fabsf(x);
  const float a = atan_to_1(size > 1.f ? 1.f / size : size);
  return __builtin_copysignf(size > 1.f ? kHalfPi - (a - kHalfPiLow) : a, x);
}
inline float atan2(float y, float x) {
  const float height = __builtin_fabsf(y), width = __builtin_fabsf(x);
  const bool steep = height > width;
  const float longer = steep ? height : width, shorter = steep ? width : height;
  const float slope = shorter == longer ? (longer == 0.f ? 0.f : 1.f) : shorter / longer;  // also of two infinities
  float a = atan_to_1(slope);
  a = steep ? kHalfPi - (a - kHalfPiLow) : a;
  a = bits(x) < 0 ? kPi - (a - 2 * kHalfPiLow) : a;
  return (x != x) | (y != y) ? x + y : __builtin_copysignf(a, y);
}

/// (asin x - x) / x^3 of x^2, for |x| <= 1/2.
inline float asin_tail(float x2) {
  float p = 0.0336908473f;  // interpolating at Chebyshev nodes
  p = fma(p, x2, 0.0171492383f);
  p = fma(p, x2, 0.0311006628f);
  p = fma(p, x2, 0.0445994015f);
  p = fma(p, x2, 0.0750009454f);
  return fma(p, x2, 0.166666663f);
}
/// Above 1/2 by asin x = pi / 2 - 2 asin sqrt((1 - x) / 2).
inline float asin(float x) {
  const float size = __builtin_fabsf(x);
  const bool far = size > 0.5f;
  const float square = far ? fma(size, -0.5f, 0.5f) : x * x, root = far ? __builtin_sqrtf(square) : size;
  const float a = fma(asin_tail(square) * square, root, root);
  return __builtin_copysignf(far ? kHalfPi - (2.f * a - kHalfPiLow) : a, x);
}
inline float acos(float x) {
  const float size = __builtin_fabsf(x);
  const bool far = size > 0.5f;
  const float square = far ? fma(size, -0.5f, 0.5f) : x * x, root = far ? __builtin_sqrtf(square) : x;
  const float a = fma(asin_tail(square) * square, root, root);
  const float end = x > 0.f ? 2.f * a : kPi - (2.f * a - 2 * kHalfPiLow);
  return far ? end : kHalfPi - (a - kHalfPiLow);
}

}  // namespace host
#endif

template <class T>
TAPER_HD T atan_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::atan(x);
#endif
  return std::atan(x);
}
template <class T>
TAPER_HD T atan2_of(T y, T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::atan2(y, x);
#endif
  return std::atan2(y, x);
}
template <class T>
TAPER_HD T asin_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::asin(x);
#endif
  return std::asin(x);
}
template <class T>
TAPER_HD T acos_of(T x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (is_float<T>) return host::acos(x);
#endif
  return std::acos(x);
}

}  // namespace taper::fn
