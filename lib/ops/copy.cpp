#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/layout_copies.h>
#include <taper/operator.h>
#include <taper/ops/copy.h>

#include "elementwise.h"

namespace taper {
namespace {

TensorSpec infer_same(const Tensor& self) { return elementwise_spec("clone", self.dtype(), self); }

TensorSpec infer_copy(const Tensor& self, const Tensor& src) {
  const IntSpan to = self.sizes(), from = src.sizes();
  bool fits = from.size() <= to.size();
  for (std::size_t d = 0; fits && d < from.size(); ++d) {
    const std::int64_t n = from[from.size() - 1 - d];
    fits = n == 1 || n == to[to.size() - 1 - d];
  }
  check<ShapeError>(fits, "copy_: src ", src, " does not broadcast to self, ", self,
                    "; each of its sizes, counted from the right, must be 1 or self's");
  return infer_same(self);
}

TensorSpec infer_fill(const Tensor& self, const Scalar& value) {
  check_fits("fill_", value, self.dtype());
  return infer_same(self);
}

TensorSpec infer_fill_tensor(const Tensor& self, const Tensor& value) {
  check<ShapeError>(value.dim() == 0, "fill_: value must have no dimensions, got ", value,
                    "; copy_() broadcasts a tensor over self");
  if (value.device().is_cpu()) check_fits("fill_", value.scalar(), self.dtype());
  return infer_same(self);
}

TensorSpec infer_contiguous(const Tensor& self) {
  return TensorSpec::contiguous(self.sizes(), self.dtype(), self.device());
}

TensorSpec infer_to(const Tensor& self, const Conversion& target) {
  check<DeviceError>(!self.device().is_meta() || target.device.is_meta(), "to: cannot bring ", self, " to ",
                     target.device, ": it has no values; make the tensor there with empty(sizes, {.device = ...})");
  TensorSpec spec = elementwise_spec("to", target.dtype, self);
  spec.device = target.device;
  return spec;
}

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor, Tensor)> copy{"copy", "self, src", infer_copy, "copy_"};
constinit StructuredOp<Tensor(Tensor, Scalar)> fill{"fill", "self, value", infer_fill, "fill_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> fill_tensor{"fill", "self, value", infer_fill_tensor, "fill_"};
constinit StructuredOp<Tensor(Tensor)> zero{"zero", "self", infer_same, "zero_"};
constinit StructuredOp<Tensor(Tensor)> clone{"clone", "self", infer_same};
constinit StructuredOp<Tensor(Tensor)> contiguous{"contiguous", "self", infer_contiguous};
constinit StructuredOp<Tensor(Tensor, Conversion)> to{"to", "self, target", infer_to};
}  // namespace ops

Tensor clone(const Tensor& self) { return ops::clone(self); }
Tensor contiguous(const Tensor& self) {
  if (self.is_contiguous()) return self;
  detail::count_layout_copy("contiguous", self);
  return ops::contiguous(self);
}

Tensor Tensor::clone() const { return ops::clone(*this); }
Tensor Tensor::contiguous() const { return taper::contiguous(*this); }
Tensor Tensor::to(DType dtype, bool copy) const { return to(device(), dtype, copy); }
Tensor Tensor::to(Device device, bool copy) const { return to(device, dtype(), copy); }
Tensor Tensor::to(Device device, DType dtype, bool copy) const {
  if (!copy && device == this->device() && dtype == this->dtype()) return *this;
  return ops::to(*this, Conversion{dtype, device});
}

Tensor Tensor::to(Device device, CopyOptions options) const {
  if (!options.non_blocking) return to(device, options.copy);
  if (!options.copy && device == this->device()) return *this;
  const cuda::detail::NonBlocking scope(true);
  return ops::to(*this, Conversion{dtype(), device});
}

Tensor& Tensor::copy_(const Tensor& src, bool non_blocking) {
  if (!non_blocking) return ops::copy.inplace(*this, *this, src);
  const cuda::detail::NonBlocking scope(true);
  return ops::copy.inplace(*this, *this, src);
}
Tensor Tensor::pin_memory() const {
  check<DeviceError>(device().is_cpu(), "pin_memory: only memory of the host can be pinned, got ", *this);
  if (is_pinned()) return *this;
  DataPtr block = cuda::detail::pinned_allocator().allocate(nbytes());
  Tensor pinned = from_blob(std::move(block), sizes(), SizesAndStrides::contiguous(sizes()).strides(),
                            {.dtype = dtype(), .device = taper::cpu});
  ops::copy.compute(pinned, pinned, *this);
  return pinned;
}
bool Tensor::is_pinned() const { return device().is_cpu() && cuda::detail::is_pinned(storage()->data()); }
Tensor& Tensor::fill_(Scalar value) { return ops::fill.inplace(*this, *this, value); }
Tensor& Tensor::fill_(const Tensor& value) { return ops::fill_tensor.inplace(*this, *this, value); }
Tensor& Tensor::zero_() { return ops::zero.inplace(*this, *this); }

}  // namespace taper
