#pragma once
#include <taper/allocator.h>

#include "size_class.h"
#include "system_memory.h"

// Sanitizers see every block and object only when nothing is reused.
#ifndef TAPER_POOLED
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TAPER_SANITIZE)
#define TAPER_POOLED 0
#else
#define TAPER_POOLED 1
#endif
#endif

namespace taper::memory {

inline constexpr bool kPooled = TAPER_POOLED;

class Heap;

struct FreeBlock {
  FreeBlock* next;
  std::size_t size_class;  // only set on the way back from another thread
};

/// 2 MiB aligned to 2 MiB, so that the owner of an object is found from its address. Blocks follow the header.
struct Chunk {
  Heap* owner;
  Chunk* next;
  std::size_t carved;  // bytes made into blocks: all of them free means that the chunk is
  std::size_t free;    // scratch of release_unused()

  static constexpr std::size_t kBytes = system_memory::kHugePage;
  static constexpr std::size_t kHeader = 64;
  static Chunk* of(const void* memory) {
    return reinterpret_cast<Chunk*>(reinterpret_cast<std::uintptr_t>(memory) & ~(kBytes - 1));
  }
};
static_assert(sizeof(Chunk) <= Chunk::kHeader);

/// The blocks up to kHeapLimit of one thread, and its counters.
///
/// Only its thread takes from the free lists. Another thread returns a block by pushing it on `remote_`, which the
/// owner empties when a list has run out. A heap outlives its thread: the next thread to start takes it over, with all
/// its blocks. Heaps are never destroyed, so a block can find its way home at any time, also while the program ends.
class alignas(kHeapClasses) Heap : public live::Counts {
 public:
  /// A block of class c, or null when the system has no more memory.
  void* take(unsigned c) noexcept {
    FreeBlock* block = free_[c];
    if (block == nullptr) [[unlikely]]
      return refill(c);
    free_[c] = block->next;
    return block;
  }
  /// Above kSmallLimit also one of up to two classes (25 %) more; c becomes its class.
  void* take_similar(unsigned& c) noexcept;
  /// By the thread that owns the heap.
  void put(void* memory, unsigned c) noexcept { free_[c] = ::new (memory) FreeBlock{free_[c], c}; }
  /// By any other.
  void put_from_elsewhere(void* memory, unsigned c) noexcept;
  /// Unmaps the chunks no block of which is in use.
  void release_unused() noexcept;

  // The counters: written by the owner alone.
  void count_block(std::size_t bytes, std::size_t block_bytes) noexcept;
  void uncount_block(std::size_t bytes, std::size_t block_bytes) noexcept;
  void count_object(std::int64_t bytes) noexcept { add(object_bytes_, bytes); }

  // The heap and its size class as one number: the context of a data block.
  void* with_class(unsigned c) noexcept { return reinterpret_cast<char*>(this) + c; }
  static unsigned class_in(void* context) noexcept {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(context) % kHeapClasses);
  }
  static Heap* heap_in(void* context) noexcept {
    return reinterpret_cast<Heap*>(reinterpret_cast<std::uintptr_t>(context) & ~std::uintptr_t{kHeapClasses - 1});
  }

 private:
  friend class Heaps;

  /// How far the shared count of allocated bytes may lag behind that of one thread.
  static constexpr std::int64_t kPublishAt = 1 << 20;

  static void add(std::atomic<std::int64_t>& value, std::int64_t n) noexcept {
    value.store(value.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void* refill(unsigned c) noexcept;
  void* carve(unsigned c) noexcept;
  bool start_chunk() noexcept;
  void drain() noexcept;
  void publish_allocated() noexcept;

  FreeBlock* free_[kHeapClasses] = {};
  std::atomic<std::int64_t> allocations_{0};
  std::atomic<std::int64_t> block_bytes_{0};
  std::atomic<std::int64_t> object_bytes_{0};
  // Bytes allocated here less those freed here since the last publish_allocated(), and how high that went.
  std::atomic<std::int64_t> allocated_{0};
  std::atomic<std::int64_t> max_allocated_{0};
  char* fresh_ = nullptr;  // what is left of the first chunk
  char* fresh_end_ = nullptr;
  Chunk* chunks_ = nullptr;
  Heap* next_ = nullptr;         // of all heaps
  Heap* next_orphan_ = nullptr;  // of those without a thread
  alignas(64) std::atomic<FreeBlock*> remote_{nullptr};
};

inline void Heap::count_block(std::size_t bytes, std::size_t block_bytes) noexcept {
  add(allocations_, 1);
  add(block_bytes_, static_cast<std::int64_t>(block_bytes));
  const std::int64_t allocated = allocated_.load(std::memory_order_relaxed) + static_cast<std::int64_t>(bytes);
  allocated_.store(allocated, std::memory_order_relaxed);
  if (allocated > max_allocated_.load(std::memory_order_relaxed)) {
    max_allocated_.store(allocated, std::memory_order_relaxed);
    if (allocated > kPublishAt) publish_allocated();
  }
}

inline void Heap::uncount_block(std::size_t bytes, std::size_t block_bytes) noexcept {
  add(block_bytes_, -static_cast<std::int64_t>(block_bytes));
  const std::int64_t allocated = allocated_.load(std::memory_order_relaxed) - static_cast<std::int64_t>(bytes);
  allocated_.store(allocated, std::memory_order_relaxed);
  if (allocated < -kPublishAt) publish_allocated();
}

/// The heap of this thread; null before its first use and while the thread ends.
inline Heap* heap_of_this_thread() noexcept { return static_cast<Heap*>(live::counts_of_this_thread); }

/// All heaps, and which of them are without a thread.
class Heaps {
 public:
  /// A heap for this thread until it ends; null if it is ending, or there is no memory for one.
  static Heap* attach_thread() noexcept;
  static Heap* borrow() noexcept;
  static void give_back(Heap* heap) noexcept;
  static void release_unused_of_orphans() noexcept;
  /// Adds the sums over all heaps.
  static void add_to(MemoryStats& stats) noexcept;
  static void reset_peak() noexcept;
  static std::int64_t live(live::Kind kind) noexcept;
};

/// The way to a heap that always works: this thread's own or, while the thread ends, one lent for the occasion.
/// Null only if there is no memory for a heap.
class HeapLease {
 public:
  HeapLease() noexcept : heap_(heap_of_this_thread()) {
    if (heap_ == nullptr) heap_ = Heaps::attach_thread();
    if (heap_ == nullptr) heap_ = lent_ = Heaps::borrow();
  }
  ~HeapLease() {
    if (lent_ != nullptr) Heaps::give_back(lent_);
  }
  HeapLease(const HeapLease&) = delete;
  HeapLease& operator=(const HeapLease&) = delete;
  Heap* get() const noexcept { return heap_; }

 private:
  Heap* heap_;
  Heap* lent_ = nullptr;
};

[[noreturn]] void raise_out_of_memory(const char* who, std::size_t bytes);
/// Everything cached that can be given back goes back to the system; `mine` is a heap of the caller's, or null.
void release_unused(Heap* mine) noexcept;

}  // namespace taper::memory
