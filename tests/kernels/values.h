#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

/// Small whole numbers for integers, numbers in [-1, 1) for floating types.
template <class T>
std::vector<T> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& v : values)
    if constexpr (std::is_integral_v<T>)
      v = static_cast<T>(engine() % 7);
    else
      v = static_cast<T>(static_cast<double>(engine()) / 4294967296.0 * 2 - 1);
  return values;
}

/// The largest distance between two lists; infinite if one of them has a NaN or the lengths differ.
template <class A, class B>
double worst_distance(const std::vector<A>& a, const std::vector<B>& b) {
  if (a.size() != b.size()) return INFINITY;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(d <= worst)) worst = std::isnan(d) ? INFINITY : d;
  }
  return worst;
}

/// [n, c, l] as [n, l, c], or back with c and l exchanged.
template <class T>
std::vector<T> swap_inner(const std::vector<T>& v, std::int64_t n, std::int64_t c, std::int64_t l) {
  std::vector<T> out(v.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t a = 0; a < c; ++a)
      for (std::int64_t b = 0; b < l; ++b)
        out[static_cast<std::size_t>((i * l + b) * c + a)] = v[static_cast<std::size_t>((i * c + a) * l + b)];
  return out;
}
