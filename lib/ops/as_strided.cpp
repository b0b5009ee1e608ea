#include <taper/operator.h>
#include <taper/ops/view.h>

#include "wrap_dim.h"

namespace taper {
namespace {

// ---- as_strided ----

/// Bytes from the start of the storage to the end of the last element; empty when that overflows.
std::optional<std::int64_t> bytes_reached(IntSpan sizes, IntSpan strides, std::int64_t offset, std::size_t itemsize) {
  std::int64_t last = offset, along = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    if (__builtin_mul_overflow(sizes[d] - 1, strides[d], &along) || __builtin_add_overflow(last, along, &last))
      return {};
  }
  std::int64_t bytes = 0;
  if (__builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, std::int64_t(itemsize), &bytes)) return {};
  return bytes;
}

Geometry infer_as_strided(const Tensor& self, const IntSpan& sizes, const IntSpan& strides,
                          const std::optional<std::int64_t>& storage_offset) {
  const std::int64_t offset = storage_offset.value_or(self.storage_offset());
  check<ShapeError>(sizes.size() == strides.size(), "as_strided: size ", sizes, " has ", sizes.size(),
                    " dims but stride ", strides, " has ", strides.size());
  for (const std::int64_t s : sizes) check<ValueError>(s >= 0, "as_strided: size ", sizes, " has a negative entry");
  for (const std::int64_t s : strides)
    check<ValueError>(s >= 0, "as_strided: stride ", strides,
                      " has a negative entry; to read backwards, copy with flip()");
  check<ValueError>(offset >= 0, "as_strided: storage_offset is ", offset, ", expected 0 or more");

  const std::int64_t available = std::int64_t(self.storage()->bytes());
  const std::optional<std::int64_t> needed = bytes_reached(sizes, strides, offset, self.element_size());
  check<IndexError>(needed.has_value(), "as_strided: size ", sizes, " with stride ", strides, " and storage_offset ",
                    offset, " reaches further than a 64-bit address, the storage has ", available, " bytes");
  check<IndexError>(*needed <= available, "as_strided: size ", sizes, " with stride ", strides, " and storage_offset ",
                    offset, " needs ", *needed, " bytes, the storage has ", available,
                    "; choose a smaller size, stride or offset");
  check_numel("as_strided", sizes);
  return {SizesAndStrides(sizes, strides), offset};
}

// ---- gradients of views ----

TensorSpec infer_place_view(const Tensor& grad, const ViewPlacement& p) {
  check<ShapeError>(grad.sizes() == p.view.sizes(), "place_view: grad ", grad.sizes(), " is not of the view's size ",
                    p.view.sizes());
  return TensorSpec::contiguous(p.base.sizes(), grad.dtype(), grad.device());
}
TensorSpec infer_read_view(const Tensor& x, const ViewPlacement& p) {
  check<ShapeError>(x.sizes() == p.base.sizes(), "read_view: x ", x.sizes(), " is not of the base's size ",
                    p.base.sizes());
  return TensorSpec::contiguous(p.view.sizes(), x.dtype(), x.device());
}

}  // namespace

namespace ops {
constinit ViewOp<IntSpan, IntSpan, std::optional<std::int64_t>> as_strided{
    "as_strided", "self, size, stride, storage_offset", infer_as_strided};
constinit StructuredOp<Tensor(Tensor, ViewPlacement)> place_view{"place_view", "grad, placement", infer_place_view};
constinit StructuredOp<Tensor(Tensor, ViewPlacement)> read_view{"read_view", "x, placement", infer_read_view};
}  // namespace ops

Tensor as_strided(const Tensor& self, IntSpan sizes, IntSpan strides, std::optional<std::int64_t> storage_offset) {
  return ops::as_strided(self, sizes, strides, storage_offset);
}
Tensor Tensor::as_strided(IntSpan sizes, IntSpan strides, std::optional<std::int64_t> storage_offset) const {
  return ops::as_strided(*this, sizes, strides, storage_offset);
}

}  // namespace taper
