#include <taper/ops/diagonals.h>
#include <taper/ops/distance.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/promotion.h>

#include "constant_on.h"
#include "wrap_dim.h"
#include "write_out.h"

namespace taper {

Tensor normalize(const Tensor& x, double p, std::int64_t dim, double eps) {
  return x.div(norm(x, p, IntSpan(dim), true).clamp_min(eps));
}

Tensor renorm(const Tensor& x, double p, std::int64_t dim, double maxnorm) {
  check<ShapeError>(x.dim() >= 2, "renorm: needs at least two dims, got ", x);
  check<ValueError>(p > 0, "renorm: p is ", p, ", expected a number above 0");
  check<ValueError>(maxnorm >= 0, "renorm: maxnorm is ", maxnorm, ", expected 0 or more");
  const std::int64_t kept = wrap_dim("renorm", dim, x);
  IntVec others;
  for (std::int64_t d = 0; d < x.dim(); ++d)
    if (d != kept) others.push_back(d);
  const Tensor length = norm(x, p, others, true);
  return x.mul(where(length.gt(maxnorm), maxnorm / (length + 1e-7), 1));
}
Tensor& renorm_out(Tensor& out, const Tensor& x, double p, std::int64_t dim, double maxnorm) {
  return write_out("renorm", out, renorm(x, p, dim, maxnorm));
}
Tensor Tensor::renorm(double p, std::int64_t dim, double maxnorm) const {
  return taper::renorm(*this, p, dim, maxnorm);
}
Tensor& Tensor::renorm_(double p, std::int64_t dim, double maxnorm) {
  // Of a copy: the gradient of the norms needs what is overwritten.
  return copy_(taper::renorm(clone(), p, dim, maxnorm));
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, std::int64_t dim, double eps) {
  const DType d = result_type(x1, x2);
  check<DTypeError>(is_floating(d), "cosine_similarity: needs a floating dtype, got ", x1, " and ", x2,
                    "; convert one of them with to(taper::float32)");
  const IntVec sizes = broadcast_sizes("cosine_similarity", x1.sizes(), x2.sizes());
  const auto unit = [&](const Tensor& x) {
    const Tensor wide = x.to(d).expand(sizes);
    return wide.div(norm(wide, 2, IntSpan(dim), true).clamp_min(eps));
  };
  return unit(x1).mul(unit(x2)).sum(IntSpan(dim));
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  return norm(x1.sub(x2).add(eps), p, IntSpan{-1}, keepdim);
}

Tensor cdist(const Tensor& x1, const Tensor& x2, double p) {
  check<ShapeError>(x1.dim() >= 2 && x2.dim() >= 2, "cdist: needs rows of vectors, got x1 ", x1, " and x2 ", x2);
  check<ShapeError>(x1.size(-1) == x2.size(-1), "cdist: the vectors differ in length: x1 ", x1.sizes(), ", x2 ",
                    x2.sizes());
  check<ValueError>(p >= 0, "cdist: p is ", p, ", expected 0 or more");
  return norm(x1.unsqueeze(-2).sub(x2.unsqueeze(-3)), p, IntSpan{-1});
}

Tensor dist(const Tensor& x1, const Tensor& x2, double p) { return norm(x1.sub(x2), p); }
Tensor pdist(const Tensor& x, double p) {
  check<ShapeError>(x.dim() == 2, "pdist: needs rows of vectors, got ", x);
  check<ValueError>(p >= 0, "pdist: p is ", p, ", expected 0 or more");
  const Tensor pairs = constant_on(x.device(), triu_indices(x.size(0), x.size(0), 1));
  return norm(x.index_select(0, pairs.select(0, 0)).sub(x.index_select(0, pairs.select(0, 1))), p, IntSpan{-1});
}
Tensor Tensor::dist(const Tensor& other, double p) const { return taper::dist(*this, other, p); }

}  // namespace taper
