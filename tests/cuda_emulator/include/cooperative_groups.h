// cuemu: the basics of cooperative groups (thread_block and tiles of a warp).  The real header
// costs nvcc about 5 s of CPU a file, so product code is better off with the plain intrinsics.
#pragma once
#include "cuda_runtime.h"
namespace cooperative_groups {
struct thread_block {
  void sync(CUEMU_SITE) const { __syncthreads(site_file, site_line); }
  unsigned thread_rank() const { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
  unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  dim3 group_index() const { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
};
inline thread_block this_thread_block() { return {}; }
template <unsigned N>
struct thread_block_tile {
  static_assert(N <= 32 && (N & (N - 1)) == 0);
  unsigned thread_rank() const { return cuemu::lane() % N; }
  unsigned meta_group_rank() const { return this_thread_block().thread_rank() / N; }
  unsigned meta_group_size() const { return this_thread_block().size() / N; }
  static constexpr unsigned size() { return N; }
  unsigned mask() const { return (N == 32 ? ~0u : (1u << N) - 1) << (cuemu::lane() / N * N); }
  void sync(CUEMU_SITE) const { __syncwarp(mask(), site_file, site_line); }
  template <class T>
  T shfl(T v, int src, CUEMU_SITE) const {
    return __shfl_sync(mask(), v, src, N, site_file, site_line);
  }
  template <class T>
  T shfl_down(T v, unsigned d, CUEMU_SITE) const {
    return __shfl_down_sync(mask(), v, d, N, site_file, site_line);
  }
  template <class T>
  T shfl_up(T v, unsigned d, CUEMU_SITE) const {
    return __shfl_up_sync(mask(), v, d, N, site_file, site_line);
  }
  template <class T>
  T shfl_xor(T v, unsigned x, CUEMU_SITE) const {
    return __shfl_xor_sync(mask(), v, int(x), N, site_file, site_line);
  }
  unsigned ballot(int p, CUEMU_SITE) const {
    return __ballot_sync(mask(), p, site_file, site_line) >> (cuemu::lane() / N * N);
  }
  bool any(int p, CUEMU_SITE) const { return ballot(p, site_file, site_line) != 0; }
  bool all(int p, CUEMU_SITE) const { return ballot(!p, site_file, site_line) == 0; }
};
template <unsigned N>
thread_block_tile<N> tiled_partition(const thread_block&) {
  return {};
}
}  // namespace cooperative_groups
