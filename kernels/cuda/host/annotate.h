#pragma once
// Tells a memory checker what the caching allocator does with memory that it owns. Only the emulator listens; for it,
// blocks that are neighbours get a gap between them, so that it sees an overrun of one.
#include <cuda_runtime.h>

#include <cstddef>

#ifdef __CUEMU__
#include <cuemu.h>
#endif

namespace taper::cuda_kernels::annotate {

#ifdef __CUEMU__
inline constexpr std::size_t kGap = 512;
inline void segment(void* p, std::size_t bytes) { cuemu::annotate_segment(p, bytes); }
inline void allocated(void* p, std::size_t bytes, cudaStream_t stream) { cuemu::annotate_alloc(p, bytes, stream); }
inline void freed(void* p, std::size_t bytes, cudaStream_t stream) { cuemu::annotate_free(p, bytes, stream); }
#else
inline constexpr std::size_t kGap = 0;
inline void segment(void*, std::size_t) {}
inline void allocated(void*, std::size_t, cudaStream_t) {}
inline void freed(void*, std::size_t, cudaStream_t) {}
#endif

}  // namespace taper::cuda_kernels::annotate
