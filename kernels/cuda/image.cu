#include "image.h"
#include "launch.cuh"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;

__global__ void scaled_planes(const ScaledPlanes s, const std::uint8_t* x, float* y) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < s.count; i += gridDim.x * blockDim.x) {
    const std::uint32_t row = s.plane.divide(i), picture = s.here.divide(row), c = row - picture * s.here.divisor;
    const std::uint32_t at = (picture * s.channels + s.first + c) * s.plane.divisor + i - row * s.plane.divisor;
    y[at] = float(x[at]) * s.factor[c] + s.shift[c];
  }
}

}  // namespace

void scale_planes(const Queue& queue, const ScaledPlanes& s, const std::uint8_t* x, float* y) {
  launch(queue, "normalize_images", blocks_for(queue, s.count, kThreads * 4), kThreads, 0, scaled_planes, s, x, y);
}

}  // namespace taper::cuda_kernels
