#pragma once
// Normalization within each sample: y = (x - mean) / sqrt(var + eps) * weight + bias, with the biased variance.
// Floating dtypes. Differentiable in x, weight and bias, twice too.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <array>
#include <optional>

namespace taper {

/// Over the last `shape.size()` dims of x [..., *shape]; weight and bias [*shape] or undefined. Throws ShapeError if x
/// does not end in `shape`. Ba, Kiros, Hinton 2016, "Layer Normalization", eq. 4.
Tensor layer_norm(const Tensor& x, IntSpan shape, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// x / sqrt(mean(x^2) + eps) * weight over the last `shape.size()` dims of x [..., *shape]; weight [*shape] or
/// undefined; eps is that of the dtype computed in if it is not given. Zhang, Sennrich 2019, "Root Mean Square Layer
/// Normalization".
Tensor rms_norm(const Tensor& x, IntSpan shape, const Tensor& weight = {}, std::optional<double> eps = {});
/// Over groups of channels of x [n, c, ...] together with all that follows; weight and bias [c] or undefined. Throws
/// ShapeError unless num_groups divides c. Wu, He 2018, "Group Normalization".
Tensor group_norm(const Tensor& x, std::int64_t num_groups, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// Over what follows the channels of x [n, c, ...]; weight and bias [c] or undefined. The running statistics, if there
/// are any, move towards the mean over the samples as those of batch_norm do. Without use_input_stats, x is normalized
/// by them. Ulyanov, Vedaldi, Lempitsky 2016, "Instance Normalization".
Tensor instance_norm(const Tensor& x, const Tensor& running_mean = {}, const Tensor& running_var = {},
                     const Tensor& weight = {}, const Tensor& bias = {}, bool use_input_stats = true,
                     double momentum = 0.1, double eps = 1e-5);
/// x / (k + alpha mean(x^2))^beta, the mean being over `size` neighbouring channels of x [n, c, ...], zeros beyond the
/// ends. Krizhevsky, Sutskever, Hinton 2012, section 3.3.
Tensor local_response_norm(const Tensor& x, std::int64_t size, double alpha = 1e-4, double beta = 0.75, double k = 1);

/// Lines of the last `dims` dims.
struct LayerNormOptions {
  using plain_argument = void;
  std::int64_t dims = 1;
  double eps = 1e-5;
  bool centered = true;  // otherwise as if the mean were 0
};

namespace ops {
/// x, weight, bias. Returns y and, for each line and without gradient, mean and 1 / sqrt(var + eps).
extern StructuredOp<std::array<Tensor, 3>(Tensor, std::optional<Tensor>, std::optional<Tensor>, LayerNormOptions)>
    layer_norm;
/// Gradients of x, weight and bias from grad, x, weight, mean and invstd. Those not asked for have no elements.
extern StructuredOp<std::array<Tensor, 3>(Tensor, Tensor, std::optional<Tensor>, Tensor, Tensor, LayerNormOptions,
                                          std::array<bool, 3>)>
    layer_norm_backward;
}  // namespace ops

}  // namespace taper
