#pragma once
// Matrix products of integers, which cuBLAS does not have. They wrap around, as sums do.
#include <cstdint>

#include "cuda/queue.h"

namespace taper::cuda_kernels {

/// c[m, n] = a[m, k] b[k, n] (+ c), for a batch of them; strides in elements, c dense.
struct IntegerGemm {
  std::int64_t m, n, k;
  std::int64_t a_row, a_column, b_row, b_column;
  std::int64_t batch, a_step, b_step;
  bool accumulate;
};
template <class T>
void integer_gemm(const Queue& queue, const IntegerGemm& shape, const T* a, const T* b, T* c);

}  // namespace taper::cuda_kernels
