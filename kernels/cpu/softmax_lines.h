#pragma once
// The parts of a softmax: over a row, elements that follow each other, or over columns that lie side by side.
#include <taper/ops/fn_math.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "parallel.h"
#include "reduce_sum.h"
#include "vec.h"

namespace taper::cpu_kernels {

inline constexpr std::int64_t kColumns = 2048;  // worked on at a time, at most
inline constexpr std::int64_t kExpCost = 8;     // elementary steps

/// The largest element; NaN is skipped, since it comes back in every sum of exponentials.
template <class T>
T row_max(const T* x, std::int64_t n) {
  constexpr std::int64_t lanes = kLanes<T>;
  T best = -std::numeric_limits<T>::infinity();
  std::int64_t i = 0;
  if (n >= 2 * lanes) {
    Vec<T> a = load(x), b = load(x + lanes);
    for (i = 2 * lanes; i + 2 * lanes <= n; i += 2 * lanes) {
      const Vec<T> u = load(x + i), v = load(x + i + lanes);
      a = u > a ? u : a, b = v > b ? v : b;
    }
    for (std::int64_t k = 0; k < lanes; ++k) best = std::max({best, T(a[k]), T(b[k])});
  }
  for (; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

/// exp(x) for x <= 0 or NaN, with relative error below 2e-7; 0 below -86, near which floats begin to lose their digits.
/// Cody and Waite's reduction to |r| <= ln(2) / 2, then the Taylor series, whose next term no longer counts.
[[gnu::always_inline]] inline Vec<float> exp_nonpositive(const Vec<float>& x) {
  using Bits = Vec<std::uint32_t>;
  constexpr float log2_e = 0x1.715476p0f, ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f, round = 0x1.8p23f;
  const Vec<float> lowest = broadcast(-86.f), clamped = x < lowest ? lowest : x;
  const Vec<float> shifted = clamped * log2_e + round, n = shifted - round;  // the nearest integer
  const Vec<float> r = clamped - n * ln2_high - n * ln2_low;
  Vec<float> p = r * (1.f / 5040) + 1.f / 720;
  p = p * r + 1.f / 120, p = p * r + 1.f / 24, p = p * r + 1.f / 6, p = p * r + 0.5f;
  const Vec<float> e = p * r * r + r + 1.f;
  const Vec<float> scaled = (Vec<float>)((Bits)e + ((Bits)shifted << 23));  // the integer is in shifted's low bits
  return x < lowest ? Vec<float>{} : scaled;
}

/// The first `count` lanes of v, and zeros.
[[gnu::always_inline]] inline Vec<float> first_lanes(const Vec<float>& v, int count) {
  Vec<std::int32_t> lane;
  for (int k = 0; k < kLanes<float>; ++k) lane[k] = k;
  return lane < count ? v : Vec<float>{};
}

/// Adds the elements to the sums.
[[gnu::always_inline]] inline void add_to(Vec<double>& low, Vec<double>& high, const Vec<float>& v) {
  using Half [[gnu::vector_size(kVectorBytes / 2)]] = float;
  Half halves[2];
  std::memcpy(halves, &v, sizeof v);
  low += __builtin_convertvector(halves[0], Vec<double>), high += __builtin_convertvector(halves[1], Vec<double>);
}

/// sum(exp(x - shift)), where no x is larger than shift. The exponentials go to y unless it is null.
template <bool keep>
double sum_exp(float* y, const float* x, std::int64_t n, float shift) {
  constexpr int lanes = kLanes<float>;
  Vec<double> low{}, high{};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Vec<float> e = exp_nonpositive(load(x + i) - shift);
    add_to(low, high, e);
    if (keep) store(y + i, e);
  }
  if (i < n) {
    const int rest = int(n - i);
    const Vec<float> e = first_lanes(exp_nonpositive(load_first(x + i, rest) - shift), rest);
    add_to(low, high, e);
    if (keep) store_first(y + i, e, rest);
  }
  return lane_sum<double>(low + high);
}
template <bool keep>
double sum_exp(double* y, const double* x, std::int64_t n, double shift) {
  double total = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double e = std::exp(x[i] - shift);
    total += e;
    if (keep) y[i] = e;
  }
  return total;
}

/// sum(x)
template <class T>
double row_sum(const T* x, std::int64_t n) {
  return sum_dense(x, n, [](const auto& v) { return v; });
}

/// sum(x y)
template <class T>
double row_dot(const T* x, const T* y, std::int64_t n) {
  constexpr std::int64_t lanes = kLanes<double>;
  Vec<double> a{}, b{};
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a += load_doubles(x + i) * load_doubles(y + i);
    b += load_doubles(x + i + lanes) * load_doubles(y + i + lanes);
  }
  double total = lane_sum<double>(a + b);
  for (; i < n; ++i) total += double(x[i]) * double(y[i]);
  return total;
}

/// Of each column of n elements `stride` apart: the largest, and the sum of exponentials relative to it. The
/// exponentials themselves go to y, strided like x, unless it is null.
template <class T>
void max_and_sum_of_columns(const T* x, std::int64_t n, std::int64_t stride, std::int64_t width, T* best, double* sum,
                            T* y = nullptr) {
  std::copy(x, x + width, best);
  for (std::int64_t r = 1; r < n; ++r)
    for (std::int64_t j = 0; j < width; ++j) best[j] = x[r * stride + j] > best[j] ? x[r * stride + j] : best[j];
  std::fill(sum, sum + width, 0.0);
  T buffer[kColumns];
  for (std::int64_t r = 0; r < n; ++r) {
    T* e = y ? y + r * stride : buffer;
    for (std::int64_t j = 0; j < width; ++j) e[j] = fn::exp_of(x[r * stride + j] - best[j]);
    for (std::int64_t j = 0; j < width; ++j) sum[j] += double(e[j]);
  }
}

/// Of memory that is [outer, n, inner]: calls f(offset, width) for groups of up to kColumns columns of n elements.
template <class F>
void for_each_columns(std::int64_t outer, std::int64_t n, std::int64_t inner, const F& f) {
  if (outer == 0 || inner == 0) return;
  // Columns are read several times over: a group fits in the second-level cache, or its rows are long runs.
  const std::int64_t width = std::min(inner, n <= 512 ? (1 << 17) / std::max<std::int64_t>(n, 64) : kColumns);
  const std::int64_t groups = (inner + width - 1) / width;
  parallel_for(0, outer * groups, grain_for(n * width * kExpCost), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % groups * width;
      f(i / groups * n * inner + first, std::min(width, inner - first));
    }
  });
}

}  // namespace taper::cpu_kernels
