#pragma once
// Triangles and diagonals of matrices, in new memory; a diagonal as a view is diagonal() in <taper/ops/view.h>.
// `diagonal` and `offset` count from the main diagonal: above it if positive, below it if negative.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <optional>

namespace taper {

/// The matrices in the last two dims with what is above the diagonal set to 0. Throws ShapeError for fewer than two
/// dims.
Tensor tril(const Tensor& self, std::int64_t diagonal = 0);
Tensor& tril_out(Tensor& out, const Tensor& self, std::int64_t diagonal = 0);
/// The same for what is below.
Tensor triu(const Tensor& self, std::int64_t diagonal = 0);
Tensor& triu_out(Tensor& out, const Tensor& self, std::int64_t diagonal = 0);
/// A copy of a matrix's diagonal, or a matrix with the vector self as its diagonal.
Tensor diag(const Tensor& self, std::int64_t diagonal = 0);
Tensor& diag_out(Tensor& out, const Tensor& self, std::int64_t diagonal = 0);
/// The last dim of self as a diagonal of matrices in the dims dim1 and dim2 of the result; 0 elsewhere.
Tensor diag_embed(const Tensor& self, std::int64_t offset = 0, std::int64_t dim1 = -2, std::int64_t dim2 = -1);
Tensor& diag_embed_out(Tensor& out, const Tensor& self, std::int64_t offset = 0, std::int64_t dim1 = -2,
                       std::int64_t dim2 = -1);
/// A matrix with all elements of self as its diagonal.
Tensor diagflat(const Tensor& self, std::int64_t offset = 0);
/// The sum of a matrix's diagonal.
Tensor trace(const Tensor& self);
Tensor& trace_out(Tensor& out, const Tensor& self);
/// The rows and columns of the elements on and below (above) the diagonal of a [rows, columns] matrix, as an int64
/// [2, count] tensor in row-major order.
Tensor tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0);
Tensor triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0);

namespace ops {
extern StructuredOp<Tensor(Tensor, std::int64_t)> tril, triu;
}  // namespace ops

}  // namespace taper
