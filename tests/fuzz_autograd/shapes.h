#pragma once
// Shapes as lists of sizes, and which element of one array another array's element is.
#include <algorithm>
#include <optional>

#include "program.h"

namespace fuzz {

inline std::size_t count(const Ints& shape) {
  std::size_t n = 1;
  for (const std::int64_t s : shape) n *= std::size_t(s);
  return n;
}

inline Ints row_major(const Ints& shape) {
  Ints strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// first + the steps along each dim, in row-major order of `sizes`.
inline std::vector<int> walk(std::int64_t first, const Ints& sizes, const Ints& strides) {
  std::vector<int> all;
  all.reserve(count(sizes));
  Ints i(sizes.size(), 0);
  for (std::size_t n = count(sizes); n > 0; --n) {
    std::int64_t at = first;
    for (std::size_t d = 0; d < sizes.size(); ++d) at += i[d] * strides[d];
    all.push_back(int(at));
    for (std::size_t d = sizes.size(); d-- > 0;) {
      if (++i[d] < sizes[d]) break;
      i[d] = 0;
    }
  }
  return all;
}

inline std::optional<Ints> broadcast(const Ints& a, const Ints& b) {
  Ints out(std::max(a.size(), b.size()), 1);
  for (std::size_t d = 1; d <= out.size(); ++d) {
    const std::int64_t x = d <= a.size() ? a[a.size() - d] : 1, y = d <= b.size() ? b[b.size() - d] : 1;
    if (x != y && x != 1 && y != 1) return {};
    out[out.size() - d] = x == 1 ? y : x;
  }
  return out;
}

/// For each element of `to`, the element of an array of shape `from` that is broadcast there.
inline std::vector<int> broadcast_positions(const Ints& from, const Ints& to) {
  const Ints own = row_major(from);
  Ints strides(to.size(), 0);
  for (std::size_t d = 1; d <= from.size(); ++d)
    if (from[from.size() - d] != 1) strides[to.size() - d] = own[from.size() - d];
  return walk(0, to, strides);
}

}  // namespace fuzz
