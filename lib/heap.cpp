#include "heap.h"

#include <algorithm>
#include <mutex>

namespace taper {

namespace live {
constinit thread_local Counts* counts_of_this_thread = nullptr;
}

namespace memory {

// ---- Blocks of one heap ----

void* Heap::take_similar(unsigned& c) noexcept {
  if (free_[c] == nullptr && c >= kSmallClasses) [[unlikely]] {
    drain();
    const unsigned last = std::min(c + 2, kHeapClasses - 1);
    for (unsigned d = c; d <= last; ++d) {
      if (free_[d] == nullptr) continue;
      c = d;
      break;
    }
  }
  return take(c);
}

void Heap::put_from_elsewhere(void* memory, unsigned c) noexcept {
  auto* block = ::new (memory) FreeBlock{remote_.load(std::memory_order_relaxed), c};
  while (!remote_.compare_exchange_weak(block->next, block, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void Heap::drain() noexcept {
  // Most often there is nothing, and looking is cheaper than exchanging.
  if (remote_.load(std::memory_order_relaxed) == nullptr) return;
  FreeBlock* block = remote_.exchange(nullptr, std::memory_order_acquire);
  while (block != nullptr) {
    FreeBlock* next = block->next;
    put(block, static_cast<unsigned>(block->size_class));
    block = next;
  }
}

void* Heap::refill(unsigned c) noexcept {
  drain();
  if (free_[c] == nullptr) return carve(c);
  return take(c);
}

void* Heap::carve(unsigned c) noexcept {
  constexpr std::size_t kBatch = 4096;
  const std::size_t size = kHeapClassSize[c];
  const std::size_t align = size % 64 == 0 ? 64 : 16;
  const auto aligned = [&] {
    return reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(fresh_) + align - 1) & ~(align - 1));
  };
  const auto room = [&](const char* from) {
    return from < fresh_end_ ? static_cast<std::size_t>(fresh_end_ - from) : 0;
  };

  char* first = aligned();
  if (room(first) < size) {
    if (!start_chunk()) return nullptr;
    first = aligned();
  }
  const std::size_t count = std::clamp<std::size_t>(kBatch / size, 1, room(first) / size);
  for (std::size_t i = count; i > 1; --i) put(first + (i - 1) * size, c);
  fresh_ = first + count * size;
  chunks_->carved += count * size;
  return first;
}

bool Heap::start_chunk() noexcept {
  void* memory = system_memory::map(Chunk::kBytes);
  if (memory == nullptr) {
    memory::release_unused(this);
    memory = system_memory::map(Chunk::kBytes);
    if (memory == nullptr) return false;
  }

  // What is left of the last chunk is too small for this request, not for others.
  if (fresh_ != nullptr) {
    auto at = (reinterpret_cast<std::uintptr_t>(fresh_) + 63) & ~std::uintptr_t{63};
    const auto end = reinterpret_cast<std::uintptr_t>(fresh_end_);
    while (at + 64 <= end) {
      const std::size_t left = std::min(end - at, kHeapLimit);
      unsigned c = data_class(left);
      while (kHeapClassSize[c] > left || kHeapClassSize[c] % 64 != 0) --c;
      put(reinterpret_cast<void*>(at), c);
      chunks_->carved += kHeapClassSize[c];
      at += kHeapClassSize[c];
    }
  }

  chunks_ = ::new (memory) Chunk{this, chunks_, 0, 0};
  fresh_ = static_cast<char*>(memory) + Chunk::kHeader;
  fresh_end_ = static_cast<char*>(memory) + Chunk::kBytes;
  return true;
}

void Heap::release_unused() noexcept {
  drain();
  for (Chunk* chunk = chunks_; chunk != nullptr; chunk = chunk->next) chunk->free = 0;
  for (unsigned c = 0; c < kHeapClasses; ++c) {
    for (FreeBlock* block = free_[c]; block != nullptr; block = block->next)
      Chunk::of(block)->free += kHeapClassSize[c];
  }
  const auto unused = [](const Chunk* chunk) { return chunk->free == chunk->carved; };

  for (FreeBlock*& list : free_) {
    FreeBlock** link = &list;
    while (*link != nullptr) {
      if (unused(Chunk::of(*link))) {
        *link = (*link)->next;
      } else {
        link = &(*link)->next;
      }
    }
  }
  if (chunks_ != nullptr && unused(chunks_)) fresh_ = fresh_end_ = nullptr;
  Chunk** link = &chunks_;
  while (*link != nullptr) {
    Chunk* chunk = *link;
    if (unused(chunk)) {
      *link = chunk->next;
      system_memory::unmap(chunk, Chunk::kBytes);
    } else {
      link = &chunk->next;
    }
  }
}

// ---- All heaps ----

namespace {

// None of these has a destructor: they serve until the very end of the program.
constinit std::mutex orphans_mutex;
constinit Heap* orphans = nullptr;
constinit std::atomic<Heap*> all_heaps{nullptr};
// Published by the heaps; see Heap::publish_allocated.
constinit std::atomic<std::int64_t> allocated_bytes{0};
constinit std::atomic<std::int64_t> max_allocated_bytes{0};

constinit thread_local bool thread_has_ended = false;

struct ThreadEnd {
  ~ThreadEnd() {
    Heap* heap = heap_of_this_thread();
    live::counts_of_this_thread = nullptr;
    thread_has_ended = true;
    if (heap != nullptr) Heaps::give_back(heap);
  }
};

}  // namespace

// The peak is exact for one thread: it is what the others had published, plus the highest this one went since.
void Heap::publish_allocated() noexcept {
  const std::int64_t mine = allocated_.load(std::memory_order_relaxed);
  const std::int64_t my_max = max_allocated_.load(std::memory_order_relaxed);
  allocated_.store(0, std::memory_order_relaxed);
  max_allocated_.store(0, std::memory_order_relaxed);
  const std::int64_t before = allocated_bytes.fetch_add(mine, std::memory_order_relaxed);
  system_memory::raise_to(max_allocated_bytes, before + my_max);
}

Heap* Heaps::attach_thread() noexcept {
  if (thread_has_ended) return nullptr;
  Heap* heap = borrow();
  if (heap == nullptr) return nullptr;
  thread_local ThreadEnd end;
  live::counts_of_this_thread = heap;
  return heap;
}

Heap* Heaps::borrow() noexcept {
  {
    const std::lock_guard lock(orphans_mutex);
    if (Heap* heap = orphans) {
      orphans = heap->next_orphan_;
      return heap;
    }
  }
  auto* heap = new (std::nothrow) Heap;
  if (heap == nullptr) return nullptr;
  heap->next_ = all_heaps.load(std::memory_order_relaxed);
  while (!all_heaps.compare_exchange_weak(heap->next_, heap, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return heap;
}

void Heaps::give_back(Heap* heap) noexcept {
  heap->publish_allocated();
  const std::lock_guard lock(orphans_mutex);
  heap->next_orphan_ = orphans;
  orphans = heap;
}

void Heaps::release_unused_of_orphans() noexcept {
  const std::lock_guard lock(orphans_mutex);
  for (Heap* heap = orphans; heap != nullptr; heap = heap->next_orphan_) heap->release_unused();
}

void Heaps::add_to(MemoryStats& stats) noexcept {
  std::int64_t above = 0;  // how far one thread was above what it has now
  stats.allocated_bytes += allocated_bytes.load(std::memory_order_relaxed);
  for (Heap* heap = all_heaps.load(std::memory_order_acquire); heap != nullptr; heap = heap->next_) {
    const std::int64_t allocated = heap->allocated_.load(std::memory_order_relaxed);
    stats.allocated_bytes += allocated;
    above = std::max(above, heap->max_allocated_.load(std::memory_order_relaxed) - allocated);
    stats.block_bytes += heap->block_bytes_.load(std::memory_order_relaxed);
    stats.object_bytes += heap->object_bytes_.load(std::memory_order_relaxed);
    stats.allocations += heap->allocations_.load(std::memory_order_relaxed);
  }
  system_memory::raise_to(max_allocated_bytes, stats.allocated_bytes + above);
  stats.max_allocated_bytes = max_allocated_bytes.load(std::memory_order_relaxed);
}

void Heaps::reset_peak() noexcept {
  std::int64_t allocated = allocated_bytes.load(std::memory_order_relaxed);
  for (Heap* heap = all_heaps.load(std::memory_order_acquire); heap != nullptr; heap = heap->next_) {
    const std::int64_t mine = heap->allocated_.load(std::memory_order_relaxed);
    heap->max_allocated_.store(mine, std::memory_order_relaxed);
    allocated += mine;
  }
  max_allocated_bytes.store(allocated, std::memory_order_relaxed);
}

std::int64_t Heaps::live(live::Kind kind) noexcept {
  std::int64_t sum = 0;
  for (Heap* heap = all_heaps.load(std::memory_order_acquire); heap != nullptr; heap = heap->next_) {
    sum += heap->value[static_cast<int>(kind)].load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace memory
}  // namespace taper
