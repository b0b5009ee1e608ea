#pragma once
// Lengths, distances and angles. All are differentiable, with a gradient of 0 where a norm is 0.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/tensor.h>

namespace taper {

/// x divided by its p-norms along dim, or by eps where they are smaller.
Tensor normalize(const Tensor& x, double p = 2, std::int64_t dim = 1, double eps = 1e-12);
/// x with those entries of dim scaled down to the p-norm maxnorm that have a larger one. Throws ShapeError for fewer
/// than two dims.
Tensor renorm(const Tensor& x, double p, std::int64_t dim, double maxnorm);
Tensor& renorm_out(Tensor& out, const Tensor& x, double p, std::int64_t dim, double maxnorm);
/// The cosine of the angles between x1 and x2 along dim, after broadcasting; norms below eps count as eps.
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, std::int64_t dim = 1, double eps = 1e-8);
/// The p-norms of x1 - x2 + eps along the last dim.
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-6, bool keepdim = false);
/// The p-norm of x1 - x2.
Tensor dist(const Tensor& x1, const Tensor& x2, double p = 2);
/// The p-distances of the pairs i < j of x's rows: (0, 1), (0, 2), ..., (1, 2), ...
Tensor pdist(const Tensor& x, double p = 2);
/// The p-norms of the differences of each row of x1 and each of x2: [..., m, k], [..., n, k] -> [..., m, n].
Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2);

}  // namespace taper
