#include <taper/operator.h>

namespace taper {
namespace cpu_kernels {
// One per file of kernels/cpu that serves operators.
void install_conv();
void install_pool();
void install_layer_norm();
void install_norm();
void install_copy();
void install_math();
void install_pointwise_binary();
void install_pointwise_compare();
void install_pointwise_unary();
void install_loss();
void install_matmul();
void install_reduce();
void install_random();
void install_image();
void install_optim();
void install_softmax();
void install_view();
void install_join();
void install_index();
void install_scatter();
void install_mask();
void install_rearrange();
void install_resample_dim();
void install_activation();
void install_math_binary();
void install_special();
void install_scan();
void install_sort();
void install_triangles();
void install_embedding();
void install_loss_elementwise();
void install_linalg_solve();
void install_linalg_factor();
void install_linalg_svd();
}  // namespace cpu_kernels
#if TAPER_CUDA
namespace cuda_kernels {
void install_cuda();
}
#endif

void install_kernels() {
  cpu_kernels::install_conv();
  cpu_kernels::install_pool();
  cpu_kernels::install_layer_norm();
  cpu_kernels::install_norm();
  cpu_kernels::install_copy();
  cpu_kernels::install_math();
  cpu_kernels::install_pointwise_binary();
  cpu_kernels::install_pointwise_compare();
  cpu_kernels::install_pointwise_unary();
  cpu_kernels::install_random();
  cpu_kernels::install_image();
  cpu_kernels::install_optim();
  cpu_kernels::install_view();
  cpu_kernels::install_join();
  cpu_kernels::install_loss();
  cpu_kernels::install_matmul();
  cpu_kernels::install_reduce();
  cpu_kernels::install_softmax();
  cpu_kernels::install_index();
  cpu_kernels::install_scatter();
  cpu_kernels::install_mask();
  cpu_kernels::install_rearrange();
  cpu_kernels::install_resample_dim();
  cpu_kernels::install_activation();
  cpu_kernels::install_math_binary();
  cpu_kernels::install_special();
  cpu_kernels::install_scan();
  cpu_kernels::install_sort();
  cpu_kernels::install_triangles();
  cpu_kernels::install_embedding();
  cpu_kernels::install_loss_elementwise();
  cpu_kernels::install_linalg_solve();
  cpu_kernels::install_linalg_factor();
  cpu_kernels::install_linalg_svd();
#if TAPER_CUDA
  cuda_kernels::install_cuda();
#endif
}

}  // namespace taper
