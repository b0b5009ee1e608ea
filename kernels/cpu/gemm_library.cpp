#include "gemm_library.h"

#include <taper/error.h>

#include <algorithm>

// GCC's AVX-512 intrinsics read a deliberately undefined register, which it then warns of in every caller.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
// Threads are ours alone: Eigen would decide by the thread count how to cut.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

#include "parallel.h"
#if TAPER_ONEDNN
#include <dnnl.h>
#endif

namespace taper::cpu_kernels {
namespace {

// Below this many multiply-adds a second thread costs more than it brings.
constexpr std::int64_t kParallelWork = std::int64_t{2} << 20;

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ConstMap = Eigen::Map<const Matrix<T>, 0, Eigen::OuterStride<>>;
template <class T>
using Map = Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>>;

template <class T>
void eigen_gemm(const GemmShape& s, const T* a, const T* b, T* c, T alpha, T beta) {
  const ConstMap<T> ma(a, s.trans_a ? s.k : s.m, s.trans_a ? s.m : s.k, Eigen::OuterStride<>(s.lda));
  const ConstMap<T> mb(b, s.trans_b ? s.n : s.k, s.trans_b ? s.k : s.n, Eigen::OuterStride<>(s.ldb));
  Map<T> mc(c, s.m, s.n, Eigen::OuterStride<>(s.ldc));
  if (beta == T(0))
    mc.setZero();
  else if (beta != T(1))
    mc *= beta;
  if (s.trans_a && s.trans_b)
    mc.noalias() += alpha * ma.transpose() * mb.transpose();
  else if (s.trans_a)
    mc.noalias() += alpha * ma.transpose() * mb;
  else if (s.trans_b)
    mc.noalias() += alpha * ma * mb.transpose();
  else
    mc.noalias() += alpha * ma * mb;
}

/// Cuts C along its longer side into blocks whose size depends on the shape alone.
template <class T>
void eigen_parallel(const GemmShape& s, const T* a, const T* b, T* c, T alpha, T beta) {
  if (s.m * s.n * s.k < kParallelWork) return eigen_gemm(s, a, b, c, alpha, beta);
  const bool by_rows = s.m >= s.n;
  const std::int64_t side = by_rows ? s.m : s.n, other = by_rows ? s.n : s.m;
  constexpr std::int64_t kMinBlock = 64;  // the other operand is packed once a block
  const std::int64_t block = std::max({kMinBlock, grain_for(other * s.k, kParallelWork / 2), (side + 31) / 32});
  parallel_for(0, side, block, [&](std::int64_t begin, std::int64_t end) {
    GemmShape part = s;
    if (by_rows) {
      part.m = end - begin;
      eigen_gemm(part, a + begin * (s.trans_a ? 1 : s.lda), b, c + begin * s.ldc, alpha, beta);
    } else {
      part.n = end - begin;
      eigen_gemm(part, a, b + begin * (s.trans_b ? s.ldb : 1), c + begin, alpha, beta);
    }
  });
}

}  // namespace

void gemm_library(const GemmShape& s, const float* a, const float* b, float* c, float alpha, float beta) {
#if TAPER_ONEDNN
  const LibraryThreads threads(s.m * s.n * s.k < kParallelWork ? 1 : available_threads());
  const dnnl_status_t status = dnnl_sgemm(s.trans_a ? 'T' : 'N', s.trans_b ? 'T' : 'N', s.m, s.n, s.k, alpha, a, s.lda,
                                          b, s.ldb, beta, c, s.ldc);
  check<Error>(status == dnnl_success, "matrix product: oneDNN's sgemm failed with status ", static_cast<int>(status),
               " for m ", s.m, ", n ", s.n, ", k ", s.k);
#else
  eigen_parallel(s, a, b, c, alpha, beta);
#endif
}

void gemm_library(const GemmShape& s, const double* a, const double* b, double* c, double alpha, double beta) {
  eigen_parallel(s, a, b, c, alpha, beta);
}

}  // namespace taper::cpu_kernels
