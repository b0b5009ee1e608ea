#pragma once
#include <taper/tensor.h>

namespace taper::nn::utils {

/// Scales the gradients of all parameters together so that their norm, taken as if they were one vector, is at most
/// max_norm; returns the norm before, a 0-dim tensor. norm_type p gives (sum |g|^p)^(1/p); infinity the largest |g|.
/// Parameters without gradient are skipped; without any the result is 0. A norm that is NaN or infinite spoils the
/// gradients, as in PyTorch, unless error_if_nonfinite: then ValueError is thrown and nothing has changed.
Tensor clip_grad_norm_(const TensorList& parameters, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false);
Tensor clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type = 2, bool error_if_nonfinite = false);

/// Limits every element of the gradients to [-clip_value, clip_value].
void clip_grad_value_(const TensorList& parameters, double clip_value);
void clip_grad_value_(const Tensor& parameter, double clip_value);

}  // namespace taper::nn::utils
