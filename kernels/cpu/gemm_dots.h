#pragma once
// A few rows times a transposed matrix: dot products along k, so that B is read as it lies and never packed.
#include "gemm.h"

namespace taper::cpu_kernels {

/// gemm() on the calling thread for trans_a = false, trans_b = true. Fast for 4 to 32 rows and k from about 256.
void gemm_dots(const GemmShape& s, const float* a, const float* b, float* c, float alpha, float beta,
               const float* bias);

}  // namespace taper::cpu_kernels
