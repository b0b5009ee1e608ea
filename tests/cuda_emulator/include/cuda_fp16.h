// cuemu: __half on top of the compiler's _Float16.
#pragma once
#include "cuda_runtime.h"
struct __half {
  _Float16 v;
  __half() = default;
  __half(float f) : v(_Float16(f)) {}
  operator float() const { return float(v); }
};
struct alignas(4) __half2 {
  __half x, y;
};
using half = __half;
using half2 = __half2;
inline __half __float2half(float f) { return __half(f); }
inline __half __float2half_rn(float f) { return __half(f); }
inline float __half2float(__half h) { return float(h); }
inline __half2 __floats2half2_rn(float a, float b) { return {a, b}; }
inline float2 __half22float2(__half2 h) { return {float(h.x), float(h.y)}; }
