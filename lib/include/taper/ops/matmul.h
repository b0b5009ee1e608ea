#pragma once
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

// Operands have the same dtype, any but bool. Integers wrap around. Transposed operands are read in place; only an
// operand without a dimension of stride 1 is copied.

/// The matrix product. a [m, k] x b [k, n] -> [m, n].
///
/// A one-dimensional a stands for one row, a one-dimensional b for one column, and the result lacks that dimension: two
/// vectors give their dot product, of no dimensions. More than two dimensions are batches of matrices: the leading
/// dimensions broadcast. Differentiable.
/// Throws ShapeError if the inner sizes differ or the leading dimensions do not broadcast, DTypeError if the dtypes do.
Tensor matmul(const Tensor& a, const Tensor& b);
/// matmul of exactly two matrices.
Tensor mm(const Tensor& a, const Tensor& b);
/// matmul of exactly two equally long batches of matrices, [batch, m, k] x [batch, k, n] -> [batch, m, n].
Tensor bmm(const Tensor& a, const Tensor& b);
/// matmul of a matrix [m, k] and a vector [k] -> [m].
Tensor mv(const Tensor& a, const Tensor& vec);
/// The sum of products of two vectors of the same length.
Tensor dot(const Tensor& a, const Tensor& b);
/// a [m], b [n] -> [m, n], element i, j being a[i] b[j]. Any dtypes; they are promoted as for mul.
Tensor outer(const Tensor& a, const Tensor& b);

/// x weight^T + bias. x [..., in], weight [out, in] (or [in]), bias [out] or undefined -> [..., out].
/// Differentiable in all three.
/// Throws ShapeError, DTypeError as matmul.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

/// beta self + alpha (a x b). self broadcasts to the shape of the product of the two matrices; with beta = 0 its values
/// do not matter, not even NaN. Differentiable.
Tensor addmm(const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta = 1, Scalar alpha = 1);
/// As addmm for two batches of matrices.
Tensor baddbmm(const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta = 1, Scalar alpha = 1);

namespace ops {
extern StructuredOp<Tensor(Tensor, Tensor)> matmul;
extern StructuredOp<Tensor(Tensor, Tensor, std::optional<Tensor>)> linear;
}  // namespace ops

}  // namespace taper
