#pragma once
// Layer normalization of lines that follow each other, and its gradients.
#include "cuda/batch_norm.h"

namespace taper::cuda_kernels {

struct LayerNormShape {
  std::int64_t lines, n;
  bool centered;  // otherwise as if means were 0
};
/// y = (x - mean) invstd weight + bias, with mean and invstd = 1 / sqrt(biased variance + eps) of each line; weight and
/// bias may be null.
template <class T>
struct LayerNormCall {
  const T *x, *weight, *bias;
  double eps;
  T *y, *mean, *invstd;
};
template <class T>
void layer_norm(const Queue& queue, const LayerNormShape& shape, const LayerNormCall<T>& call);

/// weight may be null.
template <class T>
struct LayerNormGradients {
  const T *dy, *x, *mean, *invstd, *weight;
};
template <class T>
void layer_norm_input_gradient(const Queue& queue, const LayerNormShape& shape, const LayerNormGradients<T>& g, T* dx);
/// dweight and dbias, each [n] or null. The lines' elements are channels of `columns`; `sums` is memory for the parts.
template <class T>
void layer_norm_parameter_gradients(const Queue& queue, const BatchNormShape& columns, const LayerNormGradients<T>& g,
                                    T* dweight, T* dbias, ChannelSums* sums);

}  // namespace taper::cuda_kernels
