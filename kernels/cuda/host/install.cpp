#include "install.h"

namespace taper::cuda_kernels {

void install_cuda() {
  install_copy();
  install_index();
  install_linalg();
  install_matmul();
  install_pointwise();
  install_random();
  install_reduce();
  install_scan();
  install_scatter();
  install_shapes();
  install_sort();
  install_view();
}

}  // namespace taper::cuda_kernels
