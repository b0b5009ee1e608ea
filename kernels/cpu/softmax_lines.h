#pragma once
// The parts of a softmax: over a row, elements that follow each other, or over columns that lie side by side.
#include <taper/ops/fn_math.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "parallel.h"
#include "reduce_sum.h"
#include "vec.h"

namespace taper::cpu_kernels {

inline constexpr std::int64_t kColumns = 256;  // worked on at a time, so that their sums stay in the first-level cache
inline constexpr std::int64_t kExpCost = 8;    // elementary steps

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

/// y = exp(x - shift)
template <class T>
void row_exp(T* __restrict y, const T* __restrict x, std::int64_t n, T shift) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = fn::exp_of(x[i] - shift);
}

template <class T>
double row_sum(const T* x, std::int64_t n) {
  return sum_dense(x, n, [](const auto& v) { return v; });
}

/// sum(exp(x - shift)), by way of a buffer that stays in the first-level cache.
template <class T>
double row_sum_exp(const T* x, std::int64_t n, T shift) {
  constexpr std::int64_t block = 1024;
  T e[block];
  double total = 0;
  for (std::int64_t i = 0; i < n; i += block) {
    const std::int64_t count = std::min(block, n - i);
    row_exp(e, x + i, count, shift);
    total += row_sum(e, count);
  }
  return total;
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

/// Of each column of n elements `stride` apart: the largest, and the sum of exponentials relative to it.
template <class T>
void max_and_sum_of_columns(const T* x, std::int64_t n, std::int64_t stride, std::int64_t width, T* best, double* sum) {
  std::copy(x, x + width, best);
  for (std::int64_t r = 1; r < n; ++r)
    for (std::int64_t j = 0; j < width; ++j) best[j] = x[r * stride + j] > best[j] ? x[r * stride + j] : best[j];
  std::fill(sum, sum + width, 0.0);
  T e[kColumns];
  for (std::int64_t r = 0; r < n; ++r) {
    for (std::int64_t j = 0; j < width; ++j) e[j] = fn::exp_of(x[r * stride + j] - best[j]);
    for (std::int64_t j = 0; j < width; ++j) sum[j] += double(e[j]);
  }
}

/// Of memory that is [outer, n, inner]: calls f(offset, width) for groups of up to kColumns columns of n elements.
template <class F>
void for_each_columns(std::int64_t outer, std::int64_t n, std::int64_t inner, const F& f) {
  const std::int64_t groups = (inner + kColumns - 1) / kColumns, width = std::min(kColumns, inner);
  parallel_for(0, outer * groups, grain_for(n * width * kExpCost), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % groups * kColumns;
      f(i / groups * n * inner + first, std::min(kColumns, inner - first));
    }
  });
}

}  // namespace taper::cpu_kernels
