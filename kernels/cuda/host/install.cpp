#include "install.h"

namespace taper::cuda_kernels {

void install_cuda() {
  install_copy();
  install_matmul();
  install_pointwise();
  install_reduce();
  install_view();
}

}  // namespace taper::cuda_kernels
