// Device-side helpers and the launcher, for nvcc and for the emulator.
#pragma once
#include <cstdint>

#include "device.h"

// A static shared array: TAPER_SHARED(float, tile, [32][33]);
#ifdef __CUEMU__
#define TAPER_SHARED(T, name, dims) \
  static char name##_key;           \
  T(&name) dims = *static_cast<T(*) dims>(cuemu::static_shared(&name##_key, sizeof(T dims), #name))
#define TAPER_DYNAMIC_SHARED(T, name) T* name = static_cast<T*>(cuemu::dynamic_shared())
#else
#define TAPER_SHARED(T, name, dims) __shared__ __align__(32) T name dims
#define TAPER_DYNAMIC_SHARED(T, name)                         \
  extern __shared__ __align__(16) unsigned char name##_raw[]; \
  T* name = reinterpret_cast<T*>(name##_raw)
#endif

namespace self_test {
template <class... P, class... A>
void launch(dim3 grid, dim3 block, std::size_t smem, void (*kernel)(P...), A&&... args) {
  cudaLaunchConfig_t c{};
  c.gridDim = grid;
  c.blockDim = block;
  c.dynamicSmemBytes = smem;
  c.stream = device().stream;
  check(cudaLaunchKernelEx(&c, kernel, static_cast<P>(args)...), "kernel launch");
}
inline unsigned sm_count() {
  static int n = [] {
    int v;
    check(cudaDeviceGetAttribute(&v, cudaDevAttrMultiProcessorCount, 0), "attribute");
    return v;
  }();
  return unsigned(n);
}
inline unsigned blocks_for(std::size_t n, unsigned per_block) {  // for grid-stride loops
  std::size_t b = (n + per_block - 1) / per_block;
  return unsigned(b < 1 ? 1 : b < sm_count() * 16 ? b : sm_count() * 16);
}

__device__ __forceinline__ float warp_sum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}
__device__ __forceinline__ float warp_max(float v) {
  for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}
// The whole block gets the result; scratch is 32 floats of the kernel's shared memory.
__device__ __forceinline__ float block_sum(float v, float* scratch) {
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < blockDim.x / 32 ? scratch[threadIdx.x % 32] : 0.0f;
  v = warp_sum(v);
  __syncthreads();
  return v;
}
__device__ __forceinline__ float block_max(float v, float* scratch) {
  v = warp_max(v);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < blockDim.x / 32 ? scratch[threadIdx.x % 32] : -INFINITY;
  v = warp_max(v);
  __syncthreads();
  return v;
}
}  // namespace self_test
