#pragma once
// Matrix products on raw memory, row-major with leading dimensions.
#include <cstdint>

namespace taper::cpu_kernels {

/// C [m, n] = alpha op(A) op(B) + beta C + bias, where op(A) is [m, k] and op(B) is [k, n].
///
/// A is stored [m, k], or [k, m] if trans_a; its rows are lda elements apart. B and C likewise.
struct GemmShape {
  bool trans_a = false, trans_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
};

/// The shape of a product of matrices without gaps between their rows.
constexpr GemmShape dense_gemm(bool trans_a, bool trans_b, std::int64_t m, std::int64_t n, std::int64_t k) {
  return {trans_a, trans_b, m, n, k, trans_a ? m : k, trans_b ? k : n, n};
}

/// T is float, double, std::int32_t, std::int64_t or std::uint8_t; integers wrap around.
///
/// bias [n] is added to every row, null for none. With beta == 0 C is written without being read; with k == 0 the
/// product is zero. NaN and infinity follow from the sums. C overlaps no input.
/// The same call with the same number of threads gives the same bits.
template <class T>
void gemm(const GemmShape& s, const T* a, const T* b, T* c, T alpha = 1, T beta = 0, const T* bias = nullptr);

/// Elements from one matrix of a batch to the next; 0 uses the same matrix for all.
struct GemmStrides {
  std::int64_t a = 0, b = 0, c = 0;
};

/// `batch` products of one shape. The matrices C do not overlap each other.
template <class T>
void gemm_batch(const GemmShape& s, std::int64_t batch, const GemmStrides& strides, const T* a, const T* b, T* c,
                T alpha = 1, T beta = 0, const T* bias = nullptr);

}  // namespace taper::cpu_kernels
