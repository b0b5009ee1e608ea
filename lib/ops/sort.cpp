#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/scan.h>
#include <taper/ops/sort.h>
#include <taper/ops/view.h>

#include <limits>

#include "wrap_dim.h"
#include "write_out.h"

namespace taper {
namespace {

std::int64_t length(const Tensor& self, std::int64_t dim) { return self.dim() == 0 ? 1 : self.size(dim); }

/// Values and positions of self's shape, but with n entries in dim.
std::array<TensorSpec, 2> chosen(const char* op, const Tensor& self, std::int64_t dim, std::int64_t n) {
  const std::int64_t d = wrap_dim(op, dim, self);
  IntVec sizes = self.sizes().vec();
  if (!sizes.empty()) sizes[std::size_t(d)] = n;
  return {TensorSpec::contiguous(sizes, self.dtype(), self.device()),
          TensorSpec::contiguous(sizes, int64, self.device())};
}

std::array<TensorSpec, 2> infer_sort(const Tensor& self, const std::int64_t& dim, const bool&) {
  wrap_dim("sort", dim, self);
  return chosen("sort", self, dim, length(self, dim));
}
std::array<TensorSpec, 2> infer_topk(const Tensor& self, const std::int64_t& dim, const std::int64_t& k, const bool&) {
  wrap_dim("topk", dim, self);
  check<ValueError>(k >= 0 && k <= length(self, dim), "topk: k is ", k, " but dim ", dim, " of ", self, " has ",
                    length(self, dim), " entries");
  // A tensor without dims has one entry; none of it is a vector without entries.
  std::array<TensorSpec, 2> out = chosen("topk", self, dim, k);
  if (self.dim() == 0 && k == 0)
    for (TensorSpec& s : out) s = TensorSpec::contiguous({0}, s.dtype, s.device);
  return out;
}
std::array<TensorSpec, 2> infer_kthvalue(const Tensor& self, const std::int64_t& dim, const std::int64_t& k) {
  wrap_dim("kthvalue", dim, self);
  check<ValueError>(k >= 1 && k <= length(self, dim), "kthvalue: k is ", k, " but dim ", dim, " of ", self, " has ",
                    length(self, dim), " entries, counted from 1");
  return chosen("kthvalue", self, dim, 1);
}
std::array<TensorSpec, 2> infer_median(const Tensor& self, const std::int64_t& dim) {
  wrap_dim("median", dim, self);
  check<ValueError>(length(self, dim) > 0, "median: dim ", dim, " of ", self,
                    " has no entries, and no entries have no median");
  return chosen("median", self, dim, 1);
}

TensorSpec infer_searchsorted(const Tensor& sequence, const Tensor& values, const bool& out_int32, const bool&) {
  check<DTypeError>(sequence.dtype() == values.dtype(), "searchsorted: the sequence is ", sequence.dtype(),
                    " but the values are ", values.dtype(), "; convert one of them with to()");
  check<ShapeError>(sequence.dim() >= 1, "searchsorted: the sequence must have at least one dim, got ", sequence);
  bool fits = sequence.dim() == 1 || sequence.dim() == values.dim();
  for (int d = 0; fits && sequence.dim() > 1 && d + 1 < sequence.dim(); ++d) fits = sequence.size(d) == values.size(d);
  check<ShapeError>(fits, "searchsorted: the sequence ", sequence, " must be one dim, or have the values' dims, ",
                    values.sizes(), ", but for the last");
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  check<ValueError>(!out_int32 || sequence.size(-1) <= most, "searchsorted: positions in ", sequence,
                    " do not fit int32");
  return TensorSpec::contiguous(values.sizes(), out_int32 ? int32 : int64, values.device());
}

std::tuple<Tensor, Tensor> as_tuple(std::array<Tensor, 2> pair) { return {std::move(pair[0]), std::move(pair[1])}; }

/// A pair that kept dim with one entry, as asked for.
std::tuple<Tensor, Tensor> reduced(std::array<Tensor, 2> pair, std::int64_t dim, bool keepdim) {
  if (keepdim || pair[0].dim() == 0) return as_tuple(std::move(pair));
  return {pair[0].squeeze(dim), pair[1].squeeze(dim)};
}

void refuse_gradient(const char* op, const Tensor& t) {
  check<AutogradError>(
      !(t.defined() && detail::requires_grad_hook && GradMode::is_enabled() && detail::requires_grad_hook(t)), op,
      ": has no derivative, but ", t, " requires grad; use x.detach()");
}

}  // namespace

namespace ops {
constinit StructuredOp<std::array<Tensor, 2>(Tensor, std::int64_t, bool)> sort{"sort", "self, dim, descending",
                                                                               infer_sort};
constinit StructuredOp<std::array<Tensor, 2>(Tensor, std::int64_t, std::int64_t, bool)> topk{
    "topk", "self, dim, k, largest", infer_topk};
constinit StructuredOp<std::array<Tensor, 2>(Tensor, std::int64_t, std::int64_t)> kthvalue{"kthvalue", "self, dim, k",
                                                                                           infer_kthvalue};
constinit StructuredOp<std::array<Tensor, 2>(Tensor, std::int64_t)> median{"median", "self, dim", infer_median};
constinit StructuredOp<Tensor(Tensor, Tensor, bool, bool)> searchsorted{
    "searchsorted", "sorted_sequence, values, out_int32, right", infer_searchsorted};
}  // namespace ops

std::tuple<Tensor, Tensor> sort(const Tensor& self, std::int64_t dim, bool descending) {
  return as_tuple(ops::sort(self, dim, descending));
}
std::tuple<Tensor&, Tensor&> sort_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t dim,
                                      bool descending) {
  return write_out("sort", values, indices, sort(self, dim, descending));
}
Tensor argsort(const Tensor& self, std::int64_t dim, bool descending) {
  return ops::sort(self.detach(), dim, descending)[1];
}
Tensor& argsort_out(Tensor& out, const Tensor& self, std::int64_t dim, bool descending) {
  return write_out("argsort", out, argsort(self, dim, descending));
}
std::tuple<Tensor, Tensor> topk(const Tensor& self, std::int64_t k, std::int64_t dim, bool largest, bool) {
  return as_tuple(ops::topk(self, dim, k, largest));
}
std::tuple<Tensor&, Tensor&> topk_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t k,
                                      std::int64_t dim, bool largest, bool sorted) {
  return write_out("topk", values, indices, topk(self, k, dim, largest, sorted));
}
std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, std::int64_t k, std::int64_t dim, bool keepdim) {
  return reduced(ops::kthvalue(self, dim, k), dim, keepdim);
}
std::tuple<Tensor&, Tensor&> kthvalue_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t k,
                                          std::int64_t dim, bool keepdim) {
  return write_out("kthvalue", values, indices, kthvalue(self, k, dim, keepdim));
}
std::tuple<Tensor, Tensor> median(const Tensor& self, std::int64_t dim, bool keepdim) {
  return reduced(ops::median(self, dim), dim, keepdim);
}
std::tuple<Tensor&, Tensor&> median_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t dim,
                                        bool keepdim) {
  return write_out("median", values, indices, median(self, dim, keepdim));
}
Tensor median(const Tensor& self) {
  if (self.numel() == 0 && self.is_floating_point())
    return full(IntSpan{}, std::numeric_limits<double>::quiet_NaN(), self.dtype(), self.device());
  return std::get<0>(median(self.reshape(-1), 0));
}
Tensor& median_out(Tensor& out, const Tensor& self) { return write_out("median", out, median(self)); }

