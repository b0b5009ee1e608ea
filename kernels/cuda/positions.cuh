#pragma once
#include "launch.cuh"
#include "positions.h"

namespace taper::cuda_kernels {
namespace {

__device__ __forceinline__ void tell(const Watch& watch, std::int64_t position, double number, std::int64_t size) {
  if (watch.taken != nullptr && atomicExch(watch.taken, 1u) == 0)
    *watch.finding = {position, number, size, watch.dim, watch.watcher, 1};
}

/// The position at an offset, counted from the start of the dim; -1 if it is out of range.
__device__ __forceinline__ std::int64_t position_at(const Positions& p, std::int64_t at) {
  const std::int64_t given =
      p.narrow ? static_cast<const std::int32_t*>(p.index)[at] : static_cast<const std::int64_t*>(p.index)[at];
  const std::int64_t position = given < 0 && p.from_end ? given + p.size : given;
  if (position >= 0 && position < p.size) return position;
  tell(p.watch, given, 0, p.size);
  return -1;
}

}  // namespace
}  // namespace taper::cuda_kernels
