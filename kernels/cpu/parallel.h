#pragma once
// The one door to threads. Work is cut at multiples of a grain that the caller derives from the shape
// alone, so what a chunk computes never depends on the number of threads.
#include <taper/parallel.h>

#include <cstdint>
#include <memory>
#include <type_traits>

namespace taper::cpu_kernels {

using ChunkFunction = void (*)(const void* context, std::int64_t begin, std::int64_t end);

/// Calls f(context, b, e) for every chunk of [begin, end), possibly at the same time on several threads.
void run_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, const void* context, ChunkFunction f);

/// Calls f(b, e) for the chunks [begin, begin + grain), [begin + grain, begin + 2 grain), ... of [begin, end).
///
/// Chunks run at the same time, each exactly once and with the same bounds for every thread count. A range
/// of one chunk, a nested call and a thread inside SerialScope run on the calling thread.
/// An exception in f reaches the caller (one of them, if several chunks throw); other chunks may be skipped.
template <class F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, const F& f) {
  if (end - begin <= grain) {
    if (begin < end) f(begin, end);
    return;
  }
  run_chunks(begin, end, grain, std::addressof(f),
             [](const void* context, std::int64_t b, std::int64_t e) { (*static_cast<const F*>(context))(b, e); });
}

/// The grain at which one chunk of items, each of `item_cost` elementary steps, is worth a thread.
/// About 20 us of work against 5 us for waking the threads.
constexpr std::int64_t grain_for(std::int64_t item_cost, std::int64_t chunk_cost = 1 << 16) {
  if (item_cost < 1) item_cost = 1;
  return item_cost >= chunk_cost ? 1 : chunk_cost / item_cost;
}

/// The threads that work started here would use: 1 inside parallel_for and SerialScope.
int available_threads() noexcept;

/// Keeps everything on the calling thread for its lifetime; for threads that already share the machine.
class SerialScope {
 public:
  SerialScope() noexcept;
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;

 private:
  bool before_;
};

/// Tells a library that opens OpenMP regions itself how many threads it may use from this thread.
class LibraryThreads {
 public:
  explicit LibraryThreads(int n) noexcept;
  ~LibraryThreads();
  LibraryThreads(const LibraryThreads&) = delete;
  LibraryThreads& operator=(const LibraryThreads&) = delete;

 private:
  int before_;
};

}  // namespace taper::cpu_kernels
