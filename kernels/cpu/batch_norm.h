#pragma once
// Batch normalization and its gradients on raw memory.
#include <cstdint>

namespace taper::cpu_kernels {

/// x [n, c, l], contiguous in that order, or as [n, l, c] if channels_last. Images have l = h * w, plain rows l = 1.
struct BatchNormShape {
  std::int64_t n = 0, c = 0, l = 1;
  bool channels_last = false;
};

/// Statistics of each channel over n and l: `mean` and `invstd` = 1 / sqrt(biased variance + eps), [c].
/// If not null, running statistics move by `momentum` towards the mean and the unbiased variance.
/// Sums run in double over blocks of T, so the values are good to the last bits of T for any size. n l is at least 1.
template <class T>
void batch_norm_statistics(const BatchNormShape& s, const T* x, double eps, double momentum, T* mean, T* invstd,
                           T* running_mean, T* running_var);

/// invstd = 1 / sqrt(running_var + eps), [c].
template <class T>
void batch_norm_invstd(std::int64_t c, const T* running_var, double eps, T* invstd);

/// y = (x - mean) invstd weight + bias, channel by channel; weight and bias may be null.
template <class T>
void batch_norm_apply(const BatchNormShape& s, const T* x, const T* mean, const T* invstd, const T* weight,
                      const T* bias, T* y);

/// Gradients of batch_norm_apply. If uses_batch_statistics, mean and invstd are functions of x (training), else
/// constants. Each of dx, dweight and dbias may be null.
/// Ioffe, Szegedy 2015, "Batch Normalization", section 3.
template <class T>
void batch_norm_backward(const BatchNormShape& s, const T* dy, const T* x, const T* mean, const T* invstd,
                         const T* weight, bool uses_batch_statistics, T* dx, T* dweight, T* dbias);

}  // namespace taper::cpu_kernels
