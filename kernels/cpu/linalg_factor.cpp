// Decompositions of small dense matrices into orthogonal factors.
#include <taper/operator.h>
#include <taper/ops/linalg.h>

#include "matrix_batch.h"

// clang-format off: what comes before says how Eigen is to be compiled.
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
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

void svd(std::array<Tensor, 3>& out, const Tensor& A, const bool& full_matrices) {
  if (out[0].numel() == 0 && out[2].numel() == 0) return;
  const MatrixBatch a(A), u(out[0]), vh(out[2]);
  const std::int64_t k = std::min(a.rows, a.columns);
  const unsigned options =
      full_matrices ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV;
  for_each_regular_matrix("svd", "not finite", a, [&](std::int64_t i) {
    if (k == 0) {
      u.set(i, Matrix::Identity(u.rows, u.columns)), vh.set(i, Matrix::Identity(vh.rows, vh.columns));
      return true;
    }
    const Matrix m = a[i];
    if (!m.allFinite()) return false;
    const Eigen::BDCSVD<Matrix> decomposition(m, options);
    u.set(i, decomposition.matrixU());
    for (std::int64_t j = 0; j < k; ++j) set_element(out[1], i * k + j, decomposition.singularValues()(j));
    vh.set(i, decomposition.matrixV().transpose());
    return true;
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
  ops::svd.set_kernel(DispatchKey::CPU, svd);
  ops::eigh.set_kernel(DispatchKey::CPU, eigh);
}

}  // namespace taper::cpu_kernels
