#pragma once
// Sorting lines of unsigned keys, and what is done with sorted ones.
#include <cstdint>

#include "cuda/queue.h"
#include "cuda/walk.h"

namespace taper::cuda_kernels {

/// keys[i] = a number that ascends with element i of x, or descends; equal where elements are equal, and all NaN being
/// one. 64 bits for elements of 8 bytes, else 32.
template <class T, class Key>
void sort_keys(const Queue& queue, const Walk<1>& x_walk, const T* x, bool descending, Key* keys);

/// `count` keys in lines of n.
struct KeyLines {
  std::uint32_t count;
  FastDiv n;
};
/// Sorts every line by counting what comes before each key: for short lines. Stable; order tells where each was.
template <class Key>
void sort_short(const Queue& queue, const KeyLines& lines, const Key* keys, Key* sorted, std::uint32_t* order);

/// One pass of a stable sort by digits, from the lowest on.
struct DigitPass {
  static constexpr std::uint32_t kBits = 4, kDigits = 1u << kBits, kTile = 2048;
  std::uint32_t lines, n, shift;
  FastDiv tiles;          // of each line
  std::uint32_t* counts;  // lines * kDigits * tiles
};
/// `order` is null in the first pass.
template <class Key>
void sort_by_digit(const Queue& queue, const DigitPass& pass, const Key* keys, const std::uint32_t* order, Key* to_keys,
                   std::uint32_t* to_order);

/// Of each sorted line the entry `middle`, or the first NaN if there may be one, by where it was.
template <class Key>
void median_order(const Queue& queue, const KeyLines& lines, std::uint32_t middle, bool may_be_nan, const Key* keys,
                  const std::uint32_t* order, std::uint32_t* out);

/// out[i] = where values[i] would be inserted into its sequence, n elements that are `step` apart.
template <class T>
void search_sorted(const Queue& queue, const Walk<3>& out_values_sequence, std::uint32_t n, std::int64_t step,
                   bool right, const T* sequences, const T* values, std::int64_t* out);

}  // namespace taper::cuda_kernels
