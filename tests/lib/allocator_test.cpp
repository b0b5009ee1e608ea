#include <taper/allocator.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heap.h"
#include "support/catch.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {

bool is_aligned(const void* p, std::size_t to) { return reinterpret_cast<std::uintptr_t>(p) % to == 0; }

template <class F>
void in_a_thread(F f) {
  std::thread(std::move(f)).join();
}

/// Sets the limit on what the system gives for the length of a scope.
struct SystemLimit {
  explicit SystemLimit(std::int64_t bytes) { detail::set_system_memory_limit(static_cast<std::size_t>(bytes)); }
  ~SystemLimit() { detail::set_system_memory_limit(0); }
};

/// What a loader thread hands to the training thread: at most `capacity` blocks at a time.
class BlockQueue {
 public:
  explicit BlockQueue(std::size_t capacity) : capacity_(capacity) {}
  void push(DataPtr block) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return blocks_.size() < capacity_; });
    blocks_.push_back(std::move(block));
    changed_.notify_all();
  }
  DataPtr pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !blocks_.empty(); });
    DataPtr block = std::move(blocks_.front());
    blocks_.pop_front();
    changed_.notify_all();
    return block;
  }

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<DataPtr> blocks_;
};

}  // namespace

// ---- DataPtr ----

TEST_CASE("a block's deleter runs once, on release, with the address, context and size it was made with [S24]",
          "[S24]") {
  struct Call {
    void* data;
    void* context;
    std::size_t bytes;
  };
  static std::vector<Call> calls;
  calls.clear();
  int memory = 0;
  int context = 0;
  const auto record = [](void* data, void* how, std::size_t bytes) noexcept { calls.push_back({data, how, bytes}); };

  SECTION("moves do not run it") {
    {
      DataPtr first(&memory, &context, 4, record);
      DataPtr second(std::move(first));
      DataPtr third;
      third = std::move(second);
      REQUIRE(third.get() == &memory);
      REQUIRE(third.context() == &context);
      REQUIRE(third.bytes() == 4);
      REQUIRE_FALSE(first);
      REQUIRE_FALSE(second);
      REQUIRE(calls.empty());
    }
    REQUIRE(calls.size() == 1);
    REQUIRE(calls[0].data == &memory);
    REQUIRE(calls[0].context == &context);
    REQUIRE(calls[0].bytes == 4);
  }
  SECTION("an exception runs it") {
    REQUIRE_THROWS_AS(
        [&] {
          DataPtr block(&memory, &context, 4, record);
          throw Error("on the way");
        }(),
        Error);
    REQUIRE(calls.size() == 1);
  }
  SECTION("reset runs it now and not again") {
    DataPtr block(&memory, &context, 4, record);
    block.reset();
    REQUIRE(calls.size() == 1);
    REQUIRE_FALSE(block);
    block.reset();
    REQUIRE(calls.size() == 1);
  }
  SECTION("assignment runs it for the block that is replaced") {
    int other = 0;
    DataPtr block(&memory, &context, 4, record);
    block = DataPtr(&other, nullptr, 4, record);
    REQUIRE(calls.size() == 1);
    REQUIRE(calls[0].data == &memory);
    DataPtr& same = block;
    block = std::move(same);
    REQUIRE(block.get() == &other);
    REQUIRE(calls.size() == 1);
  }
  SECTION("a reference without a deleter runs nothing") { DataPtr(&memory, nullptr, 4, nullptr).reset(); }
}

// ---- Blocks ----

TEST_CASE("every CPU block is aligned to 64 bytes and holds what was asked for [S30]", "[S30]") {
  std::vector<DataPtr> blocks;
  for (std::size_t bytes = 0; bytes <= 4099; ++bytes) {
    DataPtr block = cpu_allocator().allocate(bytes);
    if (!block || !is_aligned(block.get(), 64) || block.bytes() != bytes) FAIL("at " << bytes << " bytes");
    std::memset(block.get(), static_cast<int>(bytes & 255), bytes);
    blocks.push_back(std::move(block));
  }
  for (std::size_t bytes = 0; bytes <= 4099; ++bytes) {
    const auto* data = static_cast<const unsigned char*>(blocks[bytes].get());
    for (std::size_t i = 0; i < bytes; ++i) {
      if (data[i] != (bytes & 255)) FAIL("block of " << bytes << " bytes overwritten at " << i);
    }
  }
}

