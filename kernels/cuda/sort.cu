#include <taper/half.h>

#include <type_traits>

#include "launch.cuh"
#include "sort.h"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;

template <class Key, class T>
__device__ __forceinline__ Key key_of(T x) {
  constexpr Key kSign = Key(1) << (sizeof(Key) * 8 - 1);
  if constexpr (is_16_bit_floating<T>) {
    return key_of<Key>(float(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return ~Key(0);
    const T plain = x == 0 ? T(0) : x;  // of two zeros
    Key bits;
    memcpy(&bits, &plain, sizeof bits);
    return bits & kSign ? ~bits : bits | kSign;
  } else if constexpr (std::is_signed_v<T>) {
    return Key(std::make_signed_t<Key>(x)) ^ kSign;  // extended by its sign
  } else {
    return Key(x);
  }
}

template <class T, class Key>
__global__ void sort_keys_kernel(const Walk<1> walk, const T* x, const bool descending, Key* keys) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < walk.count; i += gridDim.x * blockDim.x) {
    std::int64_t at[1];
    walk.find(i, at);
    const Key key = key_of<Key>(x[at[0]]);
    keys[i] = descending ? Key(~key) : key;
  }
}

template <class Key>
__global__ void sort_short_kernel(const KeyLines lines, const Key* keys, Key* sorted, std::uint32_t* order) {
  const std::uint32_t n = lines.n.divisor;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < lines.count; i += gridDim.x * blockDim.x) {
    const std::uint32_t first = lines.n.divide(i) * n, mine = i - first;
    const Key key = keys[i];
    std::uint32_t before = 0;
    for (std::uint32_t j = 0; j < n; ++j) {
      const Key other = keys[first + j];
      before += other < key || (other == key && j < mine) ? 1 : 0;
    }
    sorted[first + before] = key;
    order[first + before] = mine;
  }
}

template <class Key>
__device__ __forceinline__ std::uint32_t digit_of(Key key, std::uint32_t shift) {
  return std::uint32_t(key >> shift) & (DigitPass::kDigits - 1);
}
/// The range of a tile in its line.
struct Tile {
  std::uint32_t line, number, begin, end;
  __device__ Tile(const DigitPass& pass, std::uint32_t t) {
    line = pass.tiles.divide(t);
    number = t - line * pass.tiles.divisor;
    begin = number * DigitPass::kTile;
    end = min(begin + DigitPass::kTile, pass.n);
  }
};

// What a thread reads of shared memory last, it is also the one to write first for the next tile or line.
template <class Key>
__global__ void count_digits(const DigitPass pass, const Key* keys) {
  TAPER_SHARED(std::uint32_t, count, [DigitPass::kDigits]);
  const std::uint32_t tiles = pass.lines * pass.tiles.divisor;
  for (std::uint32_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const Tile tile(pass, t);
    if (threadIdx.x < DigitPass::kDigits) count[threadIdx.x] = 0;
    __syncthreads();
    for (std::uint32_t i = tile.begin + threadIdx.x; i < tile.end; i += kThreads)
      atomicAdd(&count[digit_of(keys[std::size_t(tile.line) * pass.n + i], pass.shift)], 1u);
    __syncthreads();
    if (threadIdx.x < DigitPass::kDigits)
      pass.counts[(tile.line * DigitPass::kDigits + threadIdx.x) * pass.tiles.divisor + tile.number] =
          count[threadIdx.x];
  }
}

/// Turns the counts of each line into where the digits of each tile begin. A block for each line.
__global__ void begin_digits(const DigitPass pass) {
  TAPER_SHARED(std::uint32_t, sum, [kThreads]);
  const std::uint32_t n = DigitPass::kDigits * pass.tiles.divisor, each = (n + kThreads - 1) / kThreads;
  const std::uint32_t begin = min(threadIdx.x * each, n), end = min(begin + each, n);
  for (std::uint32_t line = blockIdx.x; line < pass.lines; line += gridDim.x) {
    std::uint32_t* const counts = pass.counts + std::size_t(line) * n;
    std::uint32_t mine = 0;
    for (std::uint32_t i = begin; i < end; ++i) mine += counts[i];
    sum[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
      std::uint32_t all = 0;
      for (unsigned t = 0; t < kThreads; ++t) {
        const std::uint32_t here = sum[t];
        sum[t] = all;
        all += here;
      }
    }
    __syncthreads();
    std::uint32_t at = sum[threadIdx.x];
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint32_t here = counts[i];
      counts[i] = at;
      at += here;
    }
  }
}

