// Inverses, solutions and determinants of small dense matrices.
#include <taper/operator.h>
#include <taper/ops/linalg.h>

#include <cmath>
#include <limits>

#include "matrix_batch.h"

// clang-format off: what comes before says how Eigen is to be compiled.
#include <Eigen/Cholesky>
#include <Eigen/LU>
// clang-format on

namespace taper::cpu_kernels {
void install_linalg_solve();
namespace {

using LU = Eigen::PartialPivLU<Matrix>;

/// Whether no pivot is 0.
bool is_regular(const LU& lu) { return (lu.matrixLU().diagonal().array() != 0.0).all(); }

void inverse(Tensor& out, const Tensor& A) {
  if (out.numel() == 0) return;
  const MatrixBatch a(A), y(out);
  for_each_regular_matrix("inverse", "singular and has no inverse", a, [&](std::int64_t i) {
    const LU lu(a[i]);
    if (!is_regular(lu)) return false;
    y.set(i, lu.inverse());
    return true;
  });
}

void solve(Tensor& out, const Tensor& A, const Tensor& B) {
  if (A.numel() == 0) return;
  const MatrixBatch a(A), b(B), x(out);
  for_each_regular_matrix("solve", "singular: A X = B has no solution, or many", a, [&](std::int64_t i) {
    const LU lu(a[i]);
    if (!is_regular(lu)) return false;
    if (b.columns > 0) x.set(i, lu.solve(b[i]));
    return true;
  });
}

void solve_triangular(Tensor& out, const Tensor& A, const Tensor& B, const bool& upper, const bool& unitriangular) {
  if (out.numel() == 0) return;
  const MatrixBatch a(A), b(B), x(out);
  for_each_matrix(a, [&](std::int64_t i) {
    const Matrix m = a[i], right = b[i];
    if (upper)
      x.set(i, unitriangular ? Matrix(m.triangularView<Eigen::UnitUpper>().solve(right))
                             : Matrix(m.triangularView<Eigen::Upper>().solve(right)));
    else
      x.set(i, unitriangular ? Matrix(m.triangularView<Eigen::UnitLower>().solve(right))
                             : Matrix(m.triangularView<Eigen::Lower>().solve(right)));
  });
}

void cholesky(Tensor& out, const Tensor& A) {
  if (out.numel() == 0) return;
  const MatrixBatch a(A), y(out);
  for_each_regular_matrix("cholesky", "not positive definite", a, [&](std::int64_t i) {
    const Eigen::LLT<Matrix, Eigen::Lower> llt(a[i]);
    if (llt.info() != Eigen::Success || !(llt.matrixLLT().diagonal().array() > 0.0).all()) return false;
    y.set(i, llt.matrixL());
    return true;
  });
}

void det(Tensor& out, const Tensor& A) {
  if (out.numel() == 0) return;
  const MatrixBatch a(A);
  for_each_matrix(a, [&](std::int64_t i) { set_element(out, i, a.rows == 0 ? 1.0 : LU(a[i]).determinant()); });
}

void slogdet(std::array<Tensor, 2>& out, const Tensor& A) {
  if (out[0].numel() == 0) return;
  const MatrixBatch a(A);
  for_each_matrix(a, [&](std::int64_t i) {
    double sign = 1, logabsdet = 0;
    if (a.rows > 0) {
      const LU lu(a[i]);
      sign = lu.permutationP().determinant();
      for (const double u : lu.matrixLU().diagonal()) {
        logabsdet += std::log(std::abs(u));
        sign = std::isnan(u) ? u : u == 0 ? 0 : u < 0 ? -sign : sign;
      }
    }
    set_element(out[0], i, sign), set_element(out[1], i, logabsdet);
  });
}

/// det(A) A^-T by P A Q = L U. The last pivot, the smallest, cancels, so that it may be 0; two that are make every
/// minor 0.
void cofactor(Tensor& out, const Tensor& A) {
  if (out.numel() == 0) return;
  const MatrixBatch a(A), y(out);
  for_each_matrix(a, [&](std::int64_t i) {
    const Eigen::FullPivLU<Matrix> lu(a[i]);
    Matrix factors = lu.matrixLU();
    const std::int64_t n = a.rows;
    auto pivots = factors.diagonal();
    if (n > 1 && pivots(n - 2) == 0) return y.set(i, Matrix::Zero(n, n));
    // Relative to the others, what is below rounding.
    if (pivots(n - 1) == 0) pivots(n - 1) = n == 1 ? 1 : pivots(0) * std::numeric_limits<double>::epsilon();
    const Matrix l_inverse = factors.triangularView<Eigen::UnitLower>().solve(Matrix::Identity(n, n));
    const Matrix inverse = factors.triangularView<Eigen::Upper>().solve(l_inverse);
    const double sign = double(lu.permutationP().determinant() * lu.permutationQ().determinant());
    const double determinant = n == 1 ? pivots(0) : pivots.head(n - 1).prod() * pivots(n - 1);
    y.set(i, (lu.permutationQ() * inverse * lu.permutationP()).transpose() * (sign * determinant));
  });
}

}  // namespace

void install_linalg_solve() {
  ops::inverse.set_kernel(DispatchKey::CPU, inverse);
  ops::solve.set_kernel(DispatchKey::CPU, solve);
  ops::solve_triangular.set_kernel(DispatchKey::CPU, solve_triangular);
  ops::cholesky.set_kernel(DispatchKey::CPU, cholesky);
  ops::det.set_kernel(DispatchKey::CPU, det);
  ops::slogdet.set_kernel(DispatchKey::CPU, slogdet);
  ops::cofactor.set_kernel(DispatchKey::CPU, cofactor);
}

}  // namespace taper::cpu_kernels