TEST_CASE("large CPU blocks are aligned, to huge pages from 2 MiB on [S30]", "[S30]") {
  for (const std::size_t bytes : {8u << 10, (8u << 10) + 1, 255u << 10, 256u << 10, (256u << 10) + 1, 1u << 20,
                                  (2u << 20) - 1, 2u << 20, (2u << 20) + 1, 5u << 20, 33u << 20}) {
    const DataPtr block = cpu_allocator().allocate(bytes);
    auto* data = static_cast<char*>(block.get());
    CAPTURE(bytes);
    REQUIRE(is_aligned(data, 64));
    if (memory_is_pooled() && bytes >= (2u << 20)) REQUIRE(is_aligned(data, 2u << 20));
    data[0] = data[bytes / 2] = data[bytes - 1] = 1;
  }
}

TEST_CASE("a block wastes at most an eighth of what was asked for, above 1 KiB") {
  for (std::size_t bytes = 1025; bytes < (std::size_t{1} << 44); bytes += bytes / 37 + 1) {
    const std::size_t size = class_size(size_class(bytes));
    if (size < bytes || size - bytes > bytes / 8) FAIL(bytes << " bytes get a block of " << size);
  }
  for (unsigned c = 0; c < kClasses; ++c) {
    if (size_class(class_size(c)) != c) FAIL("class " << c << " is not its own");
  }
}

TEST_CASE("a freed block serves the next request of its size, with nothing asked of the system [S33]", "[S33]") {
  if (!memory_is_pooled()) return;
  for (const std::size_t bytes : {4u, 64u, 1000u, 5000u, 100000u, 1u << 20, 5u << 20}) {
    DataPtr block = cpu_allocator().allocate(bytes);
    const void* first = block.get();
    const std::int64_t asked = memory_stats().system_allocations;

    block.reset();
    block = cpu_allocator().allocate(bytes);

    CAPTURE(bytes);
    REQUIRE(block.get() == first);
    REQUIRE(memory_stats().system_allocations == asked);
  }
}

TEST_CASE("a request may be served by a free block up to a quarter larger, which keeps its own size [S33]", "[S33]") {
  if (!memory_is_pooled()) return;
  for (const std::size_t unit : {std::size_t{16} << 10, std::size_t{16} << 20}) {
    empty_cache();
    DataPtr larger = cpu_allocator().allocate(unit + unit / 4);
    DataPtr too_large = cpu_allocator().allocate(unit + unit / 2);
    // Whatever else would be free for the requests below is taken.
    std::vector<DataPtr> taken;
    for (int i = 0; i < (unit < 1000000 ? 500 : 1); ++i) taken.push_back(cpu_allocator().allocate(unit));

    const void* address = too_large.get();
    too_large.reset();
    taken.push_back(cpu_allocator().allocate(unit));
    REQUIRE(taken.back().get() != address);

    address = larger.get();
    larger.reset();
    DataPtr block = cpu_allocator().allocate(unit);
    REQUIRE(block.get() == address);
    block.reset();
    REQUIRE(cpu_allocator().allocate(unit + unit / 4).get() == address);
  }
}

TEST_CASE("a request of no bytes gets a valid block") {
  const std::int64_t before = memory_stats().allocated_bytes;
  const DataPtr block = cpu_allocator().allocate(0);
  REQUIRE(block);
  REQUIRE(memory_stats().allocated_bytes == before);
}

// ---- Objects ----

TEST_CASE("objects of every size are aligned to 16 bytes and apart from each other [S30]", "[S30]") {
  std::vector<std::pair<void*, std::size_t>> objects;
  for (std::size_t bytes = 0; bytes <= 4099; bytes += bytes < 1100 ? 1 : 61) {
    objects.emplace_back(pool::allocate(bytes), bytes);
    if (!is_aligned(objects.back().first, 16)) FAIL("at " << bytes << " bytes");
    std::memset(objects.back().first, static_cast<int>(bytes & 255), bytes);
  }
  objects.emplace_back(pool::allocate(1 << 20), 1 << 20);  // beyond what the pool keeps
  for (const auto& [memory, bytes] : objects) {
    const auto* data = static_cast<const unsigned char*>(memory);
    if (bytes > 0 && bytes <= 4099 && (data[0] != (bytes & 255) || data[bytes - 1] != (bytes & 255))) {
      FAIL("object of " << bytes << " bytes overwritten");
    }
  }
  for (const auto& [memory, bytes] : objects) pool::deallocate(memory, bytes);
  pool::deallocate(nullptr, 16);
}

