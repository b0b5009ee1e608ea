// QR and eigenvalue decompositions of small dense matrices; the singular values, which take long to compile, are in
// linalg_svd.cpp.
#include <taper/operator.h>
#include <taper/ops/linalg.h>

#include "matrix_batch.h"

// clang-format off: what comes before says how Eigen is to be compiled.
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
// clang-format on

namespace taper::cpu_kernels {
void install_linalg_factor();
namespace {

void qr(std::array<Tensor, 2>& out, const Tensor& A, const bool&) {
  if (out[0].numel() == 0 && out[1].numel() == 0) return;
  const MatrixBatch a(A), q(out[0]), r(out[1]);
  for_each_matrix(a, [&](std::int64_t i) {
    if (a.columns == 0) return q.set(i, Matrix::Identity(q.rows, q.columns));
    const Eigen::HouseholderQR<Matrix> decomposition(a[i]);
    q.set(i, decomposition.householderQ() * Matrix::Identity(q.rows, q.columns));
    r.set(i, decomposition.matrixQR().topRows(r.rows).triangularView<Eigen::Upper>());
  });
}

void eigh(std::array<Tensor, 2>& out, const Tensor& A) {
  if (out[1].numel() == 0) return;
  const MatrixBatch a(A), vectors(out[1]);
  for_each_regular_matrix("eigh", "not finite", a, [&](std::int64_t i) {
    const Matrix lower = a[i].triangularView<Eigen::Lower>();
    if (!lower.allFinite()) return false;
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(lower);
    for (std::int64_t j = 0; j < a.rows; ++j) set_element(out[0], i * a.rows + j, solver.eigenvalues()(j));
    vectors.set(i, solver.eigenvectors());
    return true;
  });
}

}  // namespace

void install_linalg_factor() {
  ops::qr.set_kernel(DispatchKey::CPU, qr);
  ops::eigh.set_kernel(DispatchKey::CPU, eigh);
}

}  // namespace taper::cpu_kernels