std::tuple<Tensor, Tensor, Tensor> unique(const Tensor& self, bool return_inverse, bool return_counts) {
  refuse_gradient("unique", self);
  check<DeviceError>(!self.device().is_meta(), "unique: the size of the result depends on the values of ", self,
                     ", and a meta tensor has none");
  const NoGradGuard no_grad;
  const auto [values, places] = sort(self.reshape(-1));
  const std::int64_t n = values.numel();
  if (n == 0) {
    const Tensor none = empty({0}, int64, self.device());
    return {values, return_inverse ? none.reshape(self.sizes()) : Tensor(), return_counts ? none : Tensor()};
  }
  // The first of each run of equals.
  Tensor first = full({n}, true, bool_, self.device());
  first.narrow(0, 1, n - 1).copy_(values.narrow(0, 1, n - 1).ne(values.narrow(0, 0, n - 1)));
  const Tensor starts = nonzero(first).select(1, 0);
  Tensor inverse, counts;
  if (return_inverse) {
    inverse = empty({n}, int64, self.device());
    scatter_(inverse, 0, places, cumsum(first, 0).sub(1));
    inverse = inverse.view(self.sizes());
  }
  if (return_counts) counts = diff(starts, 1, 0, {}, full({1}, n, int64, self.device()));
  return {index_select(values, 0, starts), inverse, counts};
}