namespace {
struct Base : Pooled<Base> {
  virtual ~Base() = default;
  int x = 1;
};
struct Derived : Base {
  std::array<double, 20> more{};
};
struct alignas(64) Wide : Base {
  std::array<double, 8> more{};
};
struct ThrowsWhenMade : Base {
  ThrowsWhenMade() { throw Error("no"); }
};
}  // namespace

TEST_CASE("classes with the pool as a base live in it, whatever they derive to") {
  const std::int64_t before = memory_stats().object_bytes;

  auto base = std::make_unique<Base>();
  REQUIRE(memory_stats().object_bytes >= before + static_cast<std::int64_t>(sizeof(Base)));
  std::unique_ptr<Base> derived = std::make_unique<Derived>();
  std::unique_ptr<Base> wide = std::make_unique<Wide>();
  REQUIRE(is_aligned(wide.get(), 64));
  REQUIRE(memory_stats().object_bytes >= before + static_cast<std::int64_t>(sizeof(Base) + sizeof(Derived)));
  REQUIRE_THROWS_AS(std::make_unique<ThrowsWhenMade>(), Error);
  alignas(Base) std::byte place[sizeof(Base)];
  Base* placed = new (place) Base;
  placed->~Base();

  base.reset();
  derived.reset();
  wide.reset();
  REQUIRE(memory_stats().object_bytes == before);
}

namespace {
struct Counted : live::Counted<live::Kind::node> {};
}  // namespace

TEST_CASE("live objects are counted over all threads, also those that have ended") {
  const std::int64_t nodes = live_nodes();
  const std::int64_t tensors = live_tensors();

  auto made_there = std::make_unique<std::optional<Counted>>();
  in_a_thread([&] { made_there->emplace(); });
  const Counted here;
  const Counted copy = here;
  REQUIRE(live_nodes() == nodes + 3);

  made_there.reset();
  REQUIRE(live_nodes() == nodes + 2);
  REQUIRE(live_tensors() == tensors);
}

// ---- Threads ----

TEST_CASE("a block freed by another thread returns to the thread that made it [S33]", "[S33]") {
  if (!memory_is_pooled()) return;
  for (const std::size_t bytes : {64u, 960u, 40000u, 200000u}) {
    // Take what this size has left on the free list.
    std::vector<DataPtr> blocks;
    std::set<const void*> addresses;
    for (int i = 0; i < 200; ++i) {
      blocks.push_back(cpu_allocator().allocate(bytes));
      addresses.insert(blocks.back().get());
    }
    const MemoryStats before = memory_stats();

    in_a_thread([&] { blocks.clear(); });

    REQUIRE(memory_stats().allocated_bytes == before.allocated_bytes - 200 * static_cast<std::int64_t>(bytes));
    int seen = 0;
    for (int i = 0; i < 300; ++i) {
      blocks.push_back(cpu_allocator().allocate(bytes));
      seen += static_cast<int>(addresses.count(blocks.back().get()));
    }
    REQUIRE(seen == 200);
  }
}

TEST_CASE("objects freed by another thread return to the thread that made them") {
  if (!memory_is_pooled()) return;
  std::vector<void*> objects;
  for (int i = 0; i < 1000; ++i) objects.push_back(pool::allocate(112));
  const std::set<void*> addresses(objects.begin(), objects.end());
  in_a_thread([&] {
    for (void* object : objects) pool::deallocate(object, 112);
  });

  objects.clear();
  int seen = 0;
  for (int i = 0; i < 1100; ++i) {
    objects.push_back(pool::allocate(112));
    seen += static_cast<int>(addresses.count(objects.back()));
  }
  REQUIRE(seen == 1000);
  for (void* object : objects) pool::deallocate(object, 112);
}

TEST_CASE("the memory of a thread that ended serves the next thread") {
  if (!memory_is_pooled()) return;
  const void* first = nullptr;
  DataPtr outlives;
  in_a_thread([&] {
    outlives = cpu_allocator().allocate(3000);
    first = outlives.get();
  });
  outlives.reset();  // its heap has no thread now

  const std::int64_t asked = memory_stats().system_allocations;
  for (int i = 0; i < 50; ++i) {
    const void* again = nullptr;
    in_a_thread([&] { again = cpu_allocator().allocate(3000).get(); });
    REQUIRE(again == first);
  }
  REQUIRE(memory_stats().system_allocations == asked);
}

