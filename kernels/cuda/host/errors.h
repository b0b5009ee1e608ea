#pragma once
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <taper/error.h>

namespace taper::cuda_kernels {

[[noreturn, gnu::cold]] void raise_cuda_error(cudaError_t error, const char* what);
[[noreturn, gnu::cold]] void raise_cublas_error(cublasStatus_t status, const char* what);

/// Throws Error with CUDA's own name and text unless the call succeeded.
inline void check_cuda(cudaError_t error, const char* what) {
  if (error != cudaSuccess) [[unlikely]]
    raise_cuda_error(error, what);
}
inline void check_cublas(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) [[unlikely]]
    raise_cublas_error(status, what);
}

}  // namespace taper::cuda_kernels
