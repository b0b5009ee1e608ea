#pragma once
#include "images.h"
#include "launch.cuh"

namespace taper::cuda_kernels {

struct Pixel {
  std::uint32_t n, c;
  std::int32_t y, x;
};
__device__ __forceinline__ Pixel pixel_of(const Images& t, std::uint32_t i) {
  Pixel p;
  if (t.channels_last) {
    const std::uint32_t column = t.c.divide(i), row = t.w.divide(column);
    p.c = i - column * t.c.divisor;
    p.x = std::int32_t(column - row * t.w.divisor);
    p.n = t.h.divide(row);
    p.y = std::int32_t(row - p.n * t.h.divisor);
  } else {
    const std::uint32_t row = t.w.divide(i), plane = t.h.divide(row);
    p.x = std::int32_t(i - row * t.w.divisor);
    p.y = std::int32_t(row - plane * t.h.divisor);
    p.n = t.c.divide(plane);
    p.c = plane - p.n * t.c.divisor;
  }
  return p;
}
/// The image of one channel: where it starts, and how far apart rows and columns are.
struct Plane {
  std::uint32_t start, row, column;
  __device__ __forceinline__ std::uint32_t at(std::int32_t y, std::int32_t x) const {
    return start + std::uint32_t(y) * row + std::uint32_t(x) * column;
  }
};
__device__ __forceinline__ Plane plane_of(const Images& t, const Pixel& p) {
  const std::uint32_t size = t.h.divisor * t.w.divisor, c = t.c.divisor;
  if (t.channels_last) return {p.n * size * c + p.c, t.w.divisor * c, c};
  return {(p.n * c + p.c) * size, t.w.divisor, 1};
}

}  // namespace taper::cuda_kernels
