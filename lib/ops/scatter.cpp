// Positions for each element: gather, scatter and what is built on them.
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/index.h>
#include <taper/ops/view.h>
#include <taper/promotion.h>

#include <algorithm>

#include "positions.h"
#include "wrap_dim.h"
#include "write_out.h"

namespace taper {
namespace {

/// A 0-dim tensor counts as one dim of size 1.
std::int64_t rank_of(const Tensor& t) { return std::max<std::int64_t>(t.dim(), 1); }
std::int64_t size_of(const Tensor& t, std::int64_t d) { return t.dim() == 0 ? 1 : t.size(d); }

/// Throws unless index fits self (everywhere but in dim) and, if given, src (everywhere).
void check_element_index(const char* op, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor* src) {
  const std::int64_t at = wrap_dim(op, dim, self);
  if (index.numel() == 0) return;
  check<DTypeError>(index.dtype() == int64, op, ": index must be int64, got ", index,
                    "; convert with to(taper::int64)");
  check<ShapeError>(rank_of(index) == rank_of(self), op, ": index ", index, " has ", index.dim(), " dims but self ",
                    self, " has ", self.dim());
  check<ShapeError>(!src || rank_of(index) == rank_of(*src), op, ": index ", index, " has ", index.dim(),
                    " dims but src has ", src ? src->dim() : 0);
  for (std::int64_t d = 0; d < rank_of(index); ++d) {
    check<ShapeError>(d == at || size_of(index, d) <= size_of(self, d), op, ": index ", index, " is larger than self ",
                      self, " in dim ", d, "; only dim ", at, " may be");
    check<ShapeError>(!src || size_of(index, d) <= size_of(*src, d), op, ": index ", index, " is larger than src, ",
                      src ? src->sizes() : IntSpan{}, ", in dim ", d);
  }
  check_positions(op, index, size_of(self, at), at, self, Negative::refused);
}

TensorSpec infer_gather(const Tensor& self, const std::int64_t& dim, const Tensor& index) {
  check_element_index("gather", self, dim, index, nullptr);
  return TensorSpec::contiguous(index.sizes(), self.dtype(), self.device());
}

TensorSpec infer_scatter(const char* op, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  check_element_index(op, self, dim, index, &src);
  check<DTypeError>(src.dtype() == self.dtype(), op, ": src is ", src, " but self is ", self,
                    "; convert it with to(taper::", self.dtype(), ")");
  return TensorSpec::contiguous(self.sizes(), self.dtype(), self.device());
}
TensorSpec infer_scatter_set(const Tensor& self, const std::int64_t& dim, const Tensor& index, const Tensor& src) {
  return infer_scatter("scatter", self, dim, index, src);
}
TensorSpec infer_scatter_add(const Tensor& self, const std::int64_t& dim, const Tensor& index, const Tensor& src) {
  return infer_scatter("scatter_add", self, dim, index, src);
}

TensorSpec infer_scatter_reduce(const Tensor& self, const std::int64_t& dim, const Tensor& index, const Tensor& src,
                                const ScatterKind&, const bool&) {
  return infer_scatter("scatter_reduce", self, dim, index, src);
}
ScatterKind scatter_kind(std::string_view reduce) {
  if (reduce == "sum") return ScatterKind::sum;
  if (reduce == "prod") return ScatterKind::prod;
  if (reduce == "mean") return ScatterKind::mean;
  if (reduce == "amax") return ScatterKind::amax;
  check<ValueError>(reduce == "amin", "scatter_reduce: reduce is '", reduce,
                    "', expected \"sum\", \"prod\", \"mean\", \"amax\" or \"amin\"");
  return ScatterKind::amin;
}

/// The number in the shape of index, without memory for each element.
Tensor repeated(const Tensor& self, const Tensor& index, Scalar value) {
  return full(IntSpan{}, value, self.dtype(), self.device()).expand(index.sizes());
}

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor, std::int64_t, Tensor)> gather{"gather", "self, index", infer_gather};
constinit StructuredOp<Tensor(Tensor, std::int64_t, Tensor, Tensor)> scatter{"scatter", "self, index, src",
                                                                             infer_scatter_set, "scatter_"};
constinit StructuredOp<Tensor(Tensor, std::int64_t, Tensor, Tensor)> scatter_add{"scatter_add", "self, index, src",
                                                                                 infer_scatter_add, "scatter_add_"};
constinit StructuredOp<Tensor(Tensor, std::int64_t, Tensor, Tensor, ScatterKind, bool)> scatter_reduce{
    "scatter_reduce", "self, dim, index, src, reduce, include_self", infer_scatter_reduce, "scatter_reduce_",
    OpKind::structured};
}  // namespace ops

Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index) { return ops::gather(self, dim, index); }
Tensor& gather_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index) {
  return ops::gather.out(out, self, dim, index);
}
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  return ops::scatter(self, dim, index, src);
}
Tensor& scatter_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  return ops::scatter.out(out, self, dim, index, src);
}
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, Scalar value) {
  return ops::scatter(self, dim, index, repeated(self, index, value));
}
Tensor& scatter_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, Scalar value) {
  return ops::scatter.out(out, self, dim, index, repeated(self, index, value));
}
Tensor& scatter_(Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  return ops::scatter.inplace(self, self, dim, index, src);
}
Tensor& scatter_(Tensor& self, std::int64_t dim, const Tensor& index, Scalar value) {
  return ops::scatter.inplace(self, self, dim, index, repeated(self, index, value));
}
Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  return ops::scatter_add(self, dim, index, src);
}
Tensor& scatter_add_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  return ops::scatter_add.out(out, self, dim, index, src);
}
Tensor& scatter_add_(Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  return ops::scatter_add.inplace(self, self, dim, index, src);
}

