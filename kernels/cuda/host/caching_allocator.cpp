#include "caching_allocator.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "annotate.h"
#include "device.h"
#include "errors.h"

namespace taper::cuda_kernels {
namespace {

constexpr std::size_t kRound = 512;                   // sizes and addresses are multiples of this
constexpr std::size_t kSmall = std::size_t(1) << 20;  // up to here a block is small
constexpr std::size_t kSmallSegment = std::size_t(2) << 20;
constexpr std::size_t kMedium = std::size_t(10) << 20;  // up to here several blocks share a large segment
constexpr std::size_t kLargeSegment = std::size_t(20) << 20;
constexpr std::size_t kRoundSegment = std::size_t(2) << 20;
constexpr std::size_t kLargest = std::size_t(1) << 60;

std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

std::string readable(std::size_t bytes) {
  char text[48];
  if (bytes < std::size_t(1) << 20)
    std::snprintf(text, sizeof text, "%zu bytes", bytes);
  else
    std::snprintf(text, sizeof text, "%.1f MiB", double(bytes) / double(1 << 20));
  return text;
}

}  // namespace

/// A part of a segment; its neighbours in memory are linked.
struct CachingAllocator::Block {
  CachingAllocator* owner;
  char* data;
  std::size_t size;
  PoolId pool;
  cudaStream_t stream;
  bool small;
  bool used = false;
  std::size_t asked = 0;
  Block *previous = nullptr, *next = nullptr;
  std::set<cudaStream_t> other_streams = {};  // that use it beside its own
  std::vector<cudaEvent_t> events = {};       // of these, recorded when it was freed
};

bool CachingAllocator::BySize::operator()(const Block* a, const Block* b) const {
  if (a->stream != b->stream) return std::less<>()(a->stream, b->stream);
  if (a->size != b->size) return a->size < b->size;
  return std::less<>()(a->data, b->data);
}

CachingAllocator::CachingAllocator(int device) : device_(device), name_(Device(DeviceType::CUDA, device).str()) {}

bool CachingAllocator::is_small(std::size_t size) { return size <= kSmall + annotate::kGap; }
std::size_t CachingAllocator::segment_size(std::size_t size) {
  if (is_small(size)) return kSmallSegment;
  return size < kMedium ? kLargeSegment : rounded(size, kRoundSegment);
}

PoolId CachingAllocator::pool_of(cudaStream_t stream) const {
  const auto found = capturing_.find(stream);
  return found == capturing_.end() ? 0 : found->second;
}
CachingAllocator::FreeList& CachingAllocator::list_of(const Block& block) {
  Pool& pool = pools_[block.pool];
  return block.small ? pool.small : pool.large;
}

DataPtr CachingAllocator::allocate(std::size_t bytes) {
  if (bytes == 0) return {};
  const OnDevice on(device_);
  const std::lock_guard lock(mutex_);
  if (bytes > kLargest) raise_out_of_memory(bytes);
  process_events();
  const std::size_t size = rounded(bytes, kRound) + annotate::kGap;
  const PoolId pool = pool_of(on.stream());
  check<NotImplementedError>(pool != 0 || capturing_.empty() || !is_capturing(on.stream()), name_,
                             " allocator: a second stream is captured into a graph; memory that its work needs has to ",
                             "be made on the stream that the capture began with");
  Block* block = find_free(pool, on.stream(), size);
  if (block == nullptr) block = new_segment(pool, on.stream(), size, bytes);
  split(block, size);
  block->used = true;
  block->asked = bytes;
  used_[block->data] = block;
  ++pools_[pool].used_blocks;
  ++stats_.allocations;
  ++stats_.active_blocks;
  stats_.allocated += block->size;
  stats_.max_allocated = std::max(stats_.max_allocated, stats_.allocated);
  annotate::allocated(block->data, bytes, block->stream);
  return DataPtr(block->data, block, bytes, &free_deleter);
}

CachingAllocator::Block* CachingAllocator::find_free(PoolId pool, cudaStream_t stream, std::size_t size) {
  Block wanted{this, nullptr, size, pool, stream, is_small(size)};
  FreeList& list = list_of(wanted);
  const auto found = list.lower_bound(&wanted);
  if (found == list.end() || (*found)->stream != stream) return nullptr;
  Block* block = *found;
  // A very large block is not cut up for something much smaller.
  if (!block->small && size < kMedium && block->size > kLargeSegment) return nullptr;
  if (!block->small && size >= kMedium && block->size >= size + kLargeSegment) return nullptr;
  list.erase(found);
  return block;
}

CachingAllocator::Block* CachingAllocator::new_segment(PoolId pool, cudaStream_t stream, std::size_t size,
                                                       std::size_t asked) {
  const std::size_t bytes = segment_size(size);
  void* data = driver_allocate(bytes);
  if (data == nullptr && capturing_.empty()) {
    ++stats_.retries;
    wait_for_events();
    release_cached();
    data = driver_allocate(bytes);
  }
  if (data == nullptr) raise_out_of_memory(asked);
  ++stats_.segments;
  stats_.reserved += bytes;
  stats_.max_reserved = std::max(stats_.max_reserved, stats_.reserved);
  annotate::segment(data, bytes);
  return new Block{this, static_cast<char*>(data), bytes, pool, stream, is_small(size)};
}

void* CachingAllocator::driver_allocate(std::size_t bytes) {
  const RelaxedCapture relaxed;
  void* data = nullptr;
  ++stats_.driver_allocations;
  const cudaError_t error = cudaMalloc(&data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  check_cuda(error, "cudaMalloc");
  return data;
}

void CachingAllocator::raise_out_of_memory(std::size_t bytes) {
  std::size_t available = 0, total = 0;
  (void)cudaMemGetInfo(&available, &total);
  raise<OutOfMemoryError>(name_, " allocator: cannot allocate ", readable(bytes), ": ", readable(stats_.allocated),
                          " in use, ", readable(stats_.reserved - stats_.allocated), " cached, ", readable(available),
                          " of ", readable(total), " left on the device; use smaller tensors or a smaller batch, or ",
                          "let go of tensors and graphs not needed");
}

void CachingAllocator::split(Block* block, std::size_t size) {
  const std::size_t left = block->size - size;
  if (left < (block->small ? kRound + annotate::kGap : kSmall + 1)) return;
  Block* rest = new Block{this, block->data + size, left, block->pool, block->stream, block->small};
  rest->previous = block;
  rest->next = block->next;
  if (rest->next != nullptr) rest->next->previous = rest;
  block->next = rest;
  block->size = size;
  list_of(*rest).insert(rest);
}

void CachingAllocator::free_deleter(void*, void* context, std::size_t) noexcept {
  Block* block = static_cast<Block*>(context);
  block->owner->free(block);
}

void CachingAllocator::free(Block* block) {
  const std::lock_guard lock(mutex_);
  used_.erase(block->data);
  block->used = false;
  --stats_.active_blocks;
  stats_.allocated -= block->size;
  if (capturing_.empty()) record_events(block);  // an event of a stream that captures could not be asked
  if (block->events.empty() && block->other_streams.empty()) return make_free(block);
  waiting_.insert(block);
}
void CachingAllocator::record_events(Block* block) {
  for (cudaStream_t stream : block->other_streams) {
    cudaEvent_t event = nullptr;
    if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess) continue;
    (void)cudaEventRecord(event, stream);
    block->events.push_back(event);
  }
  block->other_streams.clear();
}

void CachingAllocator::make_free(Block* block) {
  annotate::freed(block->data, block->asked, block->stream);
  Pool& pool = pools_[block->pool];
  --pool.used_blocks;
  block = merge_with(block, block->next);
  block = merge_with(block, block->previous);
  list_of(*block).insert(block);
  // cudaFree waits for the device, which is what makes this safe; a capture would be broken by it.
  if (pool.released && pool.used_blocks == 0 && capturing_.empty()) {
    const PoolId id = block->pool;
    release_free_segments(pool);
    pools_.erase(id);
  }
}

/// One block out of two neighbours, if the other is free.
CachingAllocator::Block* CachingAllocator::merge_with(Block* block, Block* neighbour) {
  if (neighbour == nullptr || neighbour->used || waiting_.contains(neighbour)) return block;
  list_of(*neighbour).erase(neighbour);
  Block* first = neighbour->data < block->data ? neighbour : block;
  Block* second = first == block ? neighbour : block;
  first->size += second->size;
  first->next = second->next;
  if (first->next != nullptr) first->next->previous = first;
  delete second;
  return first;
}

void CachingAllocator::record_stream(void* data, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  auto found = used_.upper_bound(data);
  if (found == used_.begin()) return;
  Block* block = std::prev(found)->second;
  if (static_cast<char*>(data) < block->data + block->size && stream != block->stream)
    block->other_streams.insert(stream);
}

void CachingAllocator::process_events() {
  if (waiting_.empty() || !capturing_.empty()) return;  // a capture allows no questions
  std::vector<Block*> done;
  for (Block* block : waiting_) {
    record_events(block);
    while (!block->events.empty() && cudaEventQuery(block->events.back()) == cudaSuccess) {
      (void)cudaEventDestroy(block->events.back());
      block->events.pop_back();
    }
    if (block->events.empty()) done.push_back(block);
  }
  (void)cudaGetLastError();  // "not ready" is no error
  for (Block* block : done) {
    waiting_.erase(block);
    make_free(block);
  }
}

void CachingAllocator::wait_for_events() {
  for (Block* block : waiting_) {
    record_events(block);
    for (cudaEvent_t event : block->events) (void)cudaEventSynchronize(event);
  }
  process_events();
}

void CachingAllocator::release_free_segments(Pool& pool) {
  for (FreeList* list : {&pool.small, &pool.large}) {
    for (auto i = list->begin(); i != list->end();) {
      Block* block = *i;
      if (block->previous != nullptr || block->next != nullptr) {
        ++i;
        continue;
      }
      (void)cudaFree(block->data);
      ++stats_.driver_frees;
      --stats_.segments;
      stats_.reserved -= block->size;
      i = list->erase(i);
      delete block;
    }
  }
}

void CachingAllocator::release_cached() {
  for (auto& [id, pool] : pools_)
    if (id == 0 || pool.released) release_free_segments(pool);
}

void CachingAllocator::empty_cache() {
  const OnDevice on(device_);
  const std::lock_guard lock(mutex_);
  if (!capturing_.empty()) return;
  wait_for_events();
  release_cached();
}

PoolId CachingAllocator::begin_pool(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  const PoolId id = next_pool_++;
  pools_[id];
  capturing_[stream] = id;
  return id;
}
void CachingAllocator::end_pool(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  capturing_.erase(stream);
  if (!capturing_.empty()) return;
  for (auto i = pools_.begin(); i != pools_.end();) {  // given up during the capture
    if (!i->second.released || i->second.used_blocks > 0) {
      ++i;
      continue;
    }
    release_free_segments(i->second);
    i = pools_.erase(i);
  }
}
void CachingAllocator::release_pool(PoolId id) {
  const OnDevice on(device_);
  const std::lock_guard lock(mutex_);
  Pool& pool = pools_[id];
  pool.released = true;
  if (pool.used_blocks > 0 || !capturing_.empty()) return;
  release_free_segments(pool);
  pools_.erase(id);
}

cuda::MemoryStats CachingAllocator::stats() {
  const std::lock_guard lock(mutex_);
  return stats_;
}
void CachingAllocator::reset_peak() {
  const std::lock_guard lock(mutex_);
  stats_.max_allocated = stats_.allocated;
  stats_.max_reserved = stats_.reserved;
}

}  // namespace taper::cuda_kernels
