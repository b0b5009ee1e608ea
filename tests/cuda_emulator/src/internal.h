// Shared between the emulator's own files.
#pragma once
#include <string>
#include <vector>

#include "cuda_runtime.h"
#include "cuemu.h"

namespace cuemu {
// xorshift: cheap, seeded, the same everywhere.
struct Rng {
  uint64_t s = 88172645463325252ull;
  void seed(uint64_t v) {
    s = v * 0x9E3779B97F4A7C15ull + 1;
    next();
    next();
  }
  uint64_t next() {
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s;
  }
  unsigned below(unsigned n) { return unsigned((next() >> 32) * n >> 32); }
};
Rng& rng();

// What is running now; read by the checker on every access.
struct Current {
  bool in_kernel = false;
  unsigned tid = 0;           // flat index in the block
  unsigned block = 0;         // flat index in the grid
  uint32_t launch = 0;        // serial number of the launch
  uint32_t block_serial = 0;  // serial number of the block, over all launches
  uint16_t barrier_epoch = 0;
  const uint16_t* warp_epochs = nullptr;  // per thread
  const char *stack_lo = nullptr, *stack_hi = nullptr;
  const void* kernel = nullptr;
  bool overlapped = false;                            // launched with the programmatic attribute
  std::vector<bool> dependency_synced;                // per thread
  const char *args_lo = nullptr, *args_hi = nullptr;  // the launch's arguments
};
extern Current cur;

void run_grid(KernelBase& k, dim3 grid, dim3 block, std::size_t smem, bool overlapped);
std::string where(const void* pc, bool function);  // file:line, or the function's name
// The shared arrays of the running block: dynamic first, then each static one at first use.
struct SharedArray {
  const void* key;
  char* lo;
  std::size_t n;
  const char* name;
};
const std::vector<SharedArray>& shared_arrays();
bool in_shared(const void* p);  // in the arena, be it in an array or between two
char* shared_base();

// Device memory has two addresses.  The host sees a handle, in a range that is never
// mapped, so that host code faults on it; kernels get the real address, put into their
// arguments at launch.  (Toggling mprotect instead costs milliseconds a launch here.)
// Two 32-bit numbers side by side in a struct look like an address: so its upper half, 11111
// and up, is no number that sizes of tensors like to be.
inline constexpr uint64_t kHeapBase = 0x2b6700000000ull, kHeapSpan = 64ull << 30, kShift = 0x100000000000ull;
inline bool in_heap(const void* p) { return uint64_t(p) - kHeapBase < kHeapSpan; }  // a handle
inline bool in_real(const void* p) { return uint64_t(p) - (kHeapBase + kShift) < kHeapSpan; }
template <class T>
T* real(T* p) {
  return in_heap(p) ? (T*)(uint64_t(p) + kShift) : p;
}
inline const void* handle(const void* p) { return in_real(p) ? (const void*)(uint64_t(p) - kShift) : p; }
std::string describe(const void* p);  // "4 bytes past the end of allocation #3 (1024 bytes)"
bool is_pinned(const void* p, std::size_t n);
bool device_range_ok(const void* p, std::size_t n);  // handle; wholly inside one live allocation
extern Stats counters;

// hooks of check.cpp (weak; null when not linked); real addresses
__attribute__((weak)) void check_on_malloc(const void* p, std::size_t n);
__attribute__((weak)) void check_on_free(const void* p, std::size_t n);
__attribute__((weak)) void check_on_written(const void* p, std::size_t n);  // by memcpy, cuBLAS
__attribute__((weak)) void check_on_read(const void* p, std::size_t n, const char* what);
__attribute__((weak)) void check_set_usable(const void* p, std::size_t n, bool usable);
__attribute__((weak)) void check_on_copy(const void* p, std::size_t n, bool write, const void* pc);
__attribute__((weak)) void check_on_fence();
__attribute__((weak)) void check_on_atomic(const void* p, std::size_t n);

// streams
void enqueue(cudaStream_t s, std::function<void()> fn, const char* what);
// Library calls (cuBLAS) use these: ranges are validated now, work runs in stream order.
}  // namespace cuemu
