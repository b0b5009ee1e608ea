#pragma once
// Batches of small dense matrices for Eigen, which computes them in double whatever their dtype is: that halves what
// there is to compile, and float32 gets the better results.
#include <taper/operator.h>

#include <algorithm>
#include <atomic>

// GCC's AVX-512 intrinsics read a deliberately undefined register, which it then warns of in every caller.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
// Threads are ours alone: Eigen would decide by the thread count how to cut.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

#include "memory_order.h"
#include "parallel.h"

namespace taper::cpu_kernels {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Matrices [..., rows, columns] of float32 or float64, densely one after the other.
class MatrixBatch {
  Tensor memory_;
  template <class T>
  using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  template <class T>
  Eigen::Map<Rows<T>> at(std::int64_t i) const {
    return {place_of<T>(memory_) + i * rows * columns, rows, columns};
  }

 public:
  const std::int64_t rows, columns;

  /// Copies t if it is not dense; then only reading makes sense.
  explicit MatrixBatch(const Tensor& t)
      : memory_(in_order(t, MemoryFormat::contiguous)), rows(t.size(-2)), columns(t.size(-1)) {}
  std::int64_t count() const {
    std::int64_t n = 1;
    for (int d = 0; d < memory_.dim() - 2; ++d) n *= memory_.size(d);
    return n;
  }
  bool is_batch() const { return memory_.dim() > 2; }
  Matrix operator[](std::int64_t i) const {
    if (memory_.dtype() == float64) return at<double>(i);
    return at<float>(i).template cast<double>();
  }
  void set(std::int64_t i, const Matrix& m) const {
    if (memory_.dtype() == float64)
      at<double>(i) = m;
    else
      at<float>(i) = m.cast<float>();
  }
};

/// The i-th element of a dense tensor of float32 or float64 becomes v.
inline void set_element(const Tensor& t, std::int64_t i, double v) {
  if (t.dtype() == float64)
    place_of<double>(t)[i] = v;
  else
    place_of<float>(t)[i] = float(v);
}

/// Calls f(i) for every matrix, possibly at the same time.
template <class F>
void for_each_matrix(const MatrixBatch& A, const F& f) {
  parallel_for(0, A.count(), grain_for(A.rows * A.columns * std::min(A.rows, A.columns)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) f(i);
               });
}

/// As for_each_matrix; f returns whether the matrix is one that the operator is defined for. The first that is not is
/// an error of this text.
template <class F>
void for_each_regular_matrix(const char* op, const char* wrong, const MatrixBatch& A, const F& f) {
  std::atomic<std::int64_t> first{A.count()};
  for_each_matrix(A, [&](std::int64_t i) {
    if (f(i)) return;
    for (std::int64_t seen = first; i < seen && !first.compare_exchange_weak(seen, i);) {
    }
  });
  const std::int64_t i = first;
  if (i == A.count()) return;
  if (A.is_batch()) raise<ValueError>(op, ": matrix ", i, " of the batch A is ", wrong);
  raise<ValueError>(op, ": A is ", wrong);
}

}  // namespace taper::cpu_kernels
