#pragma once

namespace taper::cuda_kernels {

/// Gives every operator that has one its CUDA kernel. Touches no device: programs built with CUDA run without.
void install_cuda();

// One per file of kernels/cuda/host that serves operators.
void install_conv();
void install_copy();
void install_image();
void install_index();
void install_linalg();
void install_loss();
void install_matmul();
void install_layer_norm();
void install_norm();
void install_optim();
void install_pointwise();
void install_pool();
void install_random();
void install_reduce();
void install_resample_dim();
void install_scan();
void install_scatter();
void install_shapes();
void install_softmax();
void install_sort();
void install_view();

}  // namespace taper::cuda_kernels
