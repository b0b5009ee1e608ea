// Positions along one dim: index_select, index_add, index_copy, index_fill.
#include <taper/factory.h>
#include <taper/index_along.h>
#include <taper/operator.h>
#include <taper/ops/index.h>
#include <taper/ops/view.h>

#include "positions.h"
#include "wrap_dim.h"
#include "write_out.h"

namespace taper {
namespace {

/// index as a vector, after checking it against dim.
Tensor vector_of_positions(const char* op, const Tensor& self, std::int64_t dim, const Tensor& index,
                           Negative negative) {
  const std::int64_t at = wrap_dim(op, dim, self);
  check<ShapeError>(index.dim() <= 1, op, ": index must have at most one dim, got ", index);
  check_position_dtype(op, index);
  check_positions(op, index, self.dim() == 0 ? 1 : self.size(at), at, self, negative);
  return index.dim() == 0 ? index.reshape({1}) : index;
}

/// Throws unless source is self with index.numel() entries in dim.
void check_source(const char* op, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source) {
  const std::int64_t at = wrap_dim(op, dim, self);
  check<DTypeError>(source.dtype() == self.dtype(), op, ": source is ", source, " but self is ", self,
                    "; convert it with to(taper::", self.dtype(), ")");
  const bool scalar = self.dim() == 0;
  check<ShapeError>(scalar ? source.numel() == index.numel() : source.dim() == self.dim(), op, ": source is ", source,
                    " but self is ", self, "; all but dim ", dim, " must agree");
  for (std::int64_t d = 0; !scalar && d < self.dim(); ++d)
    check<ShapeError>(source.size(d) == (d == at ? index.numel() : self.size(d)), op, ": source is ", source,
                      " but self is ", self, " with ", index.numel(), " positions in dim ", at,
                      "; they disagree in dim ", d);
}

/// Writes source over (or adds it to) the entries; one dim stands in for none.
Tensor put_along(const char* op, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source,
                 bool accumulate) {
  const IndexAlong along(op);
  if (self.dim() > 0) return ops::index_put(self, {index}, source, IntSpan{wrap_dim("", dim, self)}, accumulate);
  return ops::index_put(self.unsqueeze(0), {index}, source.reshape(-1), IntSpan{0}, accumulate).squeeze(0);
}
Tensor& put_along_(const char* op, Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source,
                   bool accumulate) {
  const IndexAlong along(op);
  if (self.dim() > 0)
    return ops::index_put.inplace(self, self, {index}, source, IntSpan{wrap_dim("", dim, self)}, accumulate);
  Tensor vector = self.unsqueeze(0);
  ops::index_put.inplace(vector, vector, {index}, source.reshape(-1), IntSpan{0}, accumulate);
  return self;
}

Tensor scaled(const char* op, const Tensor& t, Scalar alpha) {
  check<DTypeError>(!alpha.is_floating() || t.is_floating_point(), op, ": alpha is ", alpha, " but source is ",
                    t.spec(), "; give a whole number, or convert source with to()");
  return alpha.to<double>() == 1 ? t : t.mul(alpha);
}

/// True at the entries `index` of dim, shaped to broadcast against self.
Tensor mask_along(const char* op, const Tensor& self, std::int64_t dim, const Tensor& index) {
  const Tensor positions = vector_of_positions(op, self, dim, index, Negative::from_end);
  const std::int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  Tensor mask = zeros({size}, bool_, self.device());
  if (positions.numel() > 0) {
    const Tensor yes = full(IntSpan{}, true, bool_, self.device());
    ops::index_put.inplace(mask, mask, {positions}, yes, IntSpan{0}, false);
  }
  IntVec shape(std::size_t(self.dim()), 1);
  if (!shape.empty()) shape[std::size_t(wrap_dim(op, dim, self))] = size;
  return mask.view(shape);
}

void check_fill_value(const Tensor& value) {
  check<ShapeError>(value.dim() == 0, "index_fill: value must have no dims, got ", value);
}

}  // namespace

Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index) {
  const Tensor positions = vector_of_positions("index_select", self, dim, index, Negative::refused);
  const IndexAlong along("index_select");
  if (self.dim() > 0) return ops::index(self, {positions}, IntSpan{wrap_dim("index_select", dim, self)});
  check<ShapeError>(positions.numel() == 1, "index_select: a 0-dim self has one entry, got ", positions.numel(),
                    " positions");
  return ops::index(self.unsqueeze(0), {positions}, IntSpan{0}).squeeze(0);
}
Tensor& index_select_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index) {
  return write_out("index_select", out, index_select(self, dim, index));
}

Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha) {
  const Tensor positions = vector_of_positions("index_add", self, dim, index, Negative::refused);
  check_source("index_add", self, dim, positions, source);
  return put_along("index_add", self, dim, positions, scaled("index_add", source, alpha), true);
}
Tensor& index_add_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source,
                      Scalar alpha) {
  return write_out("index_add", out, index_add(self, dim, index, source, alpha));
}
Tensor& index_add_(Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha) {
  const Tensor positions = vector_of_positions("index_add_", self, dim, index, Negative::refused);
  check_source("index_add_", self, dim, positions, source);
  return put_along_("index_add_", self, dim, positions, scaled("index_add_", source, alpha), true);
}

