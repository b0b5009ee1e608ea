#include "blas.h"

#include <taper/matmul_precision.h>

#include <map>
#include <utility>

#include "errors.h"

namespace taper::cuda_kernels {
namespace {

/// Handles that no thread uses. A handle outlives its thread: destroying it would wait for the device.
struct IdleHandles {
  std::mutex mutex;
  std::map<int, std::vector<cublasHandle_t>> of_device;
};
IdleHandles& idle_handles() {
  static IdleHandles* handles = new IdleHandles;
  return *handles;
}

struct Bound {
  cublasHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
};
struct HandlesOfThread {
  std::map<int, Bound> of_device;
  ~HandlesOfThread() {
    IdleHandles& idle = idle_handles();
    const std::lock_guard lock(idle.mutex);
    for (auto& [device, bound] : of_device) idle.of_device[device].push_back(bound.handle);
  }
};

cublasHandle_t take_handle(int device) {
  IdleHandles& idle = idle_handles();
  {
    const std::lock_guard lock(idle.mutex);
    auto& handles = idle.of_device[device];
    if (!handles.empty()) {
      cublasHandle_t handle = handles.back();
      handles.pop_back();
      return handle;
    }
  }
  const RelaxedCapture relaxed;
  cublasHandle_t handle = nullptr;
  check_cublas(cublasCreate(&handle), "cublasCreate");
  return handle;
}

}  // namespace

Workspace workspace_of(const OnDevice& on) {
  static std::mutex mutex;
  static auto* workspaces = new std::map<std::pair<int, cudaStream_t>, void*>;
  const std::lock_guard lock(mutex);
  void*& memory = (*workspaces)[{on.state().index(), on.stream()}];
  if (memory == nullptr) {
    const RelaxedCapture relaxed;
    check_cuda(cudaMalloc(&memory, kWorkspaceBytes), "cudaMalloc of a workspace for cuBLAS");
  }
  return {memory, kWorkspaceBytes};
}

cublasComputeType_t float_compute_type() {
  switch (float32_matmul_precision()) {
    case Float32MatmulPrecision::high:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case Float32MatmulPrecision::medium:
      return CUBLAS_COMPUTE_32F_FAST_16BF;
    default:
      return CUBLAS_COMPUTE_32F;
  }
}

cublasHandle_t blas_handle(const OnDevice& on) {
  static thread_local HandlesOfThread mine;
  Bound& bound = mine.of_device[on.state().index()];
  if (bound.handle == nullptr) bound.handle = take_handle(on.state().index());
  if (bound.stream != on.stream()) {
    check_cublas(cublasSetStream(bound.handle, on.stream()), "cublasSetStream");  // takes the workspace away
    const Workspace workspace = workspace_of(on);
    check_cublas(cublasSetWorkspace(bound.handle, workspace.memory, workspace.bytes), "cublasSetWorkspace");
    bound.stream = on.stream();
  }
  return bound.handle;
}

}  // namespace taper::cuda_kernels
