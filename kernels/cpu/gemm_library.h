#pragma once
// Products large enough to be worth a library: oneDNN for float where the build has it, else Eigen.
#include "gemm.h"

namespace taper::cpu_kernels {

/// C = alpha op(A) op(B) + beta C with m, n and k at least 1, on as many threads as the size deserves.
void gemm_library(const GemmShape& s, const float* a, const float* b, float* c, float alpha, float beta);
void gemm_library(const GemmShape& s, const double* a, const double* b, double* c, double alpha, double beta);

}  // namespace taper::cpu_kernels
