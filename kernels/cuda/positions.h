#pragma once
// Positions along a dim, as kernels read them.
#include <cstdint>

#include "cuda/finding.h"

namespace taper::cuda_kernels {

struct Positions {
  const void* index;
  bool narrow;    // int32; else int64
  bool from_end;  // negative ones count from the end; else they are out of range
  std::int64_t size;
  Watch watch;  // nobody is told if `taken` is null
};

}  // namespace taper::cuda_kernels
