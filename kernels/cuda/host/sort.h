#pragma once
// Sorted lines of keys, for whoever needs elements or positions in order.
#include <taper/tensor.h>

#include "device.h"

namespace taper::cuda_kernels {

struct SortedLines {
  Tensor keys;   // [lines, n], of int32 or int64 and unsigned to kernels; ascending in each line
  Tensor order;  // [lines, n] int32: where each was
  std::int64_t lines = 0, n = 0;
};
/// Sorts keys [lines, n] by their lowest bits. The keys' memory may be used on the way.
SortedLines sort_lines(const OnDevice& on, Tensor keys, std::int64_t lines, std::int64_t n, int bits);

}  // namespace taper::cuda_kernels
