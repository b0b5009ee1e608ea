#pragma once
#include "cuda/positions.h"
#include "findings.h"
#include "walks.h"

namespace taper::cuda_kernels {

/// `index`, int32 or int64, as positions along a dim of this size.
inline Positions positions_in(const OnDevice& on, Watcher watcher, const Tensor& index, std::int64_t size,
                              std::int64_t dim, bool from_end) {
  return {index.impl()->data(), index.dtype() == int32, from_end, size, watch(on, watcher, dim)};
}

/// Positions that are not checked again.
inline Positions trusted_positions(const Tensor& index) {
  return {index.impl()->data(), index.dtype() == int32, false, std::numeric_limits<std::int64_t>::max(), {}};
}

}  // namespace taper::cuda_kernels