namespace {
/// Allocates and frees when its thread's own variables are destroyed.
struct UsesMemoryAtTheEnd {
  DataPtr kept;
  void* object = nullptr;
  ~UsesMemoryAtTheEnd() {
    kept.reset();
    kept = cpu_allocator().allocate(500);
    std::memset(kept.get(), 1, 500);
    const DataPtr large = cpu_allocator().allocate(1 << 20);
    pool::deallocate(object, 48);
    object = pool::allocate(48);
    pool::deallocate(object, 48);
    live::add(live::Kind::tensor, 1);
    live::add(live::Kind::tensor, -1);
  }
};
}  // namespace

TEST_CASE("memory can be used and freed while a thread ends") {
  const MemoryStats before = memory_stats();
  const std::int64_t tensors = live_tensors();

  in_a_thread([] {
    // Made before this thread has used memory, so destroyed after the end of that is noticed.
    thread_local UsesMemoryAtTheEnd last;
    last.kept = cpu_allocator().allocate(200);
    last.object = pool::allocate(48);
  });

  REQUIRE(memory_stats().allocated_bytes == before.allocated_bytes);
  REQUIRE(memory_stats().object_bytes == before.object_bytes);
  REQUIRE(live_tensors() == tensors);
}

// Freed after main: any mistake there ends the test program with a failure.
namespace {
DataPtr freed_after_main;
DataPtr large_freed_after_main;
std::unique_ptr<Base> object_freed_after_main;
}  // namespace

TEST_CASE("memory can be freed by the destructors of static variables") {
  freed_after_main = cpu_allocator().allocate(100);
  large_freed_after_main = cpu_allocator().allocate(1 << 20);
  object_freed_after_main = std::make_unique<Derived>();
}

TEST_CASE("a loop asks the system for nothing after its first steps, loader threads included") {
  constexpr int kSteps = 60;
  constexpr int kWarmUp = 20;
  BlockQueue queue(3);
  std::atomic<int> started{0};
  std::vector<std::thread> loaders;
  for (int loader = 0; loader < 2; ++loader) {
    loaders.emplace_back([&] {
      for (int i = 0; i < kSteps; ++i) {
        DataPtr scratch = cpu_allocator().allocate(64 * 8);
        DataPtr batch = cpu_allocator().allocate(64 * 784 * 4);
        static_cast<char*>(batch.get())[0] = 1;
        if (i == 0) ++started;
        queue.push(std::move(batch));
      }
    });
  }

  std::optional<std::int64_t> asked;
  for (int step = 0; step < 2 * kSteps; ++step) {
    if (!asked && step >= kWarmUp && started == 2) asked = memory_stats().system_allocations;
    const DataPtr batch = queue.pop();
    std::vector<DataPtr> activations;
    std::vector<void*> nodes;
    for (const std::size_t bytes : {64u * 128u * 4u, 64u * 10u * 4u, 4u, 3u << 20, 300u << 10}) {
      activations.push_back(cpu_allocator().allocate(bytes));
      nodes.push_back(pool::allocate(160));
    }
    for (void* node : nodes) pool::deallocate(node, 160);
  }
  CHECK(asked);
  if (memory_is_pooled()) CHECK(memory_stats().system_allocations == asked);
  for (std::thread& loader : loaders) loader.join();
}

