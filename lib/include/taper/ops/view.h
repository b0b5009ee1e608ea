#pragma once
// Views: other shapes, strides and starting points over the same memory. None of these functions copies elements,
// except reshape and what is built on it, when no strides can describe the result. A write through a view is a write to
// the tensor it shows; all of them are differentiable. Negative dims count from the end; a 0-dim tensor takes 0 and -1.
// Dims out of range throw IndexError.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

// ---- Shape ----

/// self's elements in reading order, in another shape; one entry may be -1 and is worked out from the others.
///
/// Works on any layout whose strides can describe the result. Throws ShapeError if none can (the message names the
/// dims that cannot merge), if the number of elements differs, or if -1 cannot be worked out.
Tensor view(const Tensor& self, IntSpan sizes);
Tensor view_as(const Tensor& self, const Tensor& other);
/// The same bytes as elements of another dtype; a view without history, as detach().
///
/// With narrower elements the last dim grows, with wider ones it shrinks: it must then lie densely, and what it and the
/// start and strides of the view count in must divide. Throws ShapeError where it does not, DTypeError for bool, whose
/// elements are no other bytes than 0 and 1, AutogradError if self requires grad.
Tensor view(const Tensor& self, DType dtype);
/// Why view(sizes) is refused, with the dims that cannot merge and how far their elements are apart; or the strides
/// that it gives. For people: copies are made where this says so.
std::string explain_view(const Tensor& self, IntSpan sizes);
/// As view, but where no strides can describe the result it is a contiguous copy.
Tensor reshape(const Tensor& self, IntSpan sizes);
Tensor reshape_as(const Tensor& self, const Tensor& other);
/// Merges the dims start_dim to end_dim, both included; a 0-dim tensor becomes [1]. Copies where reshape does.
Tensor flatten(const Tensor& self, std::int64_t start_dim = 0, std::int64_t end_dim = -1);
/// Splits dim into `sizes`, whose product is its size; one entry may be -1.
Tensor unflatten(const Tensor& self, std::int64_t dim, IntSpan sizes);
/// self in one dimension; a copy unless self is contiguous.
Tensor ravel(const Tensor& self);
/// Inserts a dim of size 1 before position dim of the result.
Tensor unsqueeze(const Tensor& self, std::int64_t dim);
/// Drops all dims of size 1. That includes a batch of one: prefer naming the dim.
Tensor squeeze(const Tensor& self);
/// Drops dim if its size is 1, else leaves the shape alone.
Tensor squeeze(const Tensor& self, std::int64_t dim);
Tensor atleast_1d(const Tensor& self);
Tensor atleast_2d(const Tensor& self);
Tensor atleast_3d(const Tensor& self);

// ---- Order of dimensions ----

Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
inline Tensor swapaxes(const Tensor& self, std::int64_t dim0, std::int64_t dim1) { return transpose(self, dim0, dim1); }
inline Tensor swapdims(const Tensor& self, std::int64_t dim0, std::int64_t dim1) { return transpose(self, dim0, dim1); }
/// Dim i of the result is dim dims[i] of self. Throws ShapeError unless dims names each dim once.
Tensor permute(const Tensor& self, IntSpan dims);
/// Transpose of a matrix; fewer dims stay as they are, more throw ShapeError.
Tensor t(const Tensor& self);
/// All dims in reverse.
Tensor numpy_T(const Tensor& self);
/// Transposes the last two dims of a matrix or batch of matrices.
Tensor mT(const Tensor& self);
/// Moves the dims `source` to the positions `destination`; the others keep their order.
Tensor movedim(const Tensor& self, IntSpan source, IntSpan destination);

// ---- Repeating without copying ----

/// Shows dims of size 1 as larger, with stride 0, and adds dims in front; -1 keeps a size. The result's elements share
/// memory: in-place operations refuse it. Throws ShapeError where a size other than 1 would change.
Tensor expand(const Tensor& self, IntSpan sizes);
Tensor expand_as(const Tensor& self, const Tensor& other);
Tensor broadcast_to(const Tensor& self, IntSpan sizes);

// ---- Parts ----

/// `length` entries of dim from `start` on; a negative start counts from the end. Throws IndexError where
/// start + length reaches past the end.
Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length);
/// Entry `index` of dim, without that dim; a negative index counts from the end. Throws IndexError.
Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index);
/// Entries start, start + step, ... below end. start and end count from the end if negative and stop at the ends.
/// Throws ValueError for a step below 1.
Tensor slice(const Tensor& self, std::int64_t dim = 0, std::optional<std::int64_t> start = {},
             std::optional<std::int64_t> end = {}, std::int64_t step = 1);
