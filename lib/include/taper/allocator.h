#pragma once
#include <taper/error.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace taper {

/// A block of memory together with the way to give it back. Move-only: the deleter runs exactly once.
class DataPtr {
 public:
  /// Gets the address, the context and the size that the block was made with.
  using Deleter = void (*)(void* data, void* context, std::size_t bytes) noexcept;

  DataPtr() noexcept = default;
  /// A null deleter makes a reference to memory that somebody else keeps alive.
  DataPtr(void* block, void* argument, std::size_t size, Deleter give_back) noexcept
      : data_(block), context_(argument), bytes_(size), deleter_(give_back) {}
  DataPtr(DataPtr&& other) noexcept { take(other); }
  DataPtr& operator=(DataPtr&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~DataPtr() { release(); }

  void* get() const noexcept { return data_; }
  void* context() const noexcept { return context_; }
  std::size_t bytes() const noexcept { return bytes_; }
  Deleter deleter() const noexcept { return deleter_; }
  explicit operator bool() const noexcept { return data_ != nullptr; }

  /// Gives the block back now and leaves this empty.
  void reset() noexcept {
    release();
    clear();
  }

 private:
  void release() noexcept {
    if (deleter_ != nullptr) deleter_(data_, context_, bytes_);
  }
  void clear() noexcept {
    data_ = nullptr;
    context_ = nullptr;
    bytes_ = 0;
    deleter_ = nullptr;
  }
  void take(DataPtr& other) noexcept {
    data_ = other.data_;
    context_ = other.context_;
    bytes_ = other.bytes_;
    deleter_ = other.deleter_;
    other.clear();
  }

  void* data_ = nullptr;
  void* context_ = nullptr;
  std::size_t bytes_ = 0;
  Deleter deleter_ = nullptr;
};

/// Makes the blocks of one kind of memory. One object serves all threads.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// A block of at least `bytes` bytes, not initialized. Throws OutOfMemoryError when there is none.
  virtual DataPtr allocate(std::size_t bytes) = 0;
  /// What the memory is called in messages: "cpu", "cpu (pinned)", "cuda:0".
  virtual const char* name() const noexcept = 0;
};

/// No memory is left for a request, also after everything cached was given back. Nothing has changed.
struct OutOfMemoryError : Error {
  using Error::Error;
};

namespace detail {
extern constinit std::atomic<Allocator*> current_cpu_allocator;
}  // namespace detail

/// The allocator of new CPU tensors. The default caches: blocks are aligned to 64 bytes, a freed block serves the next
/// request of its size, and memory goes back to the system only by empty_cache() or to avoid running out of memory.
/// A request of 0 bytes gets a valid, aligned address. A block may be freed by any thread.
inline Allocator& cpu_allocator() noexcept { return *detail::current_cpu_allocator.load(std::memory_order_acquire); }

/// Makes `allocator` serve new CPU tensors, or the default for nullptr, and returns the one before.
/// Blocks made before keep their own way back. The caller keeps `allocator` alive until it is replaced.
Allocator* set_cpu_allocator(Allocator* allocator) noexcept;

/// What the default CPU allocator holds, in bytes unless said otherwise. Exact while no other thread allocates;
/// not counted here: memory of other allocators, of external arrays, and of libraries such as oneDNN.
struct MemoryStats {
  std::int64_t allocated_bytes = 0;      ///< asked for by the data blocks in use
  std::int64_t block_bytes = 0;          ///< size of these blocks: the excess over allocated_bytes is rounding
  std::int64_t object_bytes = 0;         ///< tensors, storages and graph nodes themselves
  std::int64_t reserved_bytes = 0;       ///< taken from the system; what is not in use of it is the cache
  std::int64_t max_allocated_bytes = 0;  ///< highest allocated_bytes since the start or reset_peak_memory_stats()
  std::int64_t max_reserved_bytes = 0;   ///< highest reserved_bytes, likewise
  std::int64_t allocations = 0;          ///< data blocks handed out since the start
  std::int64_t system_allocations = 0;   ///< times the system was asked for memory since the start
  std::int64_t system_frees = 0;         ///< times memory was given back to it

  std::int64_t cached_bytes() const noexcept { return reserved_bytes - block_bytes - object_bytes; }
};
MemoryStats memory_stats() noexcept;

/// Lets the maxima start again from what is in use now.
void reset_peak_memory_stats() noexcept;

/// Gives memory that is not in use back to the system: all large blocks, and what this thread and ended threads
/// hold of small ones. Not needed to avoid OutOfMemoryError: a request that fails does the same and tries again.
void empty_cache() noexcept;

/// False in sanitizer builds, where every block and object comes straight from the system and goes back to it.
bool memory_is_pooled() noexcept;

/// Memory for small objects that come and go quickly, from per-thread free lists. Any thread may give it back.
namespace pool {
/// Aligned to 16 bytes. Throws OutOfMemoryError.
void* allocate(std::size_t bytes);
/// `bytes` as it was asked for.
void deallocate(void* memory, std::size_t bytes) noexcept;
}  // namespace pool

/// Base of classes whose objects live in the pool, those of derived classes too.
/// Through a pointer to a base class only with a virtual destructor: the size must be that of the object.
template <class T>
struct Pooled {
  static void* operator new(std::size_t bytes) { return pool::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept { pool::deallocate(memory, bytes); }
  // Classes that ask for more than 16 bytes of alignment are left to the general allocator.
  static void* operator new(std::size_t bytes, std::align_val_t align) { return ::operator new(bytes, align); }
  static void operator delete(void* memory, std::size_t, std::align_val_t align) noexcept {
    ::operator delete(memory, align);
  }
  static void* operator new(std::size_t, void* place) noexcept { return place; }
  static void operator delete(void*, void*) noexcept {}
};

/// How many tensors, storages and nodes exist: what a test reads to see that nothing leaks.
namespace live {
enum class Kind : unsigned char { tensor, storage, node };
inline constexpr int kKinds = 3;

/// The counts of one thread. It alone writes them, so a plain addition does; a reader takes the sum over all threads
/// (one thread's count is negative when it frees what others made).
struct Counts {
  std::atomic<std::int64_t> value[kKinds] = {};
};
/// Null until this thread's first use, and again while it ends.
extern constinit thread_local Counts* counts_of_this_thread;
void add_without_counts(Kind kind, std::int64_t n) noexcept;

inline void add(Kind kind, std::int64_t n) noexcept {
  if (Counts* counts = counts_of_this_thread) [[likely]] {
    auto& value = counts->value[static_cast<int>(kind)];
    value.store(value.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  } else {
    add_without_counts(kind, n);
  }
}
std::int64_t total(Kind kind) noexcept;

/// A base that counts its objects.
template <Kind kind>
class Counted {
 public:
  Counted() noexcept { add(kind, 1); }
  Counted(const Counted&) noexcept { add(kind, 1); }
  Counted& operator=(const Counted&) noexcept { return *this; }

 protected:
  ~Counted() { add(kind, -1); }
};
}  // namespace live

inline std::int64_t live_tensors() noexcept { return live::total(live::Kind::tensor); }
inline std::int64_t live_storages() noexcept { return live::total(live::Kind::storage); }
inline std::int64_t live_nodes() noexcept { return live::total(live::Kind::node); }

namespace detail {
/// For tests: the allocator behaves as if the system had no more than this many bytes; 0 lifts the limit.
void set_system_memory_limit(std::size_t bytes) noexcept;
}  // namespace detail

}  // namespace taper
