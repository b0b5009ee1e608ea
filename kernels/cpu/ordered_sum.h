#pragma once
#include <algorithm>
#include <cstdint>

#include "parallel.h"
#include "scratch.h"

namespace taper::cpu_kernels {

/// out [width] = the sum over `count` items that f(begin, end, sum) adds to sum for items [begin, end).
///
/// Items are summed in chunks that depend on the numbers given alone, and the chunks' sums are added in order:
/// the same bits for any thread count. item_work is in multiply-adds.
template <class T, class F>
void ordered_sum(std::int64_t count, std::int64_t item_work, std::int64_t width, T* out, const F& f) {
  constexpr std::int64_t kMaxChunks = 32, kChunkWork = std::int64_t{1} << 20, kMaxPartials = std::int64_t{1} << 22;
  std::fill_n(out, width, T(0));
  const std::int64_t most = std::clamp<std::int64_t>(kMaxPartials / std::max<std::int64_t>(width, 1), 1, kMaxChunks);
  const std::int64_t grain = std::max({grain_for(item_work, kChunkWork), (count + most - 1) / most, std::int64_t{1}});
  const std::int64_t chunks = (count + grain - 1) / grain;
  if (chunks <= 1) {
    if (count > 0) f(0, count, out);
    return;
  }
  const Scratch<T> partials((chunks - 1) * width);  // the first chunk sums into out
  parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
    T* sum = begin == 0 ? out : partials + (begin / grain - 1) * width;
    if (begin != 0) std::fill_n(sum, width, T(0));
    f(begin, end, sum);
  });
  for (std::int64_t k = 0; k < chunks - 1; ++k) {
    const T* partial = partials + k * width;
    for (std::int64_t i = 0; i < width; ++i) out[i] += partial[i];
  }
}

}  // namespace taper::cpu_kernels
