// What a million floats cost as a std::vector<std::vector<float>> and as a tensor: docs/tensor_and_vectors.md.
#include <malloc.h>
#include <taper/taper.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

using namespace taper;
using Nested = std::vector<std::vector<float>>;

namespace {

long long live_blocks = 0;  // that operator new has handed out

struct Memory {
  long long blocks, held, resident;

  /// Of the vectors: `held` is with the words that malloc keeps around each block.
  static Memory of_vectors() {
    const struct mallinfo2 info = mallinfo2();
    return {live_blocks, static_cast<long long>(info.uordblks + info.hblkhd), in_ram()};
  }
  /// Of the tensors: `held` is with what the allocator rounds up, and with the objects that describe them.
  static Memory of_tensors() {
    const MemoryStats stats = memory_stats();
    return {live_storages(), stats.block_bytes + stats.object_bytes, in_ram()};
  }
  static long long in_ram() {
    long long pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%*d %lld", &pages) != 1) pages = 0;
    if (file != nullptr) std::fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
  }
  Memory operator-(const Memory& o) const { return {blocks - o.blocks, held - o.held, resident - o.resident}; }
  void print(const char* what) const { std::printf("%-28s %8lld %12lld %12lld\n", what, blocks, held, resident); }
};

/// The time of the fastest of a few calls, in microseconds.
template <class F>
void time(const char* what, const F& f) {
  double best = 1e30;
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("%-28s %8.1f us\n", what, best);
}

Nested transposed(const Nested& rows) {
  Nested result(rows[0].size(), std::vector<float>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows[i].size(); ++j) result[j][i] = rows[i][j];
  return result;
}

void compare(std::size_t rows, std::size_t columns) {
  empty_cache();  // memory that is there already would not be counted as new
  std::printf("%zu x %zu floats, which are %zu bytes\n", rows, columns, rows * columns * sizeof(float));
  std::printf("%-28s %8s %12s %12s\n", "", "blocks", "held bytes", "in RAM");
  Memory before = Memory::of_vectors();
  const Nested nested(rows, std::vector<float>(columns, 1.0f));
  (Memory::of_vectors() - before).print("vector<vector<float>>");

  before = Memory::of_tensors();
  const Tensor x = ones({std::int64_t(rows), std::int64_t(columns)});
  (Memory::of_tensors() - before).print("Tensor x");

  before = Memory::of_tensors();
  const Tensor columns_of_x = x.t();
  (Memory::of_tensors() - before).print("x.t(), with x");

  time("copy, nested vector", [&] { const Nested copy = nested; });
  time("x.clone()", [&] { const Tensor copy = x.clone(); });
  time("transposed, nested vector", [&] { transposed(nested); });
  time("x.t().contiguous()", [&] { x.t().contiguous(); });
  time("x.t()", [&] { x.t(); });
  std::printf("\n");
}

}  // namespace

void* operator new(std::size_t bytes) {
  ++live_blocks;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  if (p != nullptr) --live_blocks;
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept { ::operator delete(p); }

int main() {
  set_num_threads(1);
  const Tensor first = ones({8, 8}).t().contiguous();  // what is set up once is not counted
  Memory::of_vectors();
  compare(1000, 1000);
  compare(300000, 3);
  return 0;
}
