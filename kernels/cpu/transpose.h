#pragma once
#include <cstdint>
#include <cstring>

#include "vec.h"

namespace taper::cpu_kernels {

/// A square of floats or doubles, transposed in registers.
template <class T>
struct Square;

template <>
struct Square<float> {
  static constexpr int kSide = 8;
  using Row [[gnu::vector_size(32)]] = float;
  [[gnu::always_inline]] static void transpose(Row (&r)[8]) {
    Row pair[8], quad[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
      pair[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
      pair[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 2
      for (int h = 0; h < 2; ++h) {
        quad[i + 2 * h] = __builtin_shufflevector(pair[i + h], pair[i + h + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        quad[i + 2 * h + 1] = __builtin_shufflevector(pair[i + h], pair[i + h + 2], 2, 3, 10, 11, 6, 7, 14, 15);
      }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      r[i] = __builtin_shufflevector(quad[i], quad[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
      r[i + 4] = __builtin_shufflevector(quad[i], quad[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
  }
};

template <>
struct Square<double> {
  static constexpr int kSide = 4;
  using Row [[gnu::vector_size(32)]] = double;
  [[gnu::always_inline]] static void transpose(Row (&r)[4]) {
    const Row a = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6), b = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
    const Row c = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6), d = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5), r[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    r[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7), r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
  }
};

/// The first `count` elements of a row, zeros behind, and the other way round. 0 < count <= Square<T>::kSide.
template <class T>
[[gnu::always_inline]] inline typename Square<T>::Row load_row(const T* p, int count) {
  typename Square<T>::Row row{};
#ifdef __AVX2__
  const __m256i mask = first_lanes(count * static_cast<int>(sizeof(T)) / 4);
  if constexpr (std::is_same_v<T, float>)
    row = (typename Square<T>::Row)_mm256_maskload_ps(p, mask);
  else
    row = (typename Square<T>::Row)_mm256_maskload_pd(p, mask);
#else
  for (int i = 0; i < count; ++i) row[i] = p[i];
#endif
  return row;
}

template <class T>
[[gnu::always_inline]] inline void store_row(T* p, const typename Square<T>::Row& row, int count) {
#ifdef __AVX2__
  const __m256i mask = first_lanes(count * static_cast<int>(sizeof(T)) / 4);
  if constexpr (std::is_same_v<T, float>)
    _mm256_maskstore_ps(p, mask, (__m256)row);
  else
    _mm256_maskstore_pd(p, mask, (__m256d)row);
#else
  for (int i = 0; i < count; ++i) p[i] = row[i];
#endif
}

template <class T, bool kWhole>
[[gnu::always_inline]] inline void transpose_square(int rows, int cols, const T* in, std::int64_t ld_in, T* out,
                                                    std::int64_t ld_out) {
  using S = Square<T>;
  constexpr int N = S::kSide;
  typename S::Row r[N];
#pragma GCC unroll 8
  for (int q = 0; q < N; ++q)
    if (kWhole)
      std::memcpy(&r[q], in + q * ld_in, sizeof r[q]);
    else
      r[q] = q < rows ? load_row(in + q * ld_in, cols) : typename S::Row{};
  S::transpose(r);
#pragma GCC unroll 8
  for (int q = 0; q < N; ++q)
    if (kWhole)
      std::memcpy(out + q * ld_out, &r[q], sizeof r[q]);
    else if (q < cols)
      store_row(out + q * ld_out, r[q], rows);
}

/// out [cols, rows] = in [rows, cols] transposed; rows are ld_in and ld_out elements apart.
template <class T>
void transpose(std::int64_t rows, std::int64_t cols, const T* in, std::int64_t ld_in, T* out, std::int64_t ld_out) {
  constexpr int N = Square<T>::kSide;
  for (std::int64_t i = 0; i < rows; i += N)
    for (std::int64_t j = 0; j < cols; j += N) {
      const T* from = in + i * ld_in + j;
      T* to = out + j * ld_out + i;
      if (rows - i >= N && cols - j >= N)
        transpose_square<T, true>(N, N, from, ld_in, to, ld_out);
      else
        transpose_square<T, false>(static_cast<int>(rows - i < N ? rows - i : N),
                                   static_cast<int>(cols - j < N ? cols - j : N), from, ld_in, to, ld_out);
    }
}

}  // namespace taper::cpu_kernels