Tensor scatter_reduce(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self) {
  return ops::scatter_reduce(self, dim, index, src, scatter_kind(reduce), include_self);
}
Tensor& scatter_reduce_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src,
                           std::string_view reduce, bool include_self) {
  return ops::scatter_reduce.out(out, self, dim, index, src, scatter_kind(reduce), include_self);
}
Tensor& scatter_reduce_(Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                        bool include_self) {
  return ops::scatter_reduce.inplace(self, self, dim, index, src, scatter_kind(reduce), include_self);
}
Tensor Tensor::scatter_reduce(std::int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                              bool include_self) const {
  return taper::scatter_reduce(*this, dim, index, src, reduce, include_self);
}
Tensor& Tensor::scatter_reduce_(std::int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                                bool include_self) {
  return taper::scatter_reduce_(*this, dim, index, src, reduce, include_self);
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<std::int64_t> dim) {
  if (!dim) return ops::gather(self.reshape(-1), 0, indices.reshape(-1));
  const std::int64_t at = wrap_dim("take_along_dim", *dim, self);
  check<ShapeError>(self.dim() == indices.dim(), "take_along_dim: indices ", indices, " have ", indices.dim(),
                    " dims but self ", self, " has ", self.dim());
  if (self.dim() == 0) return ops::gather(self, 0, indices);
  IntVec of_self = self.sizes().vec(), of_indices = indices.sizes().vec();
  of_self[std::size_t(at)] = of_indices[std::size_t(at)] = 1;
  of_self = of_indices = broadcast_sizes("take_along_dim", of_self, of_indices);
  of_self[std::size_t(at)] = self.size(at);
  of_indices[std::size_t(at)] = indices.size(at);
  return ops::gather(self.expand(of_self), at, indices.expand(of_indices));
}
Tensor& take_along_dim_out(Tensor& out, const Tensor& self, const Tensor& indices, std::optional<std::int64_t> dim) {
  return write_out("take_along_dim", out, take_along_dim(self, indices, dim));
}

Tensor take(const Tensor& self, const Tensor& index) { return ops::index(self.reshape(-1), {index}, IntSpan{0}); }
Tensor& take_out(Tensor& out, const Tensor& self, const Tensor& index) {
  return write_out("take", out, take(self, index));
}

