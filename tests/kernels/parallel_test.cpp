#include "cpu/parallel.h"

#include <taper/error.h>
#include <taper/parallel.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/catch.h"
#include "thread_count.h"

using namespace taper;
using namespace taper::cpu_kernels;

TEST_CASE("parallel_for covers a range once, in chunks that do not depend on the thread count") {
  for (int threads : {1, 2, 3, 8}) {
    const ThreadCount guard(threads);
    for (std::int64_t n : {0, 1, 9, 10, 11, 99, 100, 1000}) {
      std::vector<int> hits(static_cast<std::size_t>(n), 0);
      std::atomic<int> wrong{0};

      parallel_for(7, 7 + n, 10, [&](std::int64_t b, std::int64_t e) {
        if ((b - 7) % 10 != 0 || e != std::min<std::int64_t>(b + 10, 7 + n)) ++wrong;
        for (std::int64_t i = b; i < e; ++i) ++hits[static_cast<std::size_t>(i - 7)];
      });

      CHECK(wrong == 0);
      CHECK(std::count(hits.begin(), hits.end(), 1) == n);
    }
  }
}

TEST_CASE("an exception in a chunk reaches the caller of parallel_for, which stays usable") {
  for (int threads : {1, 2, 4}) {
    const ThreadCount guard(threads);
    const auto fail_late = [](std::int64_t b, std::int64_t) {
      if (b == 90) throw std::runtime_error("chunk 9");
    };
    CHECK_THROWS_WITH(parallel_for(0, 100, 10, fail_late), "chunk 9");
    std::atomic<int> sum{0};
    parallel_for(0, 100, 10, [&](std::int64_t b, std::int64_t e) { sum += static_cast<int>(e - b); });
    CHECK(sum == 100);
  }
}

TEST_CASE("nested parallel work stays on its thread, and SerialScope keeps work on the caller's") {
  const ThreadCount guard(4);
  std::atomic<int> strangers{0}, total{0};
  parallel_for(0, 8, 1, [&](std::int64_t, std::int64_t) {
    const auto outer = std::this_thread::get_id();
    if (available_threads() != 1) ++strangers;
    parallel_for(0, 100, 1, [&](std::int64_t b, std::int64_t e) {
      if (std::this_thread::get_id() != outer) ++strangers;
      total += static_cast<int>(e - b);
    });
  });
  CHECK(strangers == 0);
  CHECK(total == 800);

  const SerialScope serial;
  CHECK(available_threads() == 1);
  const auto here = std::this_thread::get_id();
  parallel_for(0, 100, 1, [&](std::int64_t, std::int64_t) {
    if (std::this_thread::get_id() != here) ++strangers;
  });
  CHECK(strangers == 0);
}

TEST_CASE("several threads may start parallel work at the same time") {
  const ThreadCount guard(2);
  std::atomic<std::int64_t> total{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round)
        parallel_for(0, 64, 4, [&](std::int64_t b, std::int64_t e) { total += e - b; });
    });
  for (std::thread& t : callers) t.join();
  CHECK(total == 3 * 20 * 64);
}

TEST_CASE("set_num_threads refuses numbers below one and changes nothing") {
  const ThreadCount guard(3);
  CHECK_THROWS_WITH(set_num_threads(0), "set_num_threads: the number of threads must be 1 to 1024, got 0");
  CHECK_THROWS_AS(set_num_threads(-2), Error);
  CHECK(get_num_threads() == 3);
}
