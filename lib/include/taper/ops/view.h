#pragma once
// Views: other shapes, strides and starting points over the same memory. None of these functions copies elements,
// except reshape, flatten and their relatives when no strides can describe the result. A write through a view is a
// write to the tensor it views; all of them are differentiable.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

/// Where a view lies in the tensor it views.
struct ViewPlacement {
  using plain_argument = void;
  TensorSpec base;
  SizesAndStrides view;
  std::int64_t shift = 0;  // the view's first element, counted from the base's first in elements of memory
};

/// `self`'s memory with any shape and strides (in elements); the first element is number `storage_offset` of the
/// storage, by default the one self starts at.
///
/// Elements may share memory. Throws ValueError for negative sizes, strides or offset, IndexError if an element would
/// lie outside the storage.
Tensor as_strided(const Tensor& self, IntSpan sizes, IntSpan strides, std::optional<std::int64_t> storage_offset = {});

namespace ops {
extern ViewOp<IntSpan, IntSpan, std::optional<std::int64_t>> as_strided;
/// The adjoint of looking at a base through a view. grad has the view's sizes; the result has the base's, contiguous.
/// The gradient of each view element is added to the base element at the same memory; base elements that share
/// their memory share the sum in equal parts. float32 and float64.
extern StructuredOp<Tensor(Tensor, ViewPlacement)> place_view;
/// The adjoint of place_view. x has the base's sizes, the result the view's: what the view would show if its base held
/// x. Memory outside the base counts as 0, memory of several base elements as their mean.
extern StructuredOp<Tensor(Tensor, ViewPlacement)> read_view;
}  // namespace ops

}  // namespace taper
