#pragma once

namespace taper {

// One install function per family of operators, each in the file of that name.
void install_pointwise_rules();
void install_math_rules();
void install_reduce_rules();
void install_softmax_rules();
void install_matmul_rules();
void install_loss_rules();
void install_view_rules();
void install_index_rules();
void install_rearrange_rules();
void install_activation_rules();
void install_join_rules();
void install_conv_rules();
void install_pool_rules();
void install_norm_rules();
void install_dropout_rules();
void install_random_rules();
void install_math_binary_rules();
void install_special_rules();
void install_scan_rules();
void install_sort_rules();
void install_diagonal_rules();
void install_embedding_rules();
void install_scatter_reduce_rules();
void install_linalg_rules();

/// All of them.
void install_rules();

}  // namespace taper