namespace {
void check_put(const Tensor& self, const Tensor& index, const Tensor& source) {
  check<ShapeError>(index.numel() == source.numel(), "put: index ", index, " and source ", source,
                    " differ in their number of elements");
  check<DTypeError>(source.dtype() == self.dtype(), "put: source is ", source, " but self is ", self,
                    "; convert it with to(taper::", self.dtype(), ")");
}
}  // namespace

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  check_put(self, index, source);
  return ops::index_put(self.reshape(-1), {index.reshape(-1)}, source.reshape(-1), IntSpan{0}, accumulate)
      .view(self.sizes());
}
Tensor& put_out(Tensor& out, const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  return write_out("put", out, put(self, index, source, accumulate));
}
Tensor& put_(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  if (!self.is_contiguous()) return self.copy_(put(self, index, source, accumulate));
  check_put(self, index, source);
  Tensor flat = self.view(-1);
  ops::index_put.inplace(flat, flat, {index.reshape(-1)}, source.reshape(-1), IntSpan{0}, accumulate);
  return self;
}

Tensor one_hot(const Tensor& self, std::int64_t num_classes) {
  check<DTypeError>(self.dtype() == int64, "one_hot: classes must be int64, got ", self);
  check<DeviceError>(num_classes >= 0 || !self.device().is_meta(),
                     "one_hot: num_classes cannot be worked out on meta; give it");
  if (num_classes < 0) {
    check<ValueError>(num_classes == -1, "one_hot: num_classes is ", num_classes, ", expected 1 or more, or -1");
    check<ValueError>(self.numel() > 0,
                      "one_hot: num_classes cannot be worked out from a tensor without elements; give it");
    const std::vector<std::int64_t> classes = self.to_vector<std::int64_t>();
    const auto [least, most] = std::minmax_element(classes.begin(), classes.end());
    check<ValueError>(*least >= 0, "one_hot: ", *least, " is not a class; expected 0 or more");
    check<ValueError>(*most < std::numeric_limits<std::int64_t>::max(), "one_hot: class ", *most,
                      " is too large for a dim of the result");
    num_classes = *most + 1;
  }
  check<ValueError>(num_classes > 0 || self.numel() == 0, "one_hot: num_classes is 0, expected 1 or more");
  IntVec sizes = self.sizes().vec();
  sizes.push_back(num_classes);
  Tensor out = zeros(sizes, int64, self.device());
  check_positions("one_hot", self, num_classes, self.dim(), out, Negative::refused);
  return self.numel() == 0 ? out : scatter_(out, -1, self.unsqueeze(-1), 1);
}

Tensor Tensor::gather(std::int64_t dim, const Tensor& index) const { return ops::gather(*this, dim, index); }

Tensor Tensor::scatter(std::int64_t dim, const Tensor& index, const Tensor& src) const {
  return taper::scatter(*this, dim, index, src);
}
Tensor Tensor::scatter(std::int64_t dim, const Tensor& index, Scalar value) const {
  return taper::scatter(*this, dim, index, value);
}
Tensor& Tensor::scatter_(std::int64_t dim, const Tensor& index, const Tensor& src) {
  return taper::scatter_(*this, dim, index, src);
}
Tensor& Tensor::scatter_(std::int64_t dim, const Tensor& index, Scalar value) {
  return taper::scatter_(*this, dim, index, value);
}
Tensor Tensor::scatter_add(std::int64_t dim, const Tensor& index, const Tensor& src) const {
  return taper::scatter_add(*this, dim, index, src);
}
Tensor& Tensor::scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& src) {
  return taper::scatter_add_(*this, dim, index, src);
}
Tensor Tensor::take(const Tensor& index) const { return taper::take(*this, index); }
Tensor Tensor::take_along_dim(const Tensor& indices, std::optional<std::int64_t> dim) const {
  return taper::take_along_dim(*this, indices, dim);
}
Tensor Tensor::put(const Tensor& index, const Tensor& source, bool accumulate) const {
  return taper::put(*this, index, source, accumulate);
}
Tensor& Tensor::put_(const Tensor& index, const Tensor& source, bool accumulate) {
  return taper::put_(*this, index, source, accumulate);
}

}  // namespace taper
