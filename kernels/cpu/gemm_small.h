#pragma once
// Our own product for small and skinny matrices, where calling a library costs more than the arithmetic.
#include "gemm.h"

namespace taper::cpu_kernels {

/// gemm() on the calling thread, without a library. T is float or double; m, n and k are at least 1.
/// Fast if m n k is small, n is at most one vector, or m is 1.
template <class T>
void gemm_small(const GemmShape& s, const T* a, const T* b, T* c, T alpha, T beta, const T* bias);

}  // namespace taper::cpu_kernels