TEST_CASE("threads may allocate and free each other's memory at the same time") {
  const MemoryStats before = memory_stats();
  constexpr int kThreads = 4;
  std::array<std::mutex, 8> locks;
  std::array<std::vector<DataPtr>, 8> shared;
  std::array<std::vector<std::pair<void*, std::size_t>>, 8> shared_objects;

  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::uint32_t state = 12345u + static_cast<std::uint32_t>(t);
      const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
      for (int i = 0; i < 4000; ++i) {
        const std::size_t slot = next() % 8;
        const std::size_t bytes = std::size_t{1} << (next() % (i % 50 == 0 ? 20 : 12));
        DataPtr block = cpu_allocator().allocate(bytes);
        static_cast<char*>(block.get())[bytes - 1] = 7;
        const std::size_t size = 16 + next() % 500;
        void* object = pool::allocate(size);
        std::memset(object, 1, size);
        live::add(live::Kind::storage, 1);

        std::vector<DataPtr> blocks;
        std::vector<std::pair<void*, std::size_t>> objects;
        {
          const std::lock_guard lock(locks[slot]);
          shared[slot].push_back(std::move(block));
          shared_objects[slot].emplace_back(object, size);
          if (shared[slot].size() > 20) blocks.swap(shared[slot]);
          if (shared_objects[slot].size() > 20) objects.swap(shared_objects[slot]);
        }
        for (const auto& [memory, n] : objects) pool::deallocate(memory, n);
        live::add(live::Kind::storage, -1);
        if (i % 1000 == 999) empty_cache();
        if (i % 500 == 0) (void)memory_stats();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& blocks : shared) blocks.clear();
  for (auto& objects : shared_objects) {
    for (const auto& [memory, bytes] : objects) pool::deallocate(memory, bytes);
  }

  const MemoryStats after = memory_stats();
  REQUIRE(after.allocated_bytes == before.allocated_bytes);
  REQUIRE(after.block_bytes == before.block_bytes);
  REQUIRE(after.object_bytes == before.object_bytes);
}

// ---- Statistics, limits, replacement ----

TEST_CASE("statistics follow a block through its life [S155]", "[S155]") {
  for (const std::int64_t bytes : {std::int64_t{1000}, std::int64_t{100000}, std::int64_t{5000000}}) {
    empty_cache();
    reset_peak_memory_stats();
    const MemoryStats start = memory_stats();
    REQUIRE(start.max_allocated_bytes == start.allocated_bytes);

    DataPtr block = cpu_allocator().allocate(static_cast<std::size_t>(bytes));
    const MemoryStats used = memory_stats();
    REQUIRE(used.allocated_bytes == start.allocated_bytes + bytes);
    REQUIRE(used.block_bytes >= start.block_bytes + bytes);
    REQUIRE(used.block_bytes <= start.block_bytes + bytes + bytes / 8);
    REQUIRE(used.allocations == start.allocations + 1);
    REQUIRE(used.max_allocated_bytes == used.allocated_bytes);
    REQUIRE(used.reserved_bytes >= used.block_bytes + used.object_bytes);

    block.reset();
    const MemoryStats freed = memory_stats();
    REQUIRE(freed.allocated_bytes == start.allocated_bytes);
    REQUIRE(freed.block_bytes == start.block_bytes);
    REQUIRE(freed.max_allocated_bytes == used.allocated_bytes);
    if (memory_is_pooled()) {
      REQUIRE(freed.reserved_bytes == used.reserved_bytes);
      REQUIRE(freed.cached_bytes() >= bytes);
    }

    empty_cache();
    REQUIRE(memory_stats().reserved_bytes <= start.reserved_bytes);
    REQUIRE(memory_stats().max_reserved_bytes >= used.reserved_bytes);
    reset_peak_memory_stats();
    REQUIRE(memory_stats().max_allocated_bytes == start.allocated_bytes);
    REQUIRE(memory_stats().max_reserved_bytes == memory_stats().reserved_bytes);
  }
}

TEST_CASE("emptying the cache gives back what no block uses, and nothing else [S155]", "[S155]") {
  empty_cache();
  const MemoryStats before = memory_stats();
  DataPtr kept = cpu_allocator().allocate(6000);
  std::memset(kept.get(), 42, 6000);
  {
    std::vector<DataPtr> blocks;
    for (int i = 0; i < 5000; ++i) blocks.push_back(cpu_allocator().allocate(3000));
    for (int i = 0; i < 5; ++i) blocks.push_back(cpu_allocator().allocate(3 << 20));
  }
  in_a_thread([] {
    std::vector<DataPtr> blocks;
    for (int i = 0; i < 5000; ++i) blocks.push_back(cpu_allocator().allocate(200));
  });
  const MemoryStats full = memory_stats();

  empty_cache();

  const MemoryStats emptied = memory_stats();
  if (memory_is_pooled()) {
    REQUIRE(full.reserved_bytes >= before.reserved_bytes + (15 << 20));
    REQUIRE(emptied.system_frees > full.system_frees);
  }
  REQUIRE(emptied.reserved_bytes <= before.reserved_bytes + (2 << 20));
  const auto* data = static_cast<const char*>(kept.get());
  REQUIRE(std::string(data, data + 6000) == std::string(6000, 42));
  REQUIRE(cpu_allocator().allocate(3000));
  REQUIRE(memory_stats().allocated_bytes == before.allocated_bytes + 6000);
}

