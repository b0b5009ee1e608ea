#pragma once
// Sums of many elements. Floating ones are added up in double, so that a float32 sum loses nothing to its length and
// hardly anything to the order of its elements.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "vec.h"

namespace taper::cpu_kernels {

/// What elements of T are summed in. Integers wrap around, as unsigned arithmetic does.
template <class T>
using SumAcc = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;

/// The next kLanes<double> elements.
[[gnu::always_inline]] inline Vec<double> load_doubles(const double* p) { return load(p); }
[[gnu::always_inline]] inline Vec<double> load_doubles(const float* p) {
  using Half [[gnu::vector_size(kVectorBytes / 2)]] = float;
  Half v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_convertvector(v, Vec<double>);
}

/// The sum of f(x) over n elements x that follow each other; f takes a Vec<double> and a double.
template <class T, class F>
double sum_dense(const T* p, std::int64_t n, const F& f) {
  constexpr std::int64_t lanes = kLanes<double>;
  if (n < lanes) {
    double total = 0;
    for (std::int64_t i = 0; i < n; ++i) total += f(double(p[i]));
    return total;
  }
  Vec<double> a0{}, a1{}, a2{}, a3{};
  std::int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a0 += f(load_doubles(p + i)), a1 += f(load_doubles(p + i + lanes));
    a2 += f(load_doubles(p + i + 2 * lanes)), a3 += f(load_doubles(p + i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) a0 += f(load_doubles(p + i));
  double total = lane_sum<double>((a0 + a1) + (a2 + a3));
  for (; i < n; ++i) total += f(double(p[i]));
  return total;
}
/// As sum_dense, for elements `stride` apart.
template <class T, class F>
double sum_run(const T* p, std::int64_t n, std::int64_t stride, const F& f) {
  if (stride == 1) return sum_dense(p, n, f);
  double a[4] = {};
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k) a[k] += f(double(p[(i + k) * stride]));
  for (; i < n; ++i) a[0] += f(double(p[i * stride]));
  return (a[0] + a[1]) + (a[2] + a[3]);
}

/// total[j] += f(x, j), for the elements x of column j of `rows` rows that are `stride` apart; f takes a Vec<double>
/// and the first of its columns, or a double and its column.
template <class T, class F>
void sum_columns(double* total, const T* p, std::int64_t width, std::int64_t rows, std::int64_t stride, const F& f) {
  constexpr std::int64_t lanes = kLanes<double>;
  for (std::int64_t r = 0; r < rows; r += 8, p += 8 * stride) {
    const std::int64_t count = rows - r;
    std::int64_t j = 0;
    for (; j + lanes <= width; j += lanes) {
      const auto at = [&](std::int64_t row) { return f(load_doubles(p + j + row * stride), j); };
      Vec<double> sum = load(total + j);
      if (count >= 8)
        sum += ((at(0) + at(1)) + (at(2) + at(3))) + ((at(4) + at(5)) + (at(6) + at(7)));
      else
        for (std::int64_t row = 0; row < count; ++row) sum += at(row);
      store(total + j, sum);
    }
    for (; j < width; ++j)
      for (std::int64_t row = 0; row < count && row < 8; ++row) total[j] += f(double(p[j + row * stride]), j);
  }
}

}  // namespace taper::cpu_kernels
