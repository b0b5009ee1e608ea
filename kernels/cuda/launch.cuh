#pragma once
// What every .cu file starts from: launching, shared memory, sums over warps and blocks, division by multiplication.
// docs/cuda.md has the rules for kernels.
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "queue.h"

// A static shared array, TAPER_SHARED(float, tile, [32][33]), and the dynamic one. The emulator has its own, since no
// attribute survives on a static variable of a template with g++ 12.
#ifdef __CUEMU__
#define TAPER_SHARED(T, name, dims) \
  static char name##_key;           \
  T(&name) dims = *static_cast<T(*) dims>(cuemu::static_shared(&name##_key, sizeof(T dims), #name))
#define TAPER_DYNAMIC_SHARED(T, name) T* name = static_cast<T*>(cuemu::dynamic_shared())
#else
#define TAPER_SHARED(T, name, dims) __shared__ __align__(32) T name dims
#define TAPER_DYNAMIC_SHARED(T, name)                                 \
  extern __shared__ __align__(16) unsigned char dynamic_shared_raw[]; \
  T* name = reinterpret_cast<T*>(dynamic_shared_raw)
#endif

namespace taper::cuda_kernels {

/// Starts a kernel. Arguments are converted to the kernel's own types, and copied.
template <class... P, class... A>
void launch(const Queue& queue, const char* name, dim3 grid, dim3 block, unsigned shared_bytes, void (*kernel)(P...),
            const A&... args) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(queue.stream);
  check_launch(int(cudaLaunchKernelEx(&config, kernel, static_cast<P>(args)...)), name);
}

/// Blocks for n items of which a block handles `per_block` at a time: enough to fill the device, not more. Kernels loop
/// with a stride of the whole grid.
inline unsigned blocks_for(const Queue& queue, std::uint64_t n, unsigned per_block) {
  const std::uint64_t wanted = (n + per_block - 1) / per_block, most = std::uint64_t(queue.multi_processors) * 16;
  return unsigned(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

inline constexpr unsigned kWarp = 32, kAllLanes = 0xffffffffu;

/// The value of the lane whose number differs by `mask`, whatever its type: moved in words.
template <class T>
__device__ __forceinline__ T shuffle_xor(T value, unsigned mask) {
  using Word = std::conditional_t<sizeof(T) % 8 == 0, unsigned long long, unsigned>;
  constexpr unsigned kWords = (sizeof(T) + sizeof(Word) - 1) / sizeof(Word);
  Word word[kWords] = {};
  memcpy(word, &value, sizeof value);
  for (unsigned i = 0; i < kWords; ++i) word[i] = __shfl_xor_sync(kAllLanes, word[i], int(mask));
  memcpy(&value, word, sizeof value);
  return value;
}

/// Combines the values of each `lanes` neighbours in a warp, a power of 2; all of them get the result. `Both` is
/// associative; the order is fixed.
template <class T, class Both>
__device__ __forceinline__ T warp_combine(T value, const Both& both, unsigned lanes = kWarp) {
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) value = both(value, shuffle_xor(value, distance));
  return value;
}

/// Combines the values of a block of 32, 64, ... or 1024 threads; all of them get the result. `scratch` is shared
/// memory for kWarp values, free again when the call returns.
template <class T, class Both>
__device__ __forceinline__ T block_combine(T value, T* scratch, const Both& both) {
  value = warp_combine(value, both);
  if (threadIdx.x % kWarp == 0) scratch[threadIdx.x / kWarp] = value;
  __syncthreads();
  const unsigned warps = blockDim.x / kWarp;
  value = warp_combine(scratch[threadIdx.x % warps], both, warps);
  __syncthreads();
  return value;
}

}  // namespace taper::cuda_kernels
