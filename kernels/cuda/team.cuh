#pragma once
// Threads that work on one line of numbers together: one alone, a warp, or a block.
#include "launch.cuh"

namespace taper::cuda_kernels {

inline constexpr unsigned kTeamThreads = 256;  // of a block

template <unsigned threads>
struct Team {
  static constexpr unsigned size = threads;
  static_assert(threads == 1 || threads == kWarp || threads == kTeamThreads);

  /// The line to begin with, and how many lines further the next one is.
  static __device__ __forceinline__ std::int64_t first() {
    return (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / threads;
  }
  static __device__ __forceinline__ std::int64_t step() { return std::int64_t(gridDim.x) * blockDim.x / threads; }
  static __device__ __forceinline__ unsigned rank() { return threadIdx.x % threads; }

  /// Combines the values of the team; all of it get the result. `scratch` as for block_combine.
  template <class T, class Both>
  static __device__ __forceinline__ T combine(T value, T* scratch, const Both& both) {
    if constexpr (threads == 1)
      return value;
    else if constexpr (threads == kWarp)
      return warp_combine(value, both);
    else
      return block_combine(value, scratch, both);
  }
  static __device__ __forceinline__ double sum(double value, double* scratch) {
    return combine(value, scratch, [](double a, double b) { return a + b; });
  }
};

/// Calls launch(team) for lines of n elements that are `inner` apart: neighbouring threads should read neighbouring
/// elements, and there should be enough of them.
template <class Launch>
void with_team(std::int64_t lines, std::int64_t n, std::int64_t inner, const Launch& start) {
  constexpr std::int64_t kLong = 1024, kFew = 2048;
  if (n > kLong && (inner == 1 || lines < kFew))
    start(Team<kTeamThreads>{});
  else if (inner == 1)
    start(Team<kWarp>{});
  else
    start(Team<1>{});
}
template <unsigned threads>
unsigned blocks_for_team(const Queue& queue, std::int64_t lines, Team<threads>) {
  return blocks_for(queue, std::uint64_t(lines), kTeamThreads / threads);
}

/// Where a line of [outer, n, inner] begins.
__device__ __forceinline__ std::int64_t line_start(std::int64_t line, std::int64_t n, std::int64_t inner) {
  return inner == 1 ? line * n : line / inner * n * inner + line % inner;
}

}  // namespace taper::cuda_kernels
