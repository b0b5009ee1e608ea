#pragma once
// Reading and writing elements by position. Indexing with numbers, slices, None and "..." gives views; with masks or
// position tensors, copies. Positions are int64 or int32; one outside the dim throws IndexError before anything is
// written. Where several writes meet at one element, the last in row-major order of the positions remains, and only
// its value gets a gradient; sums are added up in that order, so results do not depend on the number of threads.
//
// `x.index({...})` and `x.index_put_({...}, value)` are methods of Tensor; <taper/tensor_index.h> has their entries.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/tensor_index.h>

namespace taper {

// ---- Positions along one dim ----

/// The entries of dim at `index`, which has at most one dim; negative positions are refused. New memory.
Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index);
Tensor& index_select_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index);
/// self with alpha * source added at the entries `index` of dim; repeated positions add up.
Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha = 1);
Tensor& index_add_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source,
                      Scalar alpha = 1);
Tensor& index_add_(Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha = 1);
/// self with the entries `index` of dim replaced by those of source.
Tensor index_copy(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor& index_copy_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor& index_copy_(Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);
/// self with the entries `index` of dim filled with a number or 0-dim tensor.
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, Scalar value);
Tensor& index_fill_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, Scalar value);
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value);
Tensor& index_fill_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value);
Tensor& index_fill_(Tensor& self, std::int64_t dim, const Tensor& index, Scalar value);
Tensor& index_fill_(Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value);

// ---- Positions for each element ----

/// out[i][j] = self[index[i][j]][j] for dim 0, self[i][index[i][j]] for dim 1. index is int64, has self's number of
/// dims and, except in dim, at most self's sizes; the result has index's shape.
Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index);
Tensor& gather_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index);
/// The writing counterpart of gather: self with src[i][j] at [index[i][j]][j] (dim 0). index is at most as large as
/// src.
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor& scatter_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, Scalar value);
Tensor& scatter_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, Scalar value);
Tensor& scatter_(Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor& scatter_(Tensor& self, std::int64_t dim, const Tensor& index, Scalar value);
/// As scatter, adding instead of replacing.
Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor& scatter_add_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor& scatter_add_(Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
/// As scatter, combining the values that meet at an element: reduce is "sum", "prod", "mean", "amax" or "amin". The
/// element's own value takes part unless include_self is false. Equal extremes share the gradient evenly.
Tensor scatter_reduce(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self = true);
Tensor& scatter_reduce_out(Tensor& out, const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src,
                           std::string_view reduce, bool include_self = true);
Tensor& scatter_reduce_(Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                        bool include_self = true);
/// gather after broadcasting self and indices against each other, except in dim; without dim, over self in one
/// dimension.
Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<std::int64_t> dim = {});
Tensor& take_along_dim_out(Tensor& out, const Tensor& self, const Tensor& indices,
                           std::optional<std::int64_t> dim = {});
/// The elements of self, taken as one dimension, at `index`; of index's shape.
Tensor take(const Tensor& self, const Tensor& index);
Tensor& take_out(Tensor& out, const Tensor& self, const Tensor& index);
/// self with the elements at `index` (self taken as one dimension) replaced by, or increased by, those of source.
Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate = false);
Tensor& put_out(Tensor& out, const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate = false);
Tensor& put_(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate = false);
/// A last dim of num_classes with 1 at the class and 0 elsewhere; int64. -1: one more than the largest class.
Tensor one_hot(const Tensor& self, std::int64_t num_classes = -1);

/// x.index_put_ with one position tensor per leading dim; an undefined tensor stands for a whole dim.
Tensor index_put(const Tensor& self, const TensorList& indices, const Tensor& values, bool accumulate = false);
Tensor& index_put_out(Tensor& out, const Tensor& self, const TensorList& indices, const Tensor& values,
                      bool accumulate = false);
Tensor& index_put_(Tensor& self, const TensorList& indices, const Tensor& values, bool accumulate = false);

// ---- Masks ----

/// self broadcast against the bool mask, with `value` where the mask is true.
Tensor masked_fill(const Tensor& self, const Tensor& mask, Scalar value);
Tensor& masked_fill_out(Tensor& out, const Tensor& self, const Tensor& mask, Scalar value);
/// As above; value has no dims. Differentiable in value.
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value);
Tensor& masked_fill_out(Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& value);
/// The elements where the mask, broadcast against self, is true, in one dimension. Not for meta tensors: the result's
/// size depends on values.
Tensor masked_select(const Tensor& self, const Tensor& mask);
Tensor& masked_select_out(Tensor& out, const Tensor& self, const Tensor& mask);
/// self with the elements where mask is true replaced by the first elements of source, in order.
Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source);
Tensor& masked_scatter_out(Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& source);
Tensor& masked_scatter_(Tensor& self, const Tensor& mask, const Tensor& source);
/// The positions of the elements that are not 0, as rows of an int64 [count, dim] tensor, in row-major order.
Tensor nonzero(const Tensor& self);
Tensor& nonzero_out(Tensor& out, const Tensor& self);

enum class ScatterKind : std::uint8_t { sum, prod, mean, amax, amin };

namespace ops {
extern StructuredOp<Tensor(Tensor, std::int64_t, Tensor, Tensor, ScatterKind, bool)>
    scatter_reduce;  // self, dim, index, src, reduce, include_self
// indices[k] holds positions along dim dims[k] of self; dims ascend. The indices are broadcast against each other to
// one shape, which takes the place of the dims if those are neighbours, and comes first if not.
extern StructuredOp<Tensor(Tensor, TensorList, IntSpan)> index;                    // self, indices, dims
extern StructuredOp<Tensor(Tensor, TensorList, Tensor, IntSpan, bool)> index_put;  // ..., values, dims, accumulate
extern StructuredOp<Tensor(Tensor, std::int64_t, Tensor)> gather;                  // self, dim, index
extern StructuredOp<Tensor(Tensor, std::int64_t, Tensor, Tensor)> scatter, scatter_add;  // self, dim, index, src
extern StructuredOp<Tensor(Tensor, Tensor, Tensor)> masked_fill;                         // self, mask, value
extern StructuredOp<Tensor(Tensor, std::int64_t)> nonzero;                               // self, count
}  // namespace ops

}  // namespace taper
