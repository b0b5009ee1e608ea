#pragma once
#include <cstdint>

#include "cuda/fast_div.h"
#include "cuda/queue.h"

namespace taper::cuda_kernels {

/// Some channels of pictures [..., channels, plane], less than 2^31 bytes, and what they are scaled by.
struct ScaledPlanes {
  static constexpr std::uint32_t kMost = 32;
  FastDiv plane, here;            // pixels, channels of this launch
  std::uint32_t channels, first;  // of a picture; the first one of this launch
  std::uint32_t count;            // pixels of this launch
  float factor[kMost], shift[kMost];
};
/// y = x factor + shift.
void scale_planes(const Queue& queue, const ScaledPlanes& s, const std::uint8_t* x, float* y);

}  // namespace taper::cuda_kernels
