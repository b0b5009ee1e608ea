#include "measure.h"

#include <malloc.h>
#include <time.h>

#include <algorithm>

namespace bench {
namespace {

double clock_us(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return double(t.tv_sec) * 1e6 + double(t.tv_nsec) * 1e-3;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

}  // namespace

Result measure(const std::vector<Side>& sides, double seconds, double per_call) {
  constexpr double kSampleUs = 2000;
  const std::size_t n = sides.size();
  std::vector<long> repeats(n);
  double round_us = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (sides[i].enter) sides[i].enter();
    for (int warm = 0; warm < 5; ++warm) sides[i].run();
    const double start = clock_us(CLOCK_MONOTONIC);
    long calls = 0;
    double elapsed = 0;
    do {
      sides[i].run();
      ++calls;
      elapsed = clock_us(CLOCK_MONOTONIC) - start;
    } while (elapsed < kSampleUs);
    repeats[i] = std::max<long>(1, long(kSampleUs * double(calls) / elapsed));
    round_us += elapsed * double(repeats[i]) / double(calls);
  }
  const int rounds = std::clamp(int(seconds * 1e6 / round_us), 9, 301);
  std::vector<std::vector<double>> times(n), ratios(n);
  for (int r = 0; r < rounds; ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      const clockid_t clock = sides[i].threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
      if (sides[i].enter) sides[i].enter();
      sides[i].run();  // brings this side's data back into the cache
      const double start = clock_us(clock);
      for (long k = 0; k < repeats[i]; ++k) sides[i].run();
      times[i].push_back((clock_us(clock) - start) / double(repeats[i]) / per_call);
    }
    for (std::size_t i = 0; i < n; ++i) ratios[i].push_back(times[i].back() / times[0].back());
  }
  Result result;
  for (std::size_t i = 0; i < n; ++i) {
    result.median_us.push_back(median(times[i]));
    result.ratio.push_back(median(ratios[i]));
  }
  return result;
}

void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 2'000'000'000);
  mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace bench
