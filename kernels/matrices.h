#pragma once
// How the operands of a matrix product look to a library that wants rows or columns to be dense.
#include <taper/layout_copies.h>
#include <taper/operator.h>
#include <taper/ops/copy.h>
#include <taper/small_vector.h>

#include <algorithm>
#include <cassert>

namespace taper::matrices {

/// The last two dimensions of an operand, as gemm reads them.
struct Matrix {
  bool readable;  // one of its strides is 1, and rows do not overlap
  bool transposed;
  std::int64_t leading;
};
inline Matrix matrix_of(std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride) {
  if ((column_stride == 1 || columns <= 1) && (row_stride >= columns || rows <= 1))
    return {true, false, std::max<std::int64_t>({row_stride, columns, 1})};
  if ((row_stride == 1 || rows <= 1) && (column_stride >= rows || columns <= 1))
    return {true, true, std::max<std::int64_t>({column_stride, rows, 1})};
  return {false, false, std::max<std::int64_t>(columns, 1)};
}

/// An operand of matmul: a vector is a matrix of one row (left) or column (right).
struct Operand {
  Tensor tensor;  // keeps the copy alive
  Matrix matrix;
  int batch_rank;

  Operand(const Tensor& t, bool left, const char* op = "matmul") : tensor(t) {
    if (describe(left)) return;
    taper::detail::count_implicit_copy(op, t);
    tensor = ops::contiguous.below_autograd(t);
    [[maybe_unused]] const bool readable = describe(left);
    assert(readable);
  }
  bool describe(bool left) {
    const IntSpan sizes = tensor.sizes(), strides = tensor.strides();
    const std::size_t rank = sizes.size();
    batch_rank = rank > 2 ? int(rank) - 2 : 0;
    if (rank > 1)
      matrix = matrix_of(sizes[rank - 2], sizes[rank - 1], strides[rank - 2], strides[rank - 1]);
    else if (left)
      matrix = matrix_of(1, sizes[0], 0, strides[0]);
    else
      matrix = matrix_of(sizes[0], 1, strides[0], 0);
    return matrix.readable;
  }
  /// Size and stride of dimension d of a batch of `rank` dimensions that this operand broadcasts to.
  std::int64_t batch_size(int d, int rank) const {
    return d < rank - batch_rank ? 1 : tensor.size(d - (rank - batch_rank));
  }
  std::int64_t batch_stride(int d, int rank) const {
    return batch_size(d, rank) == 1 ? 0 : tensor.stride(d - (rank - batch_rank));
  }
};

/// Rows of all matrices of `a` as the rows of one, if they lie evenly in memory; 0 if they do not.
inline std::int64_t rows_as_one(const Operand& a) {
  const IntSpan sizes = a.tensor.sizes(), strides = a.tensor.strides();
  if (a.matrix.transposed || sizes.size() < 2) return 0;
  std::int64_t rows = 1;
  for (std::size_t d = sizes.size() - 1; d-- > 0;) {
    if (sizes[d] != 1 && strides[d] != a.matrix.leading * rows) return 0;
    rows *= sizes[d];
  }
  return rows;
}

/// Some products of a batch that step evenly through both operands; offsets and steps in elements.
struct Run {
  std::int64_t first, count;  // of the batch
  std::int64_t at_a, at_b, step_a, step_b;
};
/// Calls f(Run) for all of a batch of `rank` dimensions that a and b broadcast to: the innermost dimensions that step
/// evenly are one run.
template <class F>
void for_each_run(const Operand& a, const Operand& b, const Tensor& out, int rank, const F& f) {
  SmallVector<std::int64_t, 4> size, step_a, step_b;  // innermost first
  for (int d = rank - 1; d >= 0; --d) {
    const std::int64_t n = out.size(d), sa = a.batch_stride(d, rank), sb = b.batch_stride(d, rank);
    if (n == 1) continue;
    if (!size.empty() && sa == step_a.back() * size.back() && sb == step_b.back() * size.back()) {
      size.back() *= n;
      continue;
    }
    size.push_back(n), step_a.push_back(sa), step_b.push_back(sb);
  }
  if (size.empty()) return f(Run{0, 1, 0, 0, 0, 0});

  std::int64_t outer = 1;
  for (std::size_t d = 1; d < size.size(); ++d) outer *= size[d];
  for (std::int64_t i = 0; i < outer; ++i) {
    std::int64_t at_a = 0, at_b = 0, rest = i;
    for (std::size_t d = 1; d < size.size(); ++d) {
      at_a += rest % size[d] * step_a[d], at_b += rest % size[d] * step_b[d];
      rest /= size[d];
    }
    f(Run{i * size[0], size[0], at_a, at_b, step_a[0], step_b[0]});
  }
}

}  // namespace taper::matrices
