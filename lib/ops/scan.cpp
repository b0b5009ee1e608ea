#include <taper/operator.h>
#include <taper/ops/join.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/scan.h>
#include <taper/ops/view.h>

#include "op_names.h"
#include "wrap_dim.h"
#include "write_out.h"

namespace taper {
namespace {

template <OpName op>
TensorSpec infer_sums(const Tensor& self, const std::int64_t& dim) {
  wrap_dim(op.text, dim, self);
  return TensorSpec::contiguous(self.sizes(), self.is_floating_point() ? self.dtype() : int64, self.device());
}
TensorSpec infer_logcumsumexp(const Tensor& self, const std::int64_t& dim) {
  wrap_dim("logcumsumexp", dim, self);
  check<DTypeError>(self.is_floating_point(), "logcumsumexp: needs a floating dtype, got ", self,
                    "; convert with x.to(taper::float32) first");
  return TensorSpec::contiguous(self.sizes(), self.dtype(), self.device());
}
template <OpName op>
std::array<TensorSpec, 2> infer_extremes(const Tensor& self, const std::int64_t& dim) {
  wrap_dim(op.text, dim, self);
  return {TensorSpec::contiguous(self.sizes(), self.dtype(), self.device()),
          TensorSpec::contiguous(self.sizes(), int64, self.device())};
}
TensorSpec infer_recurrence(const Tensor& x, const Tensor& factor, const std::int64_t& dim) {
  wrap_dim("recurrence", dim, x);
  check<DTypeError>(x.is_floating_point() && factor.dtype() == x.dtype(), "recurrence: x is ", x.dtype(),
                    " and factor is ", factor.dtype(), ", expected one floating dtype");
  check<ShapeError>(x.sizes() == factor.sizes(), "recurrence: x is ", x, " but factor is ", factor);
  return TensorSpec::contiguous(x.sizes(), x.dtype(), x.device());
}

/// Converted first, if a dtype is asked for; int64 is the narrowest that whole numbers are added up in.
template <auto& Op>
Tensor accumulated(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  if (!dtype) return Op(self, dim);
  return Op(self.to(*dtype), dim).to(*dtype);
}

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor, std::int64_t)> cumsum{"cumsum", "self, dim", infer_sums<"cumsum">, "cumsum_",
                                                            OpKind::structured};
constinit StructuredOp<Tensor(Tensor, std::int64_t)> cumprod{"cumprod", "self, dim", infer_sums<"cumprod">, "cumprod_",
                                                             OpKind::structured};
constinit StructuredOp<Tensor(Tensor, std::int64_t)> logcumsumexp{"logcumsumexp", "self, dim", infer_logcumsumexp};
constinit StructuredOp<std::array<Tensor, 2>(Tensor, std::int64_t)> cummax{"cummax", "self, dim",
                                                                           infer_extremes<"cummax">};
constinit StructuredOp<std::array<Tensor, 2>(Tensor, std::int64_t)> cummin{"cummin", "self, dim",
                                                                           infer_extremes<"cummin">};
constinit StructuredOp<Tensor(Tensor, Tensor, std::int64_t)> recurrence{"recurrence", "x, factor, dim",
                                                                        infer_recurrence};
}  // namespace ops

Tensor cumsum(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  return accumulated<ops::cumsum>(self, dim, dtype);
}
Tensor& cumsum_out(Tensor& out, const Tensor& self, std::int64_t dim) { return ops::cumsum.out(out, self, dim); }
Tensor cumprod(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  return accumulated<ops::cumprod>(self, dim, dtype);
}
Tensor& cumprod_out(Tensor& out, const Tensor& self, std::int64_t dim) { return ops::cumprod.out(out, self, dim); }
Tensor logcumsumexp(const Tensor& self, std::int64_t dim) { return ops::logcumsumexp(self, dim); }
Tensor& logcumsumexp_out(Tensor& out, const Tensor& self, std::int64_t dim) {
  return ops::logcumsumexp.out(out, self, dim);
}
std::tuple<Tensor, Tensor> cummax(const Tensor& self, std::int64_t dim) {
  std::array<Tensor, 2> pair = ops::cummax(self, dim);
  return {std::move(pair[0]), std::move(pair[1])};
}
std::tuple<Tensor&, Tensor&> cummax_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t dim) {
  return write_out("cummax", values, indices, cummax(self, dim));
}
std::tuple<Tensor, Tensor> cummin(const Tensor& self, std::int64_t dim) {
  std::array<Tensor, 2> pair = ops::cummin(self, dim);
  return {std::move(pair[0]), std::move(pair[1])};
}
std::tuple<Tensor&, Tensor&> cummin_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t dim) {
  return write_out("cummin", values, indices, cummin(self, dim));
}

