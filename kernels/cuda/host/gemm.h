#pragma once
// Matrix products by cuBLAS.
#include <cstdint>

#include "device.h"

namespace taper::cuda_kernels {

/// c[m, n] = a[m, k] b[k, n] (+ c), row-major, for a batch of them that are `step` elements apart. A leading dimension
/// is the distance between rows, of a transposed operand between columns.
struct Gemm {
  bool trans_a = false, trans_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::int64_t batch = 1, step_a = 0, step_b = 0, step_c = 0;
  bool accumulate = false;
};
/// T is float or double. `op` is for errors.
template <class T>
void gemm(const char* op, const OnDevice& on, const Gemm& g, const T* a, const T* b, T* c);

}  // namespace taper::cuda_kernels