/// Windows of `size` neighbours along a dim, one every `step`: the dim counts windows, a new last dim has their
/// elements, which are shared where windows overlap.
Tensor unfold(const Tensor& self, std::int64_t dimension, std::int64_t size, std::int64_t step);
/// The diagonal of the matrices in dim1 and dim2, as a new last dim; `offset` above the main one, below if negative.
Tensor diagonal(const Tensor& self, std::int64_t offset = 0, std::int64_t dim1 = 0, std::int64_t dim2 = 1);
/// `self`'s memory with any shape and strides (in elements); the first element is number `storage_offset` of the
/// storage, by default the one self starts at.
///
/// Elements may share memory. Throws ValueError for negative sizes, strides or offset, IndexError if an element would
/// lie outside the storage.
Tensor as_strided(const Tensor& self, IntSpan sizes, IntSpan strides, std::optional<std::int64_t> storage_offset = {});

// ---- Several parts at once ----
// The results of split, chunk and unbind must not be written in place while gradients are recorded.

/// Parts of split_size entries along dim; the last may be smaller.
TensorList split(const Tensor& self, std::int64_t split_size, std::int64_t dim = 0);
/// Parts of the given sizes, which add up to the size of dim.
TensorList split_with_sizes(const Tensor& self, IntSpan split_sizes, std::int64_t dim = 0);
/// At most `chunks` parts of equal size; the last may be smaller.
TensorList chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim = 0);
/// Exactly `sections` parts, the first of them larger by one where the size does not divide.
TensorList tensor_split(const Tensor& self, std::int64_t sections, std::int64_t dim = 0);
/// Parts that end before each of `indices`, and the rest.
TensorList tensor_split(const Tensor& self, IntSpan indices, std::int64_t dim = 0);
/// The entries of dim, each without that dim.
/// tensor_split() along the columns (dim 1, of a vector dim 0), the rows, and dim 2, into equal sections.
TensorList hsplit(const Tensor& self, std::int64_t sections);
TensorList hsplit(const Tensor& self, IntSpan indices);
TensorList vsplit(const Tensor& self, std::int64_t sections);
TensorList vsplit(const Tensor& self, IntSpan indices);
TensorList dsplit(const Tensor& self, std::int64_t sections);
TensorList dsplit(const Tensor& self, IntSpan indices);
TensorList unbind(const Tensor& self, std::int64_t dim = 0);

/// Whether both have the same shape and strides; what equal() says of their values is another matter.
bool same_layout(const Tensor& a, const Tensor& b);

/// Where a view lies in the tensor it views.
struct ViewPlacement {
  using plain_argument = void;
  TensorSpec base;
  SizesAndStrides view;
  std::int64_t shift = 0;  // the view's first element, counted from the base's first in elements of memory
};

namespace ops {
extern ViewOp<IntSpan> view, permute, expand;
extern ViewOp<std::int64_t, std::int64_t> transpose;
extern ViewOp<std::int64_t> unsqueeze;
extern ViewOp<std::optional<std::int64_t>> squeeze;
// These take dims and positions that are already counted from the front.
extern ViewOp<std::int64_t, std::int64_t> select;                             // dim, index
extern ViewOp<std::int64_t, std::int64_t, std::int64_t, std::int64_t> slice;  // dim, start, length, step
extern ViewOp<std::int64_t, std::int64_t, std::int64_t> unfold;               // dim, size, step
extern ViewOp<std::int64_t, std::int64_t, std::int64_t> diagonal;             // offset, dim1, dim2
extern ViewOp<IntSpan, IntSpan, std::optional<std::int64_t>> as_strided;
extern MultiViewOp<IntSpan, std::int64_t> split_with_sizes;  // sizes, dim
extern MultiViewOp<std::int64_t> unbind;
/// reshape where no view will do: the elements in reading order, in new memory.
extern StructuredOp<Tensor(Tensor, IntSpan)> reshape_copy;
/// The adjoint of looking at a base through a view. grad has the view's sizes; the result has the base's, contiguous.
/// The gradient of each view element is added to the base element at the same memory; base elements that share
/// their memory share the sum in equal parts. float32 and float64.
extern StructuredOp<Tensor(Tensor, ViewPlacement)> place_view;
/// The adjoint of place_view. x has the base's sizes, the result the view's: what the view would show if its base held
/// x. Memory outside the base counts as 0, memory of several base elements as their mean.
extern StructuredOp<Tensor(Tensor, ViewPlacement)> read_view;
}  // namespace ops

namespace detail {
/// Prepares self, whose gradient is recorded, for a change of shape by `op`: throws where that is not possible.
extern void (*check_shape_change_hook)(const Tensor& self, const char* op);
/// Gives self the history of `view`, which shows self in the shape it now has. Both set by the autograd layer.
extern void (*adopt_history_hook)(const Tensor& self, const Tensor& view);
}  // namespace detail

}  // namespace taper