Tensor diff(const Tensor& self, std::int64_t n, std::int64_t dim, const Tensor& prepend, const Tensor& append) {
  check<ValueError>(n >= 0, "diff: n is ", n, ", expected 0 or more");
  check<ShapeError>(self.dim() > 0, "diff: self must have at least one dim, got ", self);
  const std::int64_t d = wrap_dim("diff", dim, self);
  TensorList parts;
  if (prepend.defined()) parts.push_back(prepend);
  parts.push_back(self);
  if (append.defined()) parts.push_back(append);
  Tensor out = parts.size() > 1 ? cat(parts, d) : self;
  for (; n > 0; --n) {
    const std::int64_t left = std::max<std::int64_t>(out.size(d) - 1, 0), skipped = out.size(d) - left;
    const Tensor later = out.narrow(d, skipped, left), earlier = out.narrow(d, 0, left);
    out = out.dtype() == bool_ ? later.logical_xor(earlier) : later.sub(earlier);
  }
  return out.is_same(self) ? self.clone() : out;
}
Tensor& diff_out(Tensor& out, const Tensor& self, std::int64_t n, std::int64_t dim, const Tensor& prepend,
                 const Tensor& append) {
  return write_out("diff", out, diff(self, n, dim, prepend, append));
}

namespace {
/// The areas between neighbours. `x` is undefined where they are dx apart.
Tensor trapezoids(const char* op, const Tensor& y, const Tensor& x, double dx, std::int64_t dim) {
  check<ShapeError>(y.dim() > 0, op, ": y must have at least one dim, got ", y);
  const std::int64_t d = wrap_dim(op, dim, y), n = y.size(d), gaps = std::max<std::int64_t>(n - 1, 0);
  const auto neighbours = [&](const Tensor& t, std::int64_t at) {
    return std::pair(t.narrow(at, 0, gaps), t.narrow(at, n - gaps, gaps));
  };
  const auto [left, right] = neighbours(y, d);
  const Tensor sum = left.add(right);
  if (!x.defined()) return sum.mul(dx / 2);
  check<ShapeError>(x.sizes() == y.sizes() || (x.dim() == 1 && x.numel() == n), op, ": x ", x,
                    " has neither the shape of y ", y, " nor its ", n, " entries along dim ", d);
  const auto [from, to] = neighbours(x, x.dim() == 1 ? 0 : d);
  Tensor width = to.sub(from);
  if (x.dim() != y.dim()) {
    IntVec sizes(std::size_t(y.dim()), 1);
    sizes[std::size_t(d)] = gaps;
    width = width.view(sizes);
  }
  return sum.mul(width).div(2);
}
}  // namespace

Tensor trapezoid(const Tensor& y, double dx, std::int64_t dim) {
  return trapezoids("trapezoid", y, {}, dx, dim).sum(dim);
}
Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim) {
  check<ValueError>(x.defined(), "trapezoid: x is undefined; give a distance instead: trapezoid(y, 1.0, dim)");
  return trapezoids("trapezoid", y, x, 1, dim).sum(dim);
}
Tensor cumulative_trapezoid(const Tensor& y, double dx, std::int64_t dim) {
  return trapezoids("cumulative_trapezoid", y, {}, dx, dim).cumsum(dim);
}
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim) {
  check<ValueError>(x.defined(),
                    "cumulative_trapezoid: x is undefined; give a distance instead: cumulative_trapezoid(y, 1.0, dim)");
  return trapezoids("cumulative_trapezoid", y, x, 1, dim).cumsum(dim);
}

namespace {
void check_own_dtype(const char* op, const Tensor& self, std::optional<DType> dtype) {
  check<DTypeError>(!dtype || *dtype == self.dtype(), op, ": dtype is ", dtype.value_or(self.dtype()),
                    " but what is written to is ", self, "; use the form without the underscore");
}
}  // namespace

Tensor Tensor::cumsum(std::int64_t dim, std::optional<DType> dtype) const { return taper::cumsum(*this, dim, dtype); }
Tensor& Tensor::cumsum_(std::int64_t dim, std::optional<DType> dtype) {
  check_own_dtype("cumsum_", *this, dtype);
  return ops::cumsum.inplace(*this, *this, dim);
}
Tensor Tensor::cumprod(std::int64_t dim, std::optional<DType> dtype) const { return taper::cumprod(*this, dim, dtype); }
Tensor& Tensor::cumprod_(std::int64_t dim, std::optional<DType> dtype) {
  check_own_dtype("cumprod_", *this, dtype);
  return ops::cumprod.inplace(*this, *this, dim);
}
Tensor Tensor::logcumsumexp(std::int64_t dim) const { return ops::logcumsumexp(*this, dim); }
std::tuple<Tensor, Tensor> Tensor::cummax(std::int64_t dim) const { return taper::cummax(*this, dim); }
std::tuple<Tensor, Tensor> Tensor::cummin(std::int64_t dim) const { return taper::cummin(*this, dim); }
Tensor Tensor::diff(std::int64_t n, std::int64_t dim, const Tensor& prepend, const Tensor& append) const {
  return taper::diff(*this, n, dim, prepend, append);
}

}  // namespace taper
