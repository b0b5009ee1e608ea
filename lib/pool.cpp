#include <taper/allocator.h>

#include "heap.h"

namespace taper {
namespace memory {
namespace {

// Objects above kHeapLimit, and all objects of sanitizer builds, are the general allocator's.
void* allocate_object_from_system(std::size_t bytes) {
  if (bytes <= kLargestRequest && system_memory::reserve(bytes)) {
    if (void* memory = ::operator new(bytes, std::nothrow)) return memory;
    system_memory::unreserve(bytes);
  }
  raise_out_of_memory("object pool", bytes);
}

}  // namespace
}  // namespace memory

void* pool::allocate(std::size_t bytes) {
  using namespace memory;
  if (!kPooled || bytes > kHeapLimit) {
    void* memory = allocate_object_from_system(bytes);
    if (const HeapLease lease; lease.get() != nullptr) lease.get()->count_object(static_cast<std::int64_t>(bytes));
    return memory;
  }
  const unsigned c = size_class(bytes);
  if (Heap* heap = heap_of_this_thread()) [[likely]] {
    if (void* memory = heap->take(c)) [[likely]] {
      heap->count_object(kHeapClassSize[c]);
      return memory;
    }
  } else if (const HeapLease lease; lease.get() != nullptr) {
    if (void* memory = lease.get()->take(c)) {
      lease.get()->count_object(kHeapClassSize[c]);
      return memory;
    }
  }
  raise_out_of_memory("object pool", bytes);
}

void pool::deallocate(void* memory, std::size_t bytes) noexcept {
  using namespace memory;
  if (memory == nullptr) return;
  if (!kPooled || bytes > kHeapLimit) {
    ::operator delete(memory);
    system_memory::unreserve(bytes);
    if (const HeapLease lease; lease.get() != nullptr) lease.get()->count_object(-static_cast<std::int64_t>(bytes));
    return;
  }
  const unsigned c = size_class(bytes);
  Heap* owner = Chunk::of(memory)->owner;
  if (owner == heap_of_this_thread()) [[likely]] {
    owner->put(memory, c);
    owner->count_object(-static_cast<std::int64_t>(kHeapClassSize[c]));
    return;
  }
  const HeapLease lease;
  if (lease.get() != nullptr) lease.get()->count_object(-static_cast<std::int64_t>(kHeapClassSize[c]));
  if (lease.get() == owner) {
    owner->put(memory, c);
  } else {
    owner->put_from_elsewhere(memory, c);
  }
}

void live::add_without_counts(Kind kind, std::int64_t n) noexcept {
  const memory::HeapLease lease;
  if (Counts* counts = lease.get()) {
    auto& value = counts->value[static_cast<int>(kind)];
    value.store(value.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
}

std::int64_t live::total(Kind kind) noexcept { return memory::Heaps::live(kind); }

}  // namespace taper
