#pragma once
// Several tensors made into one. The result is new memory of the dtype that holds all operands; all are differentiable.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

/// The tensors one after the other along an existing dim; the other sizes must agree.
///
/// A 1-D tensor without elements is left out, whatever the shape of the others. Channels-last operands give a
/// channels-last result, all others a contiguous one. Throws ValueError for an empty list, ShapeError naming the tensor
/// and the dim that do not fit.
Tensor cat(const TensorList& tensors, std::int64_t dim = 0);
Tensor& cat_out(Tensor& out, const TensorList& tensors, std::int64_t dim = 0);
/// The tensors, all of one shape, as the entries of a new dim. Throws ShapeError naming the entry that differs.
Tensor stack(const TensorList& tensors, std::int64_t dim = 0);
Tensor& stack_out(Tensor& out, const TensorList& tensors, std::int64_t dim = 0);
/// Side by side: along dim 1, vectors along dim 0.
Tensor hstack(const TensorList& tensors);
Tensor& hstack_out(Tensor& out, const TensorList& tensors);
/// One below the other: along dim 0, vectors as rows.
Tensor vstack(const TensorList& tensors);
Tensor& vstack_out(Tensor& out, const TensorList& tensors);
/// Behind each other: along dim 2.
Tensor dstack(const TensorList& tensors);
Tensor& dstack_out(Tensor& out, const TensorList& tensors);
/// Side by side, vectors as columns.
Tensor column_stack(const TensorList& tensors);
Tensor& column_stack_out(Tensor& out, const TensorList& tensors);

namespace ops {
extern StructuredOp<Tensor(TensorList, std::int64_t)> cat, stack;
}  // namespace ops

}  // namespace taper
