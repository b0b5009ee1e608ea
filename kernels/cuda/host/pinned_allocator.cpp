#include "pinned_allocator.h"

#include <bit>

#include "device.h"
#include "errors.h"

namespace taper::cuda_kernels {

PinnedAllocator& PinnedAllocator::instance() {
  static PinnedAllocator* allocator = new PinnedAllocator;  // never destroyed: tensors in static variables may be left
  return *allocator;
}

DataPtr PinnedAllocator::allocate(std::size_t bytes) {
  if (bytes == 0) return {};
  const std::lock_guard lock(mutex_);
  process_events();
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(bytes, 512));
  Block* block = nullptr;
  if (const auto found = free_.find(size); found != free_.end()) {
    block = found->second;
    free_.erase(found);
  } else {
    const RelaxedCapture relaxed;
    void* data = nullptr;
    const cudaError_t error = cudaHostAlloc(&data, size, cudaHostAllocDefault);
    if (error == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      raise<OutOfMemoryError>(name(), " allocator: cannot allocate ", size, " bytes of pinned memory; use less of it");
    }
    check_cuda(error, "cudaHostAlloc");
    block = new Block{data, size, {}, {}};
  }
  used_[block->data] = block;
  return DataPtr(block->data, block, bytes,
                 [](void*, void* context, std::size_t) noexcept { instance().free(static_cast<Block*>(context)); });
}

PinnedAllocator::Block* PinnedAllocator::find(const void* memory) {
  auto next = used_.upper_bound(memory);
  if (next == used_.begin()) return nullptr;
  Block* block = std::prev(next)->second;
  return static_cast<const char*>(memory) < static_cast<char*>(block->data) + block->size ? block : nullptr;
}
bool PinnedAllocator::owns(const void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  return find(memory) != nullptr;
}
void PinnedAllocator::record_stream(const void* memory, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  if (Block* block = find(memory)) block->streams.insert(stream);
}

void PinnedAllocator::free(Block* block) {
  const std::lock_guard lock(mutex_);
  used_.erase(block->data);
  for (cudaStream_t stream : block->streams) {
    cudaEvent_t event = nullptr;
    if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess) continue;
    (void)cudaEventRecord(event, stream);
    block->events.push_back(event);
  }
  block->streams.clear();
  if (block->events.empty())
    free_.emplace(block->size, block);
  else
    waiting_.push_back(block);
}

void PinnedAllocator::process_events() {
  if (waiting_.empty()) return;
  const RelaxedCapture relaxed;
  std::erase_if(waiting_, [&](Block* block) {
    while (!block->events.empty() && cudaEventQuery(block->events.back()) == cudaSuccess) {
      (void)cudaEventDestroy(block->events.back());
      block->events.pop_back();
    }
    if (!block->events.empty()) return false;
    free_.emplace(block->size, block);
    return true;
  });
  (void)cudaGetLastError();  // "not ready" is no error
}

void PinnedAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  process_events();
  const RelaxedCapture relaxed;
  for (auto& [size, block] : free_) {
    (void)cudaFreeHost(block->data);
    delete block;
  }
  free_.clear();
}

}  // namespace taper::cuda_kernels
