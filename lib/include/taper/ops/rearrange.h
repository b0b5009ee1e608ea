#pragma once
// The elements of a tensor in other places or several times, in new memory. Differentiable.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

/// self side by side with itself, repeats[i] times along dim i; dims in front are added as needed. Always new memory,
/// where expand() shows the same elements again. Throws ShapeError if repeats has fewer entries than self has dims.
Tensor repeat(const Tensor& self, IntSpan repeats);
Tensor& repeat_out(Tensor& out, const Tensor& self, IntSpan repeats);
/// As repeat, but a shorter list is for the last dims.
Tensor tile(const Tensor& self, IntSpan repeats);
/// The entries of these dims in reverse. A copy: strides are never negative.
Tensor flip(const Tensor& self, IntSpan dims);
Tensor& flip_out(Tensor& out, const Tensor& self, IntSpan dims);
Tensor fliplr(const Tensor& self);
Tensor flipud(const Tensor& self);
/// Moves every entry by shifts[i] places along dims[i]; what falls off the end comes in at the front. Without dims, of
/// the elements in reading order: roll(x, 1).
Tensor roll(const Tensor& self, IntSpan shifts, IntSpan dims = {});
Tensor& roll_out(Tensor& out, const Tensor& self, IntSpan shifts, IntSpan dims = {});

/// Turns the plane of two dims by k quarter turns, from the first dim towards the second.
Tensor rot90(const Tensor& self, std::int64_t k = 1, IntSpan dims = {0, 1});
Tensor& rot90_out(Tensor& out, const Tensor& self, std::int64_t k = 1, IntSpan dims = {0, 1});
/// Each entry of dim `repeats` times in a row, or repeats[i] times entry i; without dim, of all elements.
Tensor repeat_interleave(const Tensor& self, std::int64_t repeats, std::optional<std::int64_t> dim = {});
Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<std::int64_t> dim = {});
Tensor& repeat_interleave_out(Tensor& out, const Tensor& self, std::int64_t repeats,
                              std::optional<std::int64_t> dim = {});
Tensor& repeat_interleave_out(Tensor& out, const Tensor& self, const Tensor& repeats,
                              std::optional<std::int64_t> dim = {});

// ---- A part replaced: copies, where the views of the same names would be written through ----

/// self with entry `index` of dim replaced by src, of exactly its shape.
Tensor select_scatter(const Tensor& self, const Tensor& src, std::int64_t dim, std::int64_t index);
Tensor& select_scatter_out(Tensor& out, const Tensor& self, const Tensor& src, std::int64_t dim, std::int64_t index);
Tensor slice_scatter(const Tensor& self, const Tensor& src, std::int64_t dim = 0,
                     std::optional<std::int64_t> start = {}, std::optional<std::int64_t> end = {},
                     std::int64_t step = 1);
Tensor& slice_scatter_out(Tensor& out, const Tensor& self, const Tensor& src, std::int64_t dim = 0,
                          std::optional<std::int64_t> start = {}, std::optional<std::int64_t> end = {},
                          std::int64_t step = 1);
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, std::int64_t offset = 0, std::int64_t dim1 = 0,
                        std::int64_t dim2 = 1);
Tensor& diagonal_scatter_out(Tensor& out, const Tensor& self, const Tensor& src, std::int64_t offset = 0,
                             std::int64_t dim1 = 0, std::int64_t dim2 = 1);

// ---- Several at once ----

/// All tensors in the shape they broadcast to, as views.
TensorList broadcast_tensors(const TensorList& tensors);
/// Vectors (or 0-dim tensors) as coordinates of a grid: entry i of tensor k varies along dim k, all others repeat it.
/// indexing is "ij", or "xy", which swaps the first two dims. Views.
TensorList meshgrid(const TensorList& tensors, std::string_view indexing = "ij");
/// All combinations of one element from each vector, as rows; one vector is itself.
Tensor cartesian_prod(const TensorList& tensors);
/// The matrices along the diagonal of a matrix of zeros; vectors count as rows.
Tensor block_diag(const TensorList& tensors);
Tensor& block_diag_out(Tensor& out, const TensorList& tensors);

/// The choices of r elements of a vector, in rows and in self's order; with_replacement: the same one several times.
Tensor combinations(const Tensor& self, std::int64_t r = 2, bool with_replacement = false);

namespace ops {
extern StructuredOp<Tensor(Tensor, IntSpan)> flip;
}  // namespace ops

}  // namespace taper
