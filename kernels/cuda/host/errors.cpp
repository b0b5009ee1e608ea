#include "errors.h"

#include "cuda/queue.h"

namespace taper::cuda_kernels {

void raise_cuda_error(cudaError_t error, const char* what) {
  (void)cudaGetLastError();  // or the next call would report it again
  raise<Error>(what, ": ", cudaGetErrorName(error), ": ", cudaGetErrorString(error));
}

void raise_cublas_error(cublasStatus_t status, const char* what) {
  raise<Error>(what, ": ", cublasGetStatusString(status));
}

void check_launch(int error, const char* what) {
  if (error != int(cudaSuccess)) [[unlikely]]
    raise<Error>("launch of ", what, ": ", cudaGetErrorName(cudaError_t(error)), ": ",
                 cudaGetErrorString(cudaError_t(error)));
}

}  // namespace taper::cuda_kernels
