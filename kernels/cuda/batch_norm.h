#pragma once
// Batch normalization and its gradients; all numbers of channels are [c].
#include <cstdint>

#include "cuda/fast_div.h"
#include "cuda/queue.h"

namespace taper::cuda_kernels {

/// x [n, c, l], contiguous in that order, or as [n, l, c] if channels_last; at least 1 and less than 2^31 elements.
struct BatchNormShape {
  FastDiv c, l;
  std::uint32_t n;
  bool channels_last;

  /// Elements of a channel.
  std::uint32_t per_channel() const { return n * l.divisor; }
};

/// Two sums of a channel, of a part of its elements.
struct ChannelSums {
  double first, second;
};
/// Into how many parts a channel is cut: memory for as many sums of each channel is needed if it is more than 1.
std::uint32_t batch_norm_parts(const Queue& queue, const BatchNormShape& shape);

/// mean and invstd = 1 / sqrt(biased variance + eps) of x. Running statistics, which may be null, move by `momentum`
/// towards the mean and the unbiased variance.
template <class T>
struct BatchNormStatistics {
  const T* x;
  double eps, momentum;
  T *mean, *invstd, *running_mean, *running_var;
};
template <class T>
void batch_norm_statistics(const Queue& queue, const BatchNormShape& shape, const BatchNormStatistics<T>& s,
                           ChannelSums* sums);
/// mean = running_mean, invstd = 1 / sqrt(running_var + eps).
template <class T>
void batch_norm_running(const Queue& queue, std::uint32_t channels, double eps, const T* running_mean,
                        const T* running_var, T* mean, T* invstd);
/// y = (x - mean) invstd weight + bias; weight and bias may be null.
template <class T>
void batch_norm_apply(const Queue& queue, const BatchNormShape& shape, const T* x, const T* mean, const T* invstd,
                      const T* weight, const T* bias, T* y);

/// Gradients of batch_norm_apply; each of weight, dx, dweight and dbias may be null. Ioffe, Szegedy 2015, "Batch
/// Normalization", section 3.
template <class T>
struct BatchNormGradients {
  const T *dy, *x, *mean, *invstd, *weight;
  T *dx, *dweight, *dbias;
  T* numbers;                  // memory for 3 c
  bool uses_batch_statistics;  // mean and invstd are functions of x
};
template <class T>
void batch_norm_backward(const Queue& queue, const BatchNormShape& shape, const BatchNormGradients<T>& g,
                         ChannelSums* sums);

}  // namespace taper::cuda_kernels
