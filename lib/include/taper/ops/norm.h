#pragma once
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <array>

namespace taper {

/// Batch normalization: y = (x - mean) / sqrt(var + eps) * weight + bias, channel by channel.
///
/// x [n, c, ...], floating; weight, bias, running_mean and running_var [c] of its dtype, or undefined; y like
/// x, channels-last in memory if x is. In training, mean and (biased) var are the batch's, over all dimensions but c,
/// and the running statistics move towards them: running = (1 - momentum) running + momentum batch, with the unbiased
/// variance. Unless momentum is 0, this counts as a write of running_mean and running_var; within a Recomputation they
/// stay as they are. Otherwise mean and var are the running ones, which must be there. Differentiable in x, weight and
/// bias, twice too.
/// Throws ShapeError if shapes do not fit, ValueError in training if there is one value per channel, whose variance is
/// 0.
/// Ioffe, Szegedy 2015, "Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate Shift".
Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                  const Tensor& running_var, bool training, double momentum = 0.1, double eps = 1e-5);

struct BatchNormOptions {
  using plain_argument = void;
  bool training = false;
  double momentum = 0.1, eps = 1e-5;
};

namespace ops {
/// x, weight, bias, running_mean, running_var. Returns y and, without gradient, mean and 1 / sqrt(var + eps) as used.
/// Writes into running_mean and running_var.
extern StructuredOp<std::array<Tensor, 3>(Tensor, std::optional<Tensor>, std::optional<Tensor>, std::optional<Tensor>,
                                          std::optional<Tensor>, BatchNormOptions)>
    batch_norm;
/// Gradients of x, weight and bias from grad, x, weight, mean and invstd. Those not asked for have no elements.
extern StructuredOp<std::array<Tensor, 3>(Tensor, Tensor, std::optional<Tensor>, Tensor, Tensor, BatchNormOptions,
                                          std::array<bool, 3>)>
    batch_norm_backward;
}  // namespace ops

}  // namespace taper
