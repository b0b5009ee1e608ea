#pragma once
// Device memory, taken from the driver in large segments and handed out in blocks.
//
// A free block serves later requests of the stream it was made on at once: the stream runs in order, so whatever used
// the block before is done when its next user starts. Work of another stream has to be announced by record_stream();
// the block then waits for an event of that stream before it is free.
#include <cuda_runtime.h>
#include <taper/allocator.h>
#include <taper/cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

namespace taper::cuda_kernels {

/// Numbers of private pools; 0 is the common one.
using PoolId = std::uint64_t;

class CachingAllocator final : public Allocator {
 public:
  explicit CachingAllocator(int device);

  /// A block for the current stream. No memory and a null address for 0 bytes.
  DataPtr allocate(std::size_t bytes) override;
  const char* name() const noexcept override { return name_.c_str(); }

  /// Work of `stream` uses the block at this address, which came from here.
  void record_stream(void* data, cudaStream_t stream);
  /// Gives free segments back to the driver. Not while a stream captures.
  void empty_cache();

  /// While a graph is captured on `stream`, and as long as the graph lives, its blocks come from a pool of its own:
  /// their addresses are in the graph. begin_pool() until end_pool(), then release_pool() with the graph.
  PoolId begin_pool(cudaStream_t stream);
  void end_pool(cudaStream_t stream);
  void release_pool(PoolId pool);

  cuda::MemoryStats stats();
  void reset_peak();

 private:
  struct Block;
  struct BySize {
    bool operator()(const Block* a, const Block* b) const;
  };
  /// Free blocks of one kind: small ones have segments of their own, so that they do not cut up the large ones.
  using FreeList = std::set<Block*, BySize>;
  struct Pool {
    FreeList small, large;
    bool released = false;  // its graph is gone: what is free goes back to the driver
    std::size_t used_blocks = 0;
  };

  static void free_deleter(void* data, void* context, std::size_t bytes) noexcept;
  static bool is_small(std::size_t size);
  static std::size_t segment_size(std::size_t size);
  PoolId pool_of(cudaStream_t stream) const;
  FreeList& list_of(const Block& block);
  Block* find_free(PoolId pool, cudaStream_t stream, std::size_t size);
  Block* new_segment(PoolId pool, cudaStream_t stream, std::size_t size, std::size_t asked);
  void* driver_allocate(std::size_t bytes);
  void split(Block* block, std::size_t size);
  void free(Block* block);
  void record_events(Block* block);
  void make_free(Block* block);
  Block* merge_with(Block* block, Block* neighbour);
  void process_events();
  void wait_for_events();
  void release_free_segments(Pool& pool);
  void release_cached();
  [[noreturn]] void raise_out_of_memory(std::size_t bytes);

  const int device_;
  const std::string name_;
  std::mutex mutex_;
  std::map<PoolId, Pool> pools_;
  std::map<cudaStream_t, PoolId> capturing_;
  PoolId next_pool_ = 1;
  std::unordered_set<Block*> waiting_;  // freed, but another stream may still use them
  std::map<void*, Block*> used_;
  cuda::MemoryStats stats_;
};

}  // namespace taper::cuda_kernels
