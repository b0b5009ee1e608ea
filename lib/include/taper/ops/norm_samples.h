#pragma once
// Normalization within each sample: y = (x - mean) / sqrt(var + eps) * weight + bias, with the biased variance.
// Floating dtypes. Differentiable in x, weight and bias, twice too.
#include <taper/tensor.h>

namespace taper {

/// Over the last `shape.size()` dims of x [..., *shape]; weight and bias [*shape] or undefined. Throws ShapeError if x
/// does not end in `shape`. Ba, Kiros, Hinton 2016, "Layer Normalization", eq. 4.
Tensor layer_norm(const Tensor& x, IntSpan shape, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
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

}  // namespace taper