Tensor bincount(const Tensor& self, const Tensor& weights, std::int64_t minlength) {
  check<ShapeError>(self.dim() == 1, "bincount: needs a vector, got ", self);
  check<DTypeError>(!self.is_floating_point() && self.dtype() != bool_, "bincount: needs integers, got ", self);
  check<ValueError>(minlength >= 0, "bincount: minlength is ", minlength, ", expected 0 or more");
  const IntSpan of_weights = weights.defined() ? weights.sizes() : self.sizes();
  check<ShapeError>(of_weights == self.sizes(), "bincount: weights ", of_weights, " do not fit ", self.sizes());
  refuse_gradient("bincount", weights);
  std::int64_t n = minlength;
  if (self.numel() > 0) {
    const std::int64_t least = self.min().item<std::int64_t>(), most = self.max().item<std::int64_t>();
    check<ValueError>(least >= 0, "bincount: ", least, " is negative; expected 0 or more");
    n = std::max(n, most + 1);
  }
  const DType dtype = !weights.defined() ? int64 : weights.dtype() == float32 ? float32 : float64;
  Tensor out = zeros({n}, dtype, self.device());
  if (self.numel() == 0) return out;
  const Tensor each = weights.defined() ? weights.to(dtype) : ones(self.sizes(), int64, self.device());
  return index_add_(out, 0, self.to(int64), each);
}
Tensor& bincount_out(Tensor& out, const Tensor& self, const Tensor& weights, std::int64_t minlength) {
  return write_out("bincount", out, bincount(self, weights, minlength));
}

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool out_int32, bool right) {
  return ops::searchsorted(sorted_sequence, values, out_int32, right);
}
Tensor& searchsorted_out(Tensor& out, const Tensor& sorted_sequence, const Tensor& values, bool out_int32, bool right) {
  return write_out("searchsorted", out, searchsorted(sorted_sequence, values, out_int32, right));
}
Tensor searchsorted(const Tensor& sorted_sequence, Scalar value, bool out_int32, bool right) {
  const Tensor one = full(IntSpan{}, value, sorted_sequence.dtype(), sorted_sequence.device());
  return ops::searchsorted(sorted_sequence, one, out_int32, right);
}
Tensor& searchsorted_out(Tensor& out, const Tensor& sorted_sequence, Scalar value, bool out_int32, bool right) {
  return write_out("searchsorted", out, searchsorted(sorted_sequence, value, out_int32, right));
}
Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  check<ShapeError>(boundaries.dim() == 1, "bucketize: boundaries must be one dim, got ", boundaries);
  return searchsorted(boundaries, self, out_int32, right);
}
Tensor& bucketize_out(Tensor& out, const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  return write_out("bucketize", out, bucketize(self, boundaries, out_int32, right));
}
Tensor bucketize(Scalar self, const Tensor& boundaries, bool out_int32, bool right) {
  check<ShapeError>(boundaries.dim() == 1, "bucketize: boundaries must be one dim, got ", boundaries);
  return searchsorted(boundaries, self, out_int32, right);
}
Tensor& bucketize_out(Tensor& out, Scalar self, const Tensor& boundaries, bool out_int32, bool right) {
  return write_out("bucketize", out, bucketize(self, boundaries, out_int32, right));
}

std::tuple<Tensor, Tensor> Tensor::sort(std::int64_t dim, bool descending) const {
  return taper::sort(*this, dim, descending);
}
Tensor Tensor::argsort(std::int64_t dim, bool descending) const { return taper::argsort(*this, dim, descending); }
std::tuple<Tensor, Tensor> Tensor::topk(std::int64_t k, std::int64_t dim, bool largest, bool sorted) const {
  return taper::topk(*this, k, dim, largest, sorted);
}
std::tuple<Tensor, Tensor> Tensor::kthvalue(std::int64_t k, std::int64_t dim, bool keepdim) const {
  return taper::kthvalue(*this, k, dim, keepdim);
}
Tensor Tensor::median() const { return taper::median(*this); }
std::tuple<Tensor, Tensor> Tensor::median(std::int64_t dim, bool keepdim) const {
  return taper::median(*this, dim, keepdim);
}
Tensor Tensor::bincount(const Tensor& weights, std::int64_t minlength) const {
  return taper::bincount(*this, weights, minlength);
}

}  // namespace taper
