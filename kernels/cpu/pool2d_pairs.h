#pragma once
// What both poolings share for windows of 2 x 2 that do not overlap, the pooling of most networks: rows of pairs.
#include <type_traits>
#include <utility>

#include "pool2d.h"
#include "vec.h"

namespace taper::cpu_kernels {

inline bool is_two_by_two(const Pool2dShape& s) {
  return s.kh == 2 && s.kw == 2 && s.stride_h == 2 && s.stride_w == 2 && s.pad_h == 0 && s.pad_w == 0 &&
         s.dilation_h == 1 && s.dilation_w == 1 && 2 * s.out_h <= s.h && 2 * s.out_w <= s.w;
}

template <class T>
using IntOf = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

/// Lanes kFrom, kFrom + 2, ... of a and then of b.
template <int kFrom, class V, std::size_t... I>
[[gnu::always_inline]] inline V every_second(const V& a, const V& b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, static_cast<int>(kFrom + 2 * I)...);
}
/// Lanes kFrom, kFrom + 1, ... of a and b in turn.
template <int kFrom, class V, std::size_t... I>
[[gnu::always_inline]] inline V in_turn(const V& a, const V& b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, static_cast<int>(kFrom + I / 2 + I % 2 * sizeof...(I))...);
}

/// 2 * count elements of a row, count at most one vector.
template <class T>
[[gnu::always_inline]] inline void load_pairs(const T* row, int count, Vec<T>& a, Vec<T>& b) {
  constexpr int L = kLanes<T>;
  a = 2 * count >= L ? load(row) : load_first(row, 2 * count);
  b = count == L ? load(row + L) : 2 * count > L ? load_first(row + L, 2 * count - L) : Vec<T>{};
}

template <class T>
[[gnu::always_inline]] inline void store_pairs(T* row, int count, const Vec<T>& a, const Vec<T>& b) {
  constexpr int L = kLanes<T>;
  if (2 * count >= L)
    store(row, a);
  else
    store_first(row, a, 2 * count);
  if (count == L)
    store(row + L, b);
  else if (2 * count > L)
    store_first(row + L, b, 2 * count - L);
}

}  // namespace taper::cpu_kernels