TEST_CASE("a request that no machine could serve is an error that names the size") {
  const MemoryStats before = memory_stats();
  for (const std::size_t bytes :
       {std::size_t{1} << 45, (std::size_t{1} << 46) + 1, std::size_t{PTRDIFF_MAX} + 1, SIZE_MAX - 63, SIZE_MAX}) {
    REQUIRE_THROWS_AS(cpu_allocator().allocate(bytes), OutOfMemoryError);
    REQUIRE_THROWS_WITH(cpu_allocator().allocate(bytes),
                        Contains("cpu allocator: cannot allocate " + std::to_string(bytes) + " bytes"));
    REQUIRE_THROWS_AS(pool::allocate(bytes), OutOfMemoryError);
  }
  REQUIRE(memory_stats().allocated_bytes == before.allocated_bytes);
  REQUIRE(memory_stats().object_bytes == before.object_bytes);
  REQUIRE(cpu_allocator().allocate(100));
}

TEST_CASE("running out of memory is an error with numbers, and what is in use stays as it is") {
  empty_cache();
  const DataPtr kept = cpu_allocator().allocate(1 << 20);
  const SystemLimit limit(memory_stats().reserved_bytes + (10 << 20));

  REQUIRE_THROWS_WITH(cpu_allocator().allocate(50 << 20), Contains("cannot allocate 52428800 bytes (50.0 MiB): ") &&
                                                              Contains(" in use") && Contains(" cached") &&
                                                              Contains("smaller batch"));
  // Small ones too, when even their chunks are refused; then as if nothing had been.
  std::vector<DataPtr> blocks;
  REQUIRE_THROWS_AS(
      [&] {
        for (;;) blocks.push_back(cpu_allocator().allocate(10000));
      }(),
      OutOfMemoryError);
  REQUIRE(blocks.size() > 500);
  std::vector<void*> objects;
  REQUIRE_THROWS_AS(
      [&] {
        for (;;) objects.push_back(pool::allocate(1000));
      }(),
      OutOfMemoryError);
  for (void* object : objects) pool::deallocate(object, 1000);
  blocks.clear();
  REQUIRE(cpu_allocator().allocate(8 << 20));
}

TEST_CASE("what is cached is given up before a request fails") {
  empty_cache();
  const SystemLimit limit(memory_stats().reserved_bytes + (24 << 20));

  cpu_allocator().allocate(20 << 20).reset();
  REQUIRE(cpu_allocator().allocate(14 << 20));
  {
    std::vector<DataPtr> blocks;
    for (int i = 0; i < 180; ++i) blocks.push_back(cpu_allocator().allocate(100 << 10));
  }
  REQUIRE(cpu_allocator().allocate(20 << 20));
  REQUIRE(cpu_allocator().allocate(100));
}

namespace {
/// Counts, and lets another allocator do the work.
class CountingAllocator final : public Allocator {
 public:
  explicit CountingAllocator(Allocator& inner) : inner_(inner) {}
  DataPtr allocate(std::size_t bytes) override {
    ++count;
    return inner_.allocate(bytes);
  }
  const char* name() const noexcept override { return "counting"; }
  int count = 0;

 private:
  Allocator& inner_;
};
}  // namespace

TEST_CASE("a user's allocator replaces the default, which comes back with its blocks [S26]", "[S26]") {
  Allocator& standard = cpu_allocator();
  REQUIRE(std::string(standard.name()) == "cpu");
  CountingAllocator counting(standard);

  REQUIRE(set_cpu_allocator(&counting) == &standard);
  DataPtr block = cpu_allocator().allocate(10);
  REQUIRE(std::string(cpu_allocator().name()) == "counting");
  REQUIRE(counting.count == 1);

  REQUIRE(set_cpu_allocator(nullptr) == &counting);
  REQUIRE(&cpu_allocator() == &standard);
  block.reset();
  cpu_allocator().allocate(10);
  REQUIRE(counting.count == 1);
}
