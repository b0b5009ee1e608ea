#pragma once

namespace taper::cuda_kernels {

/// Gives every operator that has one its CUDA kernel. Touches no device: programs built with CUDA run without.
void install_cuda();

// One per file of kernels/cuda/host that serves operators.
void install_copy();
void install_index();
void install_linalg();
void install_matmul();
void install_pointwise();
void install_random();
void install_reduce();
void install_scan();
void install_scatter();
void install_shapes();
void install_sort();
void install_view();

}  // namespace taper::cuda_kernels
