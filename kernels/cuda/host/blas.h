#pragma once
#include <cublas_v2.h>

#include "device.h"

namespace taper::cuda_kernels {

/// This thread's cuBLAS handle for the device, bound to the current stream and to that stream's own workspace: products
/// can be captured into a graph, and give the same bits each time.
cublasHandle_t blas_handle(const OnDevice& on);

/// Memory that products on the current stream may use, one piece for all of them: they run in order.
struct Workspace {
  void* memory;
  std::size_t bytes;
};
inline constexpr std::size_t kWorkspaceBytes = std::size_t(32) << 20;  // what NVIDIA recommends for Hopper
Workspace workspace_of(const OnDevice& on);

/// How products of float32 are computed: float32_matmul_precision().
cublasComputeType_t float_compute_type();

}  // namespace taper::cuda_kernels
