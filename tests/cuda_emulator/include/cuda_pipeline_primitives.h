// cuemu: asynchronous copies to shared memory.  A copy happens when it is waited for, as late
// as it may, so a missing wait shows.
#pragma once
#include "cuda_runtime.h"
namespace cuemu {
void async_copy(void* shared, const void* global, std::size_t n, std::size_t zfill, const char* file, int line);
void async_commit();
void async_wait(unsigned prior);
}  // namespace cuemu
inline void __pipeline_memcpy_async(void* d, const void* s, std::size_t n, std::size_t zfill = 0, CUEMU_SITE) {
  cuemu::async_copy(d, s, n, zfill, site_file, site_line);
}
inline void __pipeline_commit() { cuemu::async_commit(); }
inline void __pipeline_wait_prior(unsigned n) { cuemu::async_wait(n); }
