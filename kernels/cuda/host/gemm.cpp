#include "gemm.h"

#include <limits>
#include <type_traits>

#include "blas.h"
#include "errors.h"

namespace taper::cuda_kernels {
namespace {

int as_int(const char* op, std::int64_t n) {
  check<ShapeError>(n <= std::numeric_limits<int>::max(), op, ": a size or stride of ", n,
                    " is more than cuBLAS can count; multiply in parts");
  return int(n);
}

}  // namespace

template <class T>
void gemm(const char* op, const OnDevice& on, const Gemm& g, const T* a, const T* b, T* c) {
  // Row-major C = A B is column-major C^T = B^T A^T.
  const T one = 1, beta = g.accumulate ? 1 : 0;
  constexpr bool is_float = std::is_same_v<T, float>;
  constexpr cudaDataType_t type = is_float ? CUDA_R_32F : CUDA_R_64F;
  const cublasComputeType_t compute = is_float ? float_compute_type() : CUBLAS_COMPUTE_64F;
  const cublasOperation_t left = g.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N, right = g.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int m = as_int(op, g.m), n = as_int(op, g.n), k = as_int(op, g.k);
  const int lda = as_int(op, g.lda), ldb = as_int(op, g.ldb), ldc = as_int(op, g.ldc);
  cublasHandle_t handle = blas_handle(on);
  if (g.batch == 1)
    check_cublas(cublasGemmEx(handle, left, right, n, m, k, &one, b, type, ldb, a, type, lda, &beta, c, type, ldc,
                              compute, CUBLAS_GEMM_DEFAULT),
                 op);
  else
    check_cublas(
        cublasGemmStridedBatchedEx(handle, left, right, n, m, k, &one, b, type, ldb, g.step_b, a, type, lda, g.step_a,
                                   &beta, c, type, ldc, g.step_c, as_int(op, g.batch), compute, CUBLAS_GEMM_DEFAULT),
        op);
}

template void gemm(const char*, const OnDevice&, const Gemm&, const float*, const float*, float*);
template void gemm(const char*, const OnDevice&, const Gemm&, const double*, const double*, double*);

}  // namespace taper::cuda_kernels
