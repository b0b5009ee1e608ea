// cuemu: __nv_bfloat16 with round-to-nearest-even conversions; arithmetic goes through float.
#pragma once
#include "cuda_runtime.h"
struct __nv_bfloat16 {
  uint16_t x;
  __nv_bfloat16() = default;
  __nv_bfloat16(float f) {
    uint32_t u = __float_as_uint(f);
    x = (u & 0x7fffffffu) > 0x7f800000u ? 0x7fff : uint16_t((u + 0x7fffu + (u >> 16 & 1)) >> 16);
  }
  operator float() const { return __uint_as_float(uint32_t(x) << 16); }
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
inline __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
inline __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
inline float __bfloat162float(__nv_bfloat16 h) { return float(h); }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 f) { return {f.x, f.y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 h) { return {float(h.x), float(h.y)}; }