/// Each thread has neighbouring elements and a column of counters, so that equal digits stay in their order.
template <class Key>
__global__ void move_by_digit(const DigitPass pass, const Key* keys, const std::uint32_t* order, Key* to_keys,
                              std::uint32_t* to_order) {
  constexpr std::uint32_t kEach = DigitPass::kTile / kThreads;
  TAPER_SHARED(std::uint32_t, at, [DigitPass::kDigits][kThreads + 1]);
  const std::uint32_t tiles = pass.lines * pass.tiles.divisor;
  for (std::uint32_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const Tile tile(pass, t);
    const std::size_t first = std::size_t(tile.line) * pass.n;
    const std::uint32_t begin = min(tile.begin + threadIdx.x * kEach, tile.end), end = min(begin + kEach, tile.end);
    for (std::uint32_t d = 0; d < DigitPass::kDigits; ++d) at[d][threadIdx.x] = 0;
    for (std::uint32_t i = begin; i < end; ++i) ++at[digit_of(keys[first + i], pass.shift)][threadIdx.x];
    __syncthreads();
    if (threadIdx.x < DigitPass::kDigits) {
      std::uint32_t* const of_digit = at[threadIdx.x];
      std::uint32_t all =
          pass.counts[(tile.line * DigitPass::kDigits + threadIdx.x) * pass.tiles.divisor + tile.number];
      for (unsigned column = 0; column < kThreads; ++column) {
        const std::uint32_t here = of_digit[column];
        of_digit[column] = all;
        all += here;
      }
    }
    __syncthreads();
    for (std::uint32_t i = begin; i < end; ++i) {
      const Key key = keys[first + i];
      const std::size_t to = first + at[digit_of(key, pass.shift)][threadIdx.x]++;
      to_keys[to] = key;
      to_order[to] = order ? order[first + i] : i;
    }
  }
}

template <class Key>
__global__ void median_order_kernel(const KeyLines lines, const std::uint32_t middle, const bool may_be_nan,
                                    const Key* keys, const std::uint32_t* order, std::uint32_t* out) {
  const std::uint32_t n = lines.n.divisor, count = lines.count / n;
  for (std::uint32_t line = blockIdx.x * blockDim.x + threadIdx.x; line < count; line += gridDim.x * blockDim.x) {
    const Key* const key = keys + std::size_t(line) * n;
    std::uint32_t chosen = middle;
    if (may_be_nan && key[n - 1] == ~Key(0)) {
      std::uint32_t low = 0, high = n - 1;
      while (low < high) {
        const std::uint32_t half = low + (high - low) / 2;
        if (key[half] == ~Key(0))
          high = half;
        else
          low = half + 1;
      }
      chosen = low;
    }
    out[line] = order[std::size_t(line) * n + chosen];
  }
}

template <class T>
__global__ void search_kernel(const Walk<3> walk, const std::uint32_t n, const std::int64_t step, const bool right,
                              const T* sequences, const T* values, std::int64_t* out) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < walk.count; i += gridDim.x * blockDim.x) {
    std::int64_t at[3];
    walk.find(i, at);
    const T value = values[at[1]];
    std::uint32_t low = 0, high = n;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      const T m = sequences[at[2] + middle * step];
      // NaN belongs at the end.
      if (right ? !(m > value) : !(m >= value))
        low = middle + 1;
      else
        high = middle;
    }
    out[at[0]] = low;
  }
}

}  // namespace

