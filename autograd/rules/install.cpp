#include "rules.h"

namespace taper {

void install_rules() {
  install_norm_rules();
  install_pool_rules();
  install_conv_rules();
  install_dropout_rules();
  install_math_rules();
  install_pointwise_rules();
  install_join_rules();
  install_loss_rules();
  install_matmul_rules();
  install_reduce_rules();
  install_random_rules();
  install_view_rules();
  install_softmax_rules();
  install_index_rules();
  install_rearrange_rules();
  install_activation_rules();
  install_math_binary_rules();
  install_special_rules();
  install_scan_rules();
  install_sort_rules();
  install_diagonal_rules();
  install_embedding_rules();
  install_scatter_reduce_rules();
  install_linalg_rules();
}

}  // namespace taper
