#pragma once
// Memory of the host that devices can copy from and to by themselves. Making it is slow, so freed blocks are kept.
#include <cuda_runtime.h>
#include <taper/allocator.h>

#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace taper::cuda_kernels {

class PinnedAllocator final : public Allocator {
 public:
  static PinnedAllocator& instance();

  DataPtr allocate(std::size_t bytes) override;
  const char* name() const noexcept override { return "cpu (pinned)"; }

  /// Whether the address lies in a block that is in use.
  bool owns(const void* memory) noexcept;
  /// Says that `stream` copies from or to the block at this address: it is not reused before that is done.
  void record_stream(const void* memory, cudaStream_t stream);
  void empty_cache();

 private:
  struct Block {
    void* data;
    std::size_t size;
    std::set<cudaStream_t> streams;
    std::vector<cudaEvent_t> events;
  };
  Block* find(const void* memory);
  void free(Block* block);
  void process_events();

  std::mutex mutex_;
  std::map<const void*, Block*> used_;
  std::multimap<std::size_t, Block*> free_;
  std::vector<Block*> waiting_;  // freed, but a stream may still use them
};

}  // namespace taper::cuda_kernels
