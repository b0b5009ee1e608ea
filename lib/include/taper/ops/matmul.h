#pragma once
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
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
Tensor& matmul_out(Tensor& out, const Tensor& a, const Tensor& b);
/// matmul of exactly two matrices.
Tensor mm(const Tensor& a, const Tensor& b);
Tensor& mm_out(Tensor& out, const Tensor& a, const Tensor& b);
/// matmul of exactly two equally long batches of matrices, [batch, m, k] x [batch, k, n] -> [batch, m, n].
Tensor bmm(const Tensor& a, const Tensor& b);
Tensor& bmm_out(Tensor& out, const Tensor& a, const Tensor& b);
/// matmul of a matrix [m, k] and a vector [k] -> [m].
Tensor mv(const Tensor& a, const Tensor& vec);
Tensor& mv_out(Tensor& out, const Tensor& a, const Tensor& vec);
/// The sum of products of two vectors of the same length.
Tensor dot(const Tensor& a, const Tensor& b);
Tensor& dot_out(Tensor& out, const Tensor& a, const Tensor& b);
/// a [m], b [n] -> [m, n], element i, j being a[i] b[j]. Any dtypes; they are promoted as for mul.
Tensor outer(const Tensor& a, const Tensor& b);
Tensor& outer_out(Tensor& out, const Tensor& a, const Tensor& b);

/// x weight^T + bias. x [..., in], weight [out, in] (or [in]), bias [out] or undefined -> [..., out].
/// Differentiable in all three.
/// Throws ShapeError, DTypeError as matmul.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
Tensor& linear_out(Tensor& out, const Tensor& x, const Tensor& weight, const Tensor& bias = {});

/// beta self + alpha (a x b). self broadcasts to the shape of the product of the two matrices; with beta = 0 its values
/// do not matter, not even NaN. Differentiable.
Tensor addmm(const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta = 1, Scalar alpha = 1);
Tensor& addmm_out(Tensor& out, const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta = 1, Scalar alpha = 1);
/// As addmm for two batches of matrices.
Tensor baddbmm(const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta = 1, Scalar alpha = 1);
Tensor& baddbmm_out(Tensor& out, const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta = 1,
                    Scalar alpha = 1);

/// beta self + alpha (sum of the products of two batches of matrices).
Tensor addbmm(const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta = 1, Scalar alpha = 1);
Tensor& addbmm_out(Tensor& out, const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta = 1,
                   Scalar alpha = 1);
/// beta self + alpha (matrix x vector).
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, Scalar beta = 1, Scalar alpha = 1);
Tensor& addmv_out(Tensor& out, const Tensor& self, const Tensor& mat, const Tensor& vec, Scalar beta = 1,
                  Scalar alpha = 1);
/// beta self + alpha outer(vec1, vec2).
Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, Scalar beta = 1, Scalar alpha = 1);
Tensor& addr_out(Tensor& out, const Tensor& self, const Tensor& vec1, const Tensor& vec2, Scalar beta = 1,
                 Scalar alpha = 1);

/// Sums of products over the last dims of both: a [..., k], b [..., k] -> [a's others, b's others]. mul for 0-dim ones.
Tensor inner(const Tensor& a, const Tensor& b);
Tensor& inner_out(Tensor& out, const Tensor& a, const Tensor& b);
/// Sums of products over the last `dims` dims of a and the first of b; or over those listed, in pairs.
Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims = 2);
Tensor& tensordot_out(Tensor& out, const Tensor& a, const Tensor& b, std::int64_t dims = 2);
Tensor tensordot(const Tensor& a, const Tensor& b, IntSpan dims_a, IntSpan dims_b);
Tensor& tensordot_out(Tensor& out, const Tensor& a, const Tensor& b, IntSpan dims_a, IntSpan dims_b);
/// Kronecker's product: each element of a times all of b, in its place. Sizes multiply.
Tensor kron(const Tensor& a, const Tensor& b);
Tensor& kron_out(Tensor& out, const Tensor& a, const Tensor& b);
/// x1 [..., n], x2 [..., m], weight [out, n, m], bias [out] or undefined -> [..., out]: sums of weight times both.
Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias = {});
/// Sums of products over named dims: einsum("ij,jk->ik", {a, b}) is a matrix product.
///
/// A letter names a dim of each operand; dims with one letter have one size, or are 1. A letter twice in an operand
/// takes the diagonal. "..." stands for dims without names, which broadcast. What comes after -> are the dims of the
/// result; without it, "..." and the letters that occur once, in alphabetical order. Contracts from left to right.
/// Throws ValueError for an equation that is none, ShapeError for sizes that do not fit.
Tensor einsum(const std::string& equation, const TensorList& operands);

namespace ops {
extern StructuredOp<Tensor(Tensor, Tensor)> matmul;
extern StructuredOp<Tensor(Tensor, Tensor, std::optional<Tensor>)> linear;
}  // namespace ops

}  // namespace taper
