#pragma once
// What a launcher in a .cu file is told besides its data. Plain C++ without includes: every .cu file and every file
// that calls one reads this.

namespace taper::cuda_kernels {

/// Where work goes: a stream (a cudaStream_t), and how many multiprocessors its device has.
struct Queue {
  void* stream;
  unsigned multi_processors;
};

/// Throws Error if `error`, a cudaError_t, is one. `what` names the kernel.
void check_launch(int error, const char* what);

}  // namespace taper::cuda_kernels