Tensor index_copy(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source) {
  const Tensor positions = vector_of_positions("index_copy", self, dim, index, Negative::refused);
  check_source("index_copy", self, dim, positions, source);
  return put_along("index_copy", self, dim, positions, source, false);
}
Tensor& index_copy_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source) {
  return write_out("index_copy", out, index_copy(self, dim, index, source));
}
Tensor& index_copy_(Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source) {
  const Tensor positions = vector_of_positions("index_copy_", self, dim, index, Negative::refused);
  check_source("index_copy_", self, dim, positions, source);
  return put_along_("index_copy_", self, dim, positions, source, false);
}

// A mask, not positions: an entry that is named twice is filled once and hands on its gradient once.
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, Scalar value) {
  return self.masked_fill(mask_along("index_fill", self, dim, index), value);
}
Tensor& index_fill_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, Scalar value) {
  return write_out("index_fill", out, index_fill(self, dim, index, value));
}
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value) {
  check_fill_value(value);
  return self.masked_fill(mask_along("index_fill", self, dim, index), value);
}
Tensor& index_fill_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value) {
  return write_out("index_fill", out, index_fill(self, dim, index, value));
}
Tensor& index_fill_(Tensor& self, std::int64_t dim, const Tensor& index, Scalar value) {
  return self.masked_fill_(mask_along("index_fill_", self, dim, index), value);
}
Tensor& index_fill_(Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value) {
  check_fill_value(value);
  return self.masked_fill_(mask_along("index_fill_", self, dim, index), value);
}

Tensor Tensor::index_select(std::int64_t dim, const Tensor& index) const {
  return taper::index_select(*this, dim, index);
}

Tensor Tensor::index_add(std::int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha) const {
  return taper::index_add(*this, dim, index, source, alpha);
}
Tensor& Tensor::index_add_(std::int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha) {
  return taper::index_add_(*this, dim, index, source, alpha);
}
Tensor Tensor::index_copy(std::int64_t dim, const Tensor& index, const Tensor& source) const {
  return taper::index_copy(*this, dim, index, source);
}
Tensor& Tensor::index_copy_(std::int64_t dim, const Tensor& index, const Tensor& source) {
  return taper::index_copy_(*this, dim, index, source);
}
Tensor Tensor::index_fill(std::int64_t dim, const Tensor& index, Scalar value) const {
  return taper::index_fill(*this, dim, index, value);
}
Tensor Tensor::index_fill(std::int64_t dim, const Tensor& index, const Tensor& value) const {
  return taper::index_fill(*this, dim, index, value);
}
Tensor& Tensor::index_fill_(std::int64_t dim, const Tensor& index, Scalar value) {
  return taper::index_fill_(*this, dim, index, value);
}
Tensor& Tensor::index_fill_(std::int64_t dim, const Tensor& index, const Tensor& value) {
  return taper::index_fill_(*this, dim, index, value);
}

}  // namespace taper