template <class T, class Key>
void sort_keys(const Queue& queue, const Walk<1>& walk, const T* x, bool descending, Key* keys) {
  launch(queue, "keys to sort", blocks_for(queue, walk.count, kThreads), kThreads, 0, sort_keys_kernel<T, Key>, walk, x,
         descending, keys);
}
template <class Key>
void sort_short(const Queue& queue, const KeyLines& lines, const Key* keys, Key* sorted, std::uint32_t* order) {
  launch(queue, "sort", blocks_for(queue, lines.count, kThreads), kThreads, 0, sort_short_kernel<Key>, lines, keys,
         sorted, order);
}
template <class Key>
void sort_by_digit(const Queue& queue, const DigitPass& pass, const Key* keys, const std::uint32_t* order, Key* to_keys,
                   std::uint32_t* to_order) {
  const unsigned blocks = blocks_for(queue, std::uint64_t(pass.lines) * pass.tiles.divisor, 1);
  launch(queue, "sort", blocks, kThreads, 0, count_digits<Key>, pass, keys);
  launch(queue, "sort", blocks_for(queue, pass.lines, 1), kThreads, 0, begin_digits, pass);
  launch(queue, "sort", blocks, kThreads, 0, move_by_digit<Key>, pass, keys, order, to_keys, to_order);
}
template <class Key>
void median_order(const Queue& queue, const KeyLines& lines, std::uint32_t middle, bool may_be_nan, const Key* keys,
                  const std::uint32_t* order, std::uint32_t* out) {
  launch(queue, "median", blocks_for(queue, lines.count / lines.n.divisor, kThreads), kThreads, 0,
         median_order_kernel<Key>, lines, middle, may_be_nan, keys, order, out);
}
template <class T>
void search_sorted(const Queue& queue, const Walk<3>& walk, std::uint32_t n, std::int64_t step, bool right,
                   const T* sequences, const T* values, std::int64_t* out) {
  launch(queue, "searchsorted", blocks_for(queue, walk.count, kThreads), kThreads, 0, search_kernel<T>, walk, n, step,
         right, sequences, values, out);
}

template void sort_keys(const Queue&, const Walk<1>&, const bool*, bool, std::uint32_t*);
template void sort_keys(const Queue&, const Walk<1>&, const std::uint8_t*, bool, std::uint32_t*);
template void sort_keys(const Queue&, const Walk<1>&, const std::int8_t*, bool, std::uint32_t*);
template void sort_keys(const Queue&, const Walk<1>&, const std::int16_t*, bool, std::uint32_t*);
template void sort_keys(const Queue&, const Walk<1>&, const std::int32_t*, bool, std::uint32_t*);
template void sort_keys(const Queue&, const Walk<1>&, const std::int64_t*, bool, std::uint64_t*);
template void sort_keys(const Queue&, const Walk<1>&, const Half*, bool, std::uint32_t*);
template void sort_keys(const Queue&, const Walk<1>&, const BFloat16*, bool, std::uint32_t*);
template void sort_keys(const Queue&, const Walk<1>&, const float*, bool, std::uint32_t*);
template void sort_keys(const Queue&, const Walk<1>&, const double*, bool, std::uint64_t*);
template void sort_short(const Queue&, const KeyLines&, const std::uint32_t*, std::uint32_t*, std::uint32_t*);
template void sort_short(const Queue&, const KeyLines&, const std::uint64_t*, std::uint64_t*, std::uint32_t*);
template void sort_by_digit(const Queue&, const DigitPass&, const std::uint32_t*, const std::uint32_t*, std::uint32_t*,
                            std::uint32_t*);
template void sort_by_digit(const Queue&, const DigitPass&, const std::uint64_t*, const std::uint32_t*, std::uint64_t*,
                            std::uint32_t*);
template void median_order(const Queue&, const KeyLines&, std::uint32_t, bool, const std::uint32_t*,
                           const std::uint32_t*, std::uint32_t*);
template void median_order(const Queue&, const KeyLines&, std::uint32_t, bool, const std::uint64_t*,
                           const std::uint32_t*, std::uint32_t*);
template void search_sorted(const Queue&, const Walk<3>&, std::uint32_t, std::int64_t, bool, const std::int32_t*,
                            const std::int32_t*, std::int64_t*);
template void search_sorted(const Queue&, const Walk<3>&, std::uint32_t, std::int64_t, bool, const std::int64_t*,
                            const std::int64_t*, std::int64_t*);
template void search_sorted(const Queue&, const Walk<3>&, std::uint32_t, std::int64_t, bool, const float*, const float*,
                            std::int64_t*);
template void search_sorted(const Queue&, const Walk<3>&, std::uint32_t, std::int64_t, bool, const double*,
                            const double*, std::int64_t*);

}  // namespace taper::cuda_kernels
