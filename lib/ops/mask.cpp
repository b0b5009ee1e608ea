// Masks: filling, choosing and listing elements by a condition.
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/promotion.h>

#include <limits>

#include "elementwise.h"
#include "positions.h"
#include "write_out.h"

namespace taper {
namespace {

void check_mask(const char* op, const Tensor& mask) {
  check<DTypeError>(mask.dtype() == bool_, op, ": mask must be bool, got ", mask, "; convert with to(taper::bool_)");
}

TensorSpec infer_masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  check_mask("masked_fill", mask);
  check<ShapeError>(value.dim() == 0, "masked_fill: value must have no dims, got ", value,
                    "; where(mask, value, self) broadcasts one");
  if (value.device().is_cpu()) check_fits("masked_fill", value.scalar(), self.dtype());
  return elementwise_spec("masked_fill", self.dtype(), self, mask);
}

void check_has_values(const char* op, const Tensor& t) {
  check<DeviceError>(!t.device().is_meta(), op, ": the size of the result depends on the values of ", t,
                     ", and a meta tensor has none");
}

TensorSpec infer_nonzero(const Tensor& self, const std::int64_t& count) {
  return TensorSpec::contiguous({count, self.dim()}, int64, self.device());
}

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor, Tensor, Tensor)> masked_fill{"masked_fill", "self, mask, value",
                                                                   infer_masked_fill, "masked_fill_"};
constinit StructuredOp<Tensor(Tensor, std::int64_t)> nonzero{"nonzero", "self", infer_nonzero};
}  // namespace ops

Tensor masked_fill(const Tensor& self, const Tensor& mask, Scalar value) {
  return ops::masked_fill(self, mask, wrapped_number(value));
}
Tensor& masked_fill_out(Tensor& out, const Tensor& self, const Tensor& mask, Scalar value) {
  return ops::masked_fill.out(out, self, mask, wrapped_number(value));
}
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  return ops::masked_fill(self, mask, value);
}
Tensor& masked_fill_out(Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& value) {
  return ops::masked_fill.out(out, self, mask, value);
}

Tensor nonzero(const Tensor& self) {
  check_has_values("nonzero", self);
  return ops::nonzero(self, count_nonzero(self).item<std::int64_t>());
}
Tensor& nonzero_out(Tensor& out, const Tensor& self) { return write_out("nonzero", out, nonzero(self)); }

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  check_mask("masked_select", mask);
  check_has_values("masked_select", self);
  const IntVec sizes = broadcast_sizes("masked_select", self.sizes(), mask.sizes());
  const Tensor flat = self.expand(sizes).reshape(-1);
  return ops::index(flat, positions_of(mask.expand(sizes).reshape(-1)), IntSpan{0});
}
Tensor& masked_select_out(Tensor& out, const Tensor& self, const Tensor& mask) {
  return write_out("masked_select", out, masked_select(self, mask));
}

namespace {
/// What masked_scatter writes, and where.
struct MaskedValues {
  Positions at;
  Tensor values;
};
MaskedValues masked_values(const char* op, const Tensor& self, const Tensor& mask, const Tensor& source) {
  check<DTypeError>(source.dtype() == self.dtype(), op, ": source is ", source, " but self is ", self,
                    "; convert it with to(taper::", self.dtype(), ")");
  MaskedValues m;
  m.at.add_mask(op, mask, self, 0);
  const std::int64_t count = m.at.indices[0].numel();
  check<ShapeError>(count <= source.numel(), op, ": mask has ", count, " elements that are true but source, ", source,
                    ", has only ", source.numel());
  m.values = source.reshape(-1).narrow(0, 0, count);
  return m;
}
}  // namespace

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  check_mask("masked_scatter", mask);
  const IntVec sizes = broadcast_sizes("masked_scatter", self.sizes(), mask.sizes());
  if (sizes.empty()) return masked_scatter(self.unsqueeze(0), mask.unsqueeze(0), source).squeeze(0);
  const Tensor wide = self.expand(sizes);
  if (self.device().is_meta()) return where(mask, source.sum(), wide);  // the shape, and a result of both
  const MaskedValues m = masked_values("masked_scatter", wide, mask.expand(sizes), source);
  return ops::index_put(wide, m.at.indices, m.values, m.at.dims, false);
}
Tensor& masked_scatter_out(Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& source) {
  return write_out("masked_scatter", out, masked_scatter(self, mask, source));
}
Tensor& masked_scatter_(Tensor& self, const Tensor& mask, const Tensor& source) {
  check_mask("masked_scatter_", mask);
  if (self.device().is_meta()) return self.copy_(masked_scatter(self, mask.expand(self.sizes()), source));
  if (self.dim() == 0) {
    Tensor vector = self.unsqueeze(0);
    masked_scatter_(vector, mask, source);
    return self;
  }
  const MaskedValues m = masked_values("masked_scatter_", self, mask.expand(self.sizes()), source);
  return ops::index_put.inplace(self, self, m.at.indices, m.values, m.at.dims, false);
}

Tensor Tensor::masked_fill(const Tensor& mask, Scalar value) const { return taper::masked_fill(*this, mask, value); }
Tensor Tensor::masked_fill(const Tensor& mask, const Tensor& value) const {
  return taper::masked_fill(*this, mask, value);
}
Tensor& Tensor::masked_fill_(const Tensor& mask, Scalar value) {
  return ops::masked_fill.inplace(*this, *this, mask, wrapped_number(value));
}
Tensor& Tensor::masked_fill_(const Tensor& mask, const Tensor& value) {
  return ops::masked_fill.inplace(*this, *this, mask, value);
}
Tensor Tensor::masked_select(const Tensor& mask) const { return taper::masked_select(*this, mask); }
Tensor Tensor::nonzero() const { return taper::nonzero(*this); }

Tensor Tensor::masked_scatter(const Tensor& mask, const Tensor& source) const {
  return taper::masked_scatter(*this, mask, source);
}
Tensor& Tensor::masked_scatter_(const Tensor& mask, const Tensor& source) {
  return taper::masked_scatter_(*this, mask, source);
}

}  // namespace taper
