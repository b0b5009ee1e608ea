#pragma once
#include <cstdint>

#include "cuda/fast_div.h"

namespace taper::cuda_kernels {

/// A tensor of images with less than 2^31 elements, and how an element is found in it.
struct Images {
  FastDiv c, h, w;
  std::uint32_t count;  // elements
  bool channels_last;

  static Images of(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w, bool channels_last) {
    return {FastDiv::by(std::uint32_t(c)), FastDiv::by(std::uint32_t(h)), FastDiv::by(std::uint32_t(w)),
            std::uint32_t(n * c * h * w), channels_last};
  }
};

}  // namespace taper::cuda_kernels
