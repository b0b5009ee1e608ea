#pragma once
// Running results along a dim: entry i of the result is made of the entries 0 to i. The result has self's shape; a
// 0-dim tensor counts as one entry. A dim out of range throws IndexError.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <array>
#include <tuple>

namespace taper {

/// Running sums, floating ones added up in float64. Integers and bool give int64; with `dtype`, self is converted to it
/// first. Differentiable.
Tensor cumsum(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = {});
Tensor& cumsum_out(Tensor& out, const Tensor& self, std::int64_t dim);
/// Running products, otherwise as cumsum. The derivative is right where entries are 0, too.
Tensor cumprod(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = {});
Tensor& cumprod_out(Tensor& out, const Tensor& self, std::int64_t dim);
/// log of the running sums of exp(self), without overflow on the way. Floating dtypes. Differentiable.
Tensor logcumsumexp(const Tensor& self, std::int64_t dim);
Tensor& logcumsumexp_out(Tensor& out, const Tensor& self, std::int64_t dim);
/// The largest (smallest) entry so far and its position, the last one among equals. NaN counts as the largest
/// (smallest). Differentiable in the values.
std::tuple<Tensor, Tensor> cummax(const Tensor& self, std::int64_t dim);
std::tuple<Tensor&, Tensor&> cummax_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t dim);
std::tuple<Tensor, Tensor> cummin(const Tensor& self, std::int64_t dim);
std::tuple<Tensor&, Tensor&> cummin_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t dim);
/// Differences of neighbours along dim, taken n times; of bool, whether neighbours differ. prepend and append are put
/// at the ends first.
Tensor diff(const Tensor& self, std::int64_t n = 1, std::int64_t dim = -1, const Tensor& prepend = {},
            const Tensor& append = {});
Tensor& diff_out(Tensor& out, const Tensor& self, std::int64_t n = 1, std::int64_t dim = -1, const Tensor& prepend = {},
                 const Tensor& append = {});

/// The area under the points y along dim by trapezoids: y's neighbours are dx apart, or at the places x, which has y's
/// shape or is a vector along dim. The result lacks dim; one point has no area. Differentiable.
Tensor trapezoid(const Tensor& y, double dx = 1, std::int64_t dim = -1);
Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim = -1);
/// The areas up to each point but the first: dim is one shorter.
Tensor cumulative_trapezoid(const Tensor& y, double dx = 1, std::int64_t dim = -1);
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim = -1);

namespace ops {
extern StructuredOp<Tensor(Tensor, std::int64_t)> cumsum, cumprod, logcumsumexp;  // self, dim
extern StructuredOp<std::array<Tensor, 2>(Tensor, std::int64_t)> cummax, cummin;
// y[i] = x[i] + factor[i] * y[i - 1] along dim: what the gradients of products and exponentials are made of.
extern StructuredOp<Tensor(Tensor, Tensor, std::int64_t)> recurrence;  // x, factor, dim
}  // namespace ops

}  // namespace taper
