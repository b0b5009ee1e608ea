#include "install.h"

namespace taper::cuda_kernels {

void install_cuda() {
  install_copy();
  install_pointwise();
}

}  // namespace taper::cuda_kernels
