// Control of the emulator from tests (never included by product code).
#pragma once
#include <cstddef>
#include <cstdint>

#include "cuda_runtime.h"
namespace cuemu {
enum class Order { forward, reverse, random };
struct Config {
  Order order = Order::random;  // order in which threads, warps, blocks and streams run
  uint64_t seed = 1;
  bool deferred = true;     // queued work runs at a synchronisation, not at launch
  bool strict_exit = true;  // a thread that returns before a barrier others reach: error
  std::size_t device_bytes = 256u << 20;
  int sm_count = 4;           // small, so that grid-stride loops really loop
  bool lt_algorithms = true;  // else cublasLt's heuristic finds none for any product
};
Config& config();               // read from CUEMU_ORDER, CUEMU_SEED, CUEMU_EAGER at start
void fail_malloc_after(int n);  // the n-th next cudaMalloc fails (once); -1: never
struct Stats {
  uint64_t launches, blocks, threads, switches, checked_accesses, products, lt_products;
  std::size_t bytes_in_use, live_allocations;
};
Stats stats();
void check_guards();  // verify the canaries round every live allocation
bool check_mode();    // linked with src/check.cpp and built with -fsanitize=thread
// A caching allocator tells the checker about its sub-allocations, in stream order, so that
// queued and captured work sees them as it runs.  Nothing happens outside check mode.
void annotate_segment(const void* p, std::size_t n);                     // now: nothing in it is usable yet
void annotate_alloc(const void* p, std::size_t n, cudaStream_t stream);  // n bytes usable, undefined
void annotate_free(const void* p, std::size_t n, cudaStream_t stream);   // not usable any more
}  // namespace cuemu
