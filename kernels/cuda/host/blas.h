#pragma once
#include <cublas_v2.h>

#include "device.h"

namespace taper::cuda_kernels {

/// This thread's cuBLAS handle for the device, bound to the current stream and to that stream's own workspace: products
/// can be captured into a graph, and give the same bits each time.
cublasHandle_t blas_handle(const OnDevice& on);

}  // namespace taper::cuda_kernels
