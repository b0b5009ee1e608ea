#include <taper/allocator.h>
#include <taper/memory_report.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>

#include "heap.h"

namespace taper {
namespace memory {
namespace {

/// Blocks above kHeapLimit, each a mapping of its own, that nobody uses at the moment. One lock does: filling such a
/// block takes far longer than the lock.
class LargeCache {
 public:
  /// A block of class c or up to two classes (25 %) more, and c becomes its class; null if there is none.
  void* take(unsigned& c) noexcept {
    const std::lock_guard lock(mutex_);
    const unsigned last = std::min(c + 2, kClasses - 1);
    for (unsigned d = c; d <= last; ++d) {
      FreeBlock*& list = free_[d - kHeapClasses];
      if (list == nullptr) continue;
      FreeBlock* block = list;
      list = block->next;
      c = d;
      return block;
    }
    return nullptr;
  }

  void put(void* memory, unsigned c) noexcept {
    const std::lock_guard lock(mutex_);
    FreeBlock*& list = free_[c - kHeapClasses];
    list = ::new (memory) FreeBlock{list, c};
  }

  void release() noexcept {
    std::array<FreeBlock*, kClasses - kHeapClasses> lists{};
    {
      const std::lock_guard lock(mutex_);
      lists.swap(free_);
    }
    for (unsigned i = 0; i < lists.size(); ++i) {
      for (FreeBlock* block = lists[i]; block != nullptr;) {
        FreeBlock* next = block->next;
        system_memory::unmap(block, class_size(kHeapClasses + i));
        block = next;
      }
    }
  }

