#pragma once
// One dim brought to another size: entry i of the result is the sum of weights[t] times entry places[t], for t from
// begins[i] to begins[i + 1].
#include <cstdint>

#include "cuda/fast_div.h"
#include "cuda/queue.h"

namespace taper::cuda_kernels {

/// x [outer, in, inner] -> [outer, out, inner], contiguous.
struct ResampleShape {
  std::uint32_t count;  // elements of the result
  std::int64_t in;
  FastDiv out, inner;
};
template <class T>
void resample_dim(const Queue& queue, const ResampleShape& shape, const std::int64_t* begins,
                  const std::int64_t* places, const T* weights, const T* x, T* y);

}  // namespace taper::cuda_kernels
