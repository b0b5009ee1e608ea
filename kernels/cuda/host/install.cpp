#include "install.h"

namespace taper::cuda_kernels {

void install_cuda() {
  install_conv();
  install_copy();
  install_image();
  install_index();
  install_layer_norm();
  install_linalg();
  install_loss();
  install_matmul();
  install_norm();
  install_optim();
  install_pointwise();
  install_pool();
  install_random();
  install_reduce();
  install_resample_dim();
  install_scan();
  install_scatter();
  install_shapes();
  install_softmax();
  install_sort();
  install_view();
}

}  // namespace taper::cuda_kernels
