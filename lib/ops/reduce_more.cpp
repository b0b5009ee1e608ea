// Reductions made of others.
#include <taper/factory.h>
#include <taper/ops/compare.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>

#include "write_out.h"

namespace taper {

Tensor nansum(const Tensor& x, IntSpan dims, bool keepdim, std::optional<DType> dtype) {
  const Tensor t = dtype ? x.to(*dtype) : x;
  return t.is_floating_point() ? where(t.isnan(), 0, t).sum(dims, keepdim) : t.sum(dims, keepdim, dtype);
}
Tensor& nansum_out(Tensor& out, const Tensor& x, IntSpan dims, bool keepdim, std::optional<DType> dtype) {
  return write_out("nansum", out, nansum(x, dims, keepdim, dtype));
}
Tensor nanmean(const Tensor& x, IntSpan dims, bool keepdim, std::optional<DType> dtype) {
  const Tensor t = dtype ? x.to(*dtype) : x;
  check<DTypeError>(t.is_floating_point(), "nanmean: needs a floating dtype, got x ", x.spec(),
                    "; pass one, as in nanmean(x, {}, false, taper::float32)");
  return nansum(t, dims, keepdim).div(t.isnan().logical_not().sum(dims, keepdim));
}
Tensor& nanmean_out(Tensor& out, const Tensor& x, IntSpan dims, bool keepdim, std::optional<DType> dtype) {
  return write_out("nanmean", out, nanmean(x, dims, keepdim, dtype));
}
std::tuple<Tensor, Tensor> aminmax(const Tensor& x, std::optional<std::int64_t> dim, bool keepdim) {
  const IntSpan dims = dim ? IntSpan(*dim) : IntSpan();
  // As in PyTorch, a 0-dim tensor keeps the dim that it is reduced over as if it had one.
  if (x.dim() == 0 && dim && keepdim) return {amin(x, dims).reshape({1}), amax(x, dims).reshape({1})};
  return {amin(x, dims, keepdim), amax(x, dims, keepdim)};
}
std::tuple<Tensor&, Tensor&> aminmax_out(Tensor& min, Tensor& max, const Tensor& x, std::optional<std::int64_t> dim,
                                         bool keepdim) {
  return write_out("aminmax", min, max, aminmax(x, dim, keepdim));
}

Tensor Tensor::prod(std::optional<DType> dtype) const { return taper::prod(*this, dtype); }
Tensor Tensor::prod(std::int64_t dim, bool keepdim, std::optional<DType> dtype) const {
  return taper::prod(*this, dim, keepdim, dtype);
}
Tensor Tensor::norm(double p) const { return taper::norm(*this, p); }
Tensor Tensor::norm(double p, IntSpan dims, bool keepdim) const { return taper::norm(*this, p, dims, keepdim); }
Tensor Tensor::logsumexp(IntSpan dims, bool keepdim) const { return taper::logsumexp(*this, dims, keepdim); }
Tensor Tensor::count_nonzero(IntSpan dims) const { return taper::count_nonzero(*this, dims); }
Tensor Tensor::nansum(IntSpan dims, bool keepdim, std::optional<DType> dtype) const {
  return taper::nansum(*this, dims, keepdim, dtype);
}
Tensor Tensor::nanmean(IntSpan dims, bool keepdim, std::optional<DType> dtype) const {
  return taper::nanmean(*this, dims, keepdim, dtype);
}
std::tuple<Tensor, Tensor> Tensor::aminmax(std::optional<std::int64_t> dim, bool keepdim) const {
  return taper::aminmax(*this, dim, keepdim);
}

}  // namespace taper
