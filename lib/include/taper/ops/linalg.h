#pragma once
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <tuple>

namespace taper {

/// Linear algebra of matrices A [..., m, n]; what comes before are batches, each matrix on its own. float32 and
/// float64; convert 16-bit floats with to() first.
///
/// Throws ShapeError for operands that are no (square) matrices, DTypeError for other dtypes, ValueError with the
/// matrix of the batch where one is singular or not positive definite. On cuda the operands are brought to the cpu and
/// the results back: that waits for the device, and is counted as such.
namespace linalg {

/// A^-1. A [..., n, n]. Differentiable. solve(A, B) is faster and more accurate than inv(A) times B.
Tensor inv(const Tensor& A);
Tensor& inv_out(Tensor& out, const Tensor& A);
/// X with A X = B. A [..., n, n], B [..., n, k] or vectors [..., n] -> as B; batches broadcast. Differentiable.
/// B holds vectors if it has one dim, or A's sizes without the last.
Tensor solve(const Tensor& A, const Tensor& B);
Tensor& solve_out(Tensor& out, const Tensor& A, const Tensor& B);
/// X with A X = B, or X A = B unless `left`, for A of which only the upper (or lower) triangle is read; `unitriangular`
/// takes 1 for its diagonal. A [..., n, n], B [..., n, k] (left) or [..., k, n]; batches broadcast. Differentiable.
/// A zero on the diagonal gives infinities and NaN.
Tensor solve_triangular(const Tensor& A, const Tensor& B, bool upper, bool left = true, bool unitriangular = false);
Tensor& solve_triangular_out(Tensor& out, const Tensor& A, const Tensor& B, bool upper, bool left = true,
                             bool unitriangular = false);
/// The lower triangular L with A = L L^T, or, if `upper`, the upper triangular U with A = U^T U.
///
/// A [..., n, n] is symmetric and positive definite; only its lower (upper) triangle is read, but the gradient is that
/// of symmetric matrices: symmetric. Differentiable.
Tensor cholesky(const Tensor& A, bool upper = false);
Tensor& cholesky_out(Tensor& out, const Tensor& A, bool upper = false);
/// The determinants. A [..., n, n] -> [...]. Differentiable, also where A is singular; twice where it has an inverse.
Tensor det(const Tensor& A);
Tensor& det_out(Tensor& out, const Tensor& A);
/// The sign of the determinant and the logarithm of its absolute value: 0 and -infinity for a singular A. The second is
/// differentiable where A has an inverse.
std::tuple<Tensor, Tensor> slogdet(const Tensor& A);
std::tuple<Tensor&, Tensor&> slogdet_out(Tensor& sign, Tensor& logabsdet, const Tensor& A);
/// A = Q R with orthonormal columns in Q and an upper triangular R; k = min(m, n).
///
/// mode "reduced": Q [..., m, k], R [..., k, n]; "complete": Q [..., m, m], R [..., m, n]; "r": R as reduced, and an
/// undefined Q. Differentiable, but for "complete" with m > n.
std::tuple<Tensor, Tensor> qr(const Tensor& A, const std::string& mode = "reduced");
std::tuple<Tensor&, Tensor&> qr_out(Tensor& Q, Tensor& R, const Tensor& A, const std::string& mode = "reduced");
/// A = U diag(S) Vh with orthonormal columns in U and rows in Vh; S [..., min(m, n)] descends.
///
/// full_matrices: U [..., m, m], Vh [..., n, n]; else U [..., m, k], Vh [..., k, n]. Singular vectors are defined up to
/// a common sign. Differentiable, but for full_matrices with m != n; infinite or NaN by vectors of equal values.
std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& A, bool full_matrices = true);
std::tuple<Tensor&, Tensor&, Tensor&> svd_out(Tensor& U, Tensor& S, Tensor& Vh, const Tensor& A,
                                              bool full_matrices = true);
/// The singular values alone. Differentiable everywhere.
Tensor svdvals(const Tensor& A);
Tensor& svdvals_out(Tensor& out, const Tensor& A);
/// The eigenvalues of a symmetric A [..., n, n], ascending [..., n], and eigenvectors in columns [..., n, n].
///
/// Only the triangle that UPLO names, "L" or "U", is read; the gradient is that of symmetric matrices: symmetric.
/// Differentiable; infinite or NaN by eigenvectors of equal values.
std::tuple<Tensor, Tensor> eigh(const Tensor& A, const std::string& UPLO = "L");
std::tuple<Tensor&, Tensor&> eigh_out(Tensor& values, Tensor& vectors, const Tensor& A, const std::string& UPLO = "L");
/// The eigenvalues alone. Differentiable everywhere.
Tensor eigvalsh(const Tensor& A, const std::string& UPLO = "L");
Tensor& eigvalsh_out(Tensor& out, const Tensor& A, const std::string& UPLO = "L");
/// A times itself: n factors; the inverse for n = -1, the identity for 0. Differentiable.
Tensor matrix_power(const Tensor& A, std::int64_t n);
Tensor& matrix_power_out(Tensor& out, const Tensor& A, std::int64_t n);

/// The p-norm of the elements along dims ({}: all), as norm() in <taper/ops/reduce.h>.
Tensor vector_norm(const Tensor& x, double ord = 2, IntSpan dims = {}, bool keepdim = false);
/// A norm of the matrices in the last two dims: "fro" (Frobenius), "nuc" (the sum of the singular values); 2 and -2
/// (the largest and the smallest of them), 1 and -1 (sums of columns), infinity and -infinity (sums of rows).
Tensor matrix_norm(const Tensor& A, const std::string& ord = "fro", bool keepdim = false);
Tensor matrix_norm(const Tensor& A, double ord, bool keepdim = false);
/// The number of singular values above tol, by default the largest times max(m, n) times the dtype's epsilon; int64.
Tensor matrix_rank(const Tensor& A, std::optional<double> tol = {});
/// The Moore-Penrose inverse. Singular values up to rtol, by default max(m, n) times the dtype's epsilon, times the
/// largest count as 0. Differentiable as svd() is.
Tensor pinv(const Tensor& A, std::optional<double> rtol = {});
/// The cross product of vectors of 3 along dim; the operands broadcast. Differentiable.
Tensor cross(const Tensor& a, const Tensor& b, std::int64_t dim = -1);
/// The dot products along dim; the operands broadcast. Differentiable.
Tensor vecdot(const Tensor& a, const Tensor& b, std::int64_t dim = -1);
/// The powers 0 to n - 1 (default: as many as x has entries) of x's entries, in a new last dim. Differentiable.
Tensor vander(const Tensor& x, std::optional<std::int64_t> n = {});

}  // namespace linalg

