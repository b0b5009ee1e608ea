// Singular value decompositions of small dense matrices.
#include <taper/operator.h>
#include <taper/ops/linalg.h>

#include "matrix_batch.h"

// clang-format off: what comes before says how Eigen is to be compiled.
#include <Eigen/SVD>
// clang-format on

namespace taper::cpu_kernels {
void install_linalg_svd();
namespace {

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
    const Eigen::MatrixXd m = a[i];  // the order of columns that Eigen computes in: a third less to compile
    if (!m.allFinite()) return false;
    const Eigen::BDCSVD<Eigen::MatrixXd> decomposition(m, options);
    u.set(i, decomposition.matrixU());
    for (std::int64_t j = 0; j < k; ++j) set_element(out[1], i * k + j, decomposition.singularValues()(j));
    vh.set(i, decomposition.matrixV().transpose());
    return true;
  });
}

}  // namespace

void install_linalg_svd() { ops::svd.set_kernel(DispatchKey::CPU, svd); }

}  // namespace taper::cpu_kernels