 private:
  std::mutex mutex_;
  std::array<FreeBlock*, kClasses - kHeapClasses> free_{};
};
constinit LargeCache large_cache;  // trivially destructible: it serves until the end of the program

// Only to be named in messages.
struct Size {
  std::size_t bytes;
};
// What is counted while other threads allocate may be off for a moment, to below zero.
Size size_of(std::int64_t counted) { return {counted > 0 ? static_cast<std::size_t>(counted) : 0}; }

void append_to(std::string& s, Size size) {
  s.append(std::to_string(size.bytes)).append(" bytes");
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (size.bytes < 1024) return;
  double value = static_cast<double>(size.bytes) / 1024;
  int unit = 0;
  for (; value >= 1024 && unit < 5; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, " (%.1f %s)", value, kUnits[unit]);
  s.append(text);
}

void free_small(void* data, void* context, std::size_t bytes) noexcept {
  Heap* owner = Heap::heap_in(context);
  const unsigned c = Heap::class_in(context);
  if (owner == heap_of_this_thread()) [[likely]] {
    owner->put(data, c);
    owner->uncount_block(bytes, kHeapClassSize[c]);
    return;
  }
  const HeapLease lease;
  if (lease.get() != nullptr) lease.get()->uncount_block(bytes, kHeapClassSize[c]);
  if (lease.get() == owner) {
    owner->put(data, c);
  } else {
    owner->put_from_elsewhere(data, c);
  }
}

DataPtr allocate_small(Heap* heap, std::size_t bytes) {
  unsigned c = data_class(bytes);
  void* data = heap->take_similar(c);
  if (data == nullptr) [[unlikely]]
    raise_out_of_memory("cpu allocator", bytes);
  heap->count_block(bytes, kHeapClassSize[c]);
  return DataPtr(data, heap->with_class(c), bytes, &free_small);
}

// The context of a large block is its size class.
void free_large(void* data, void* context, std::size_t bytes) noexcept {
  const auto c = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(context));
  large_cache.put(data, c);
  if (const HeapLease lease; lease.get() != nullptr) lease.get()->uncount_block(bytes, class_size(c));
}

DataPtr allocate_large(Heap* heap, std::size_t bytes) {
  if (bytes > kLargestRequest) raise_out_of_memory("cpu allocator", bytes);
  unsigned c = size_class(bytes);
  void* data = large_cache.take(c);
  if (data == nullptr) data = system_memory::map(class_size(c));
  if (data == nullptr) {
    release_unused(heap);
    data = system_memory::map(class_size(c));
  }
  if (data == nullptr) raise_out_of_memory("cpu allocator", bytes);
  heap->count_block(bytes, class_size(c));
  return DataPtr(data, reinterpret_cast<void*>(std::uintptr_t{c}), bytes, &free_large);
}

// Sanitizer builds. Their operator new ends the program when asked for too much, mmap does not.
constexpr std::size_t kMapUnpooled = std::size_t{1} << 30;
constexpr std::align_val_t kDataAlign{64};

void free_unpooled(void* data, void*, std::size_t bytes) noexcept {
  if (bytes >= kMapUnpooled) {
    system_memory::unmap(data, bytes);
  } else {
    ::operator delete(data, kDataAlign);
    system_memory::unreserve(bytes);
  }
  if (const HeapLease lease; lease.get() != nullptr) lease.get()->uncount_block(bytes, bytes);
}

DataPtr allocate_unpooled(Heap* heap, std::size_t bytes) {
  void* data = nullptr;
  if (bytes > kLargestRequest) {
    raise_out_of_memory("cpu allocator", bytes);
  } else if (bytes >= kMapUnpooled) {
    data = system_memory::map(bytes);
  } else if (system_memory::reserve(bytes)) {
    data = ::operator new(bytes, kDataAlign, std::nothrow);
    if (data == nullptr) system_memory::unreserve(bytes);
  }
  if (data == nullptr) raise_out_of_memory("cpu allocator", bytes);
  heap->count_block(bytes, bytes);
  return DataPtr(data, nullptr, bytes, &free_unpooled);
}

class CachingAllocator final : public Allocator {
 public:
  DataPtr allocate(std::size_t bytes) override {
    if (Heap* heap = heap_of_this_thread(); kPooled && heap != nullptr && bytes <= kHeapLimit) [[likely]]
      return allocate_small(heap, bytes);
    const HeapLease lease;
    Heap* heap = lease.get();
    if (heap == nullptr) raise_out_of_memory("cpu allocator", bytes);
    if (!kPooled) return allocate_unpooled(heap, bytes);
    return bytes <= kHeapLimit ? allocate_small(heap, bytes) : allocate_large(heap, bytes);
  }
  const char* name() const noexcept override { return "cpu"; }
};

// Never destroyed: tensors in static variables are freed, and may be made, after it would have been.
union Immortal {
  constexpr Immortal() : allocator() {}
  ~Immortal() {}
  CachingAllocator allocator;
};
constinit Immortal immortal;

}  // namespace

void raise_out_of_memory(const char* who, std::size_t bytes) {
  const MemoryStats stats = memory_stats();
  const std::size_t limit = system_memory::account.limit.load(std::memory_order_relaxed);
  raise<OutOfMemoryError>(
      who, ": cannot allocate ", Size{bytes}, ": ", size_of(stats.allocated_bytes), " in use, ",
      size_of(stats.cached_bytes()), " cached, of ", Size{limit != 0 ? limit : system_memory::total()},
      " in all; use smaller tensors or a smaller batch, or let go of tensors and graphs not needed");
}

void release_unused(Heap* mine) noexcept {
  large_cache.release();
  if (mine != nullptr) mine->release_unused();
  Heaps::release_unused_of_orphans();
}

}  // namespace memory

constinit std::atomic<Allocator*> detail::current_cpu_allocator{&memory::immortal.allocator};

bool detail::is_default_cpu_allocator(const Allocator* allocator) noexcept {
  return allocator == &memory::immortal.allocator;
}

Allocator* set_cpu_allocator(Allocator* allocator) noexcept {
  if (allocator == nullptr) allocator = &memory::immortal.allocator;
  return detail::current_cpu_allocator.exchange(allocator, std::memory_order_acq_rel);
}

MemoryStats memory_stats() noexcept {
  const auto& account = system_memory::account;
  MemoryStats stats;
  memory::Heaps::add_to(stats);
  stats.reserved_bytes = account.reserved.load(std::memory_order_relaxed);
  stats.max_reserved_bytes = account.max_reserved.load(std::memory_order_relaxed);
  stats.system_allocations = account.allocations.load(std::memory_order_relaxed);
  stats.system_frees = account.frees.load(std::memory_order_relaxed);
  return stats;
}

void reset_peak_memory_stats() noexcept {
  auto& account = system_memory::account;
  memory::Heaps::reset_peak();
  account.max_reserved.store(account.reserved.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void empty_cache() noexcept {
  const memory::HeapLease lease;
  memory::release_unused(lease.get());
}

bool memory_is_pooled() noexcept { return memory::kPooled; }

void detail::set_system_memory_limit(std::size_t bytes) noexcept {
  system_memory::account.limit.store(bytes, std::memory_order_relaxed);
}

}  // namespace taper