inline Tensor inverse(const Tensor& self) { return linalg::inv(self); }
inline Tensor& inverse_out(Tensor& out, const Tensor& self) { return linalg::inv_out(out, self); }
inline Tensor det(const Tensor& self) { return linalg::det(self); }
inline std::tuple<Tensor, Tensor> slogdet(const Tensor& self) { return linalg::slogdet(self); }
/// The logarithm of the determinant; NaN where that is negative.
Tensor logdet(const Tensor& self);
/// linalg::cross() along dim, by default the first of size 3 in a.
Tensor cross(const Tensor& a, const Tensor& b, std::optional<std::int64_t> dim = {});
inline Tensor pinverse(const Tensor& self, std::optional<double> rcond = {}) { return linalg::pinv(self, rcond); }
inline Tensor matrix_power(const Tensor& self, std::int64_t n) { return linalg::matrix_power(self, n); }

namespace ops {
extern StructuredOp<Tensor(Tensor)> inverse, cholesky, det;
/// The matrix of the derivatives of det: det(A) A^-T, which exists also where A^-1 does not.
extern StructuredOp<Tensor(Tensor)> cofactor;
extern StructuredOp<std::array<Tensor, 2>(Tensor)> slogdet, eigh;
/// A [..., n, n], B [..., n, k], with the same batches.
extern StructuredOp<Tensor(Tensor, Tensor)> solve;
extern StructuredOp<Tensor(Tensor, Tensor, bool, bool)> solve_triangular;  // upper, unitriangular
extern StructuredOp<std::array<Tensor, 2>(Tensor, bool)> qr;               // complete
extern StructuredOp<std::array<Tensor, 3>(Tensor, bool)> svd;              // full_matrices
}  // namespace ops

}  // namespace taper
