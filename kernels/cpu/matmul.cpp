// Products of tensors, brought into the form of matrix products on raw memory.
#include <taper/operator.h>
#include <taper/ops/copy.h>
#include <taper/ops/matmul.h>
#include <taper/small_vector.h>

#include <algorithm>
#include <cassert>

#include "gemm.h"
#include "parallel.h"
#include "reduce_sum.h"
#include "scratch.h"

namespace taper::cpu_kernels {
void install_matmul();
namespace {

template <class T>
const T* elements(const Tensor& t) {
  return static_cast<const T*>(t.impl()->data());
}

/// The last two dimensions of an operand, as gemm reads them.
struct Matrix {
  bool readable;  // one of its strides is 1, and rows do not overlap
  bool transposed;
  std::int64_t leading;
};
Matrix matrix_of(std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride) {
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

  Operand(const Tensor& t, bool left) : tensor(t) {
    if (describe(left)) return;
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

/// The sum of products of two vectors; floating ones are added up in double.
template <class T>
T dot(const T* a, std::int64_t a_step, const T* b, std::int64_t b_step, std::int64_t n) {
  SumAcc<T> total = 0;
  std::int64_t i = 0;
  if constexpr (std::is_floating_point_v<T>) {
    if (a_step == 1 && b_step == 1) {
      constexpr std::int64_t lanes = kLanes<double>;
      Vec<double> s0{}, s1{};
      for (; i + 2 * lanes <= n; i += 2 * lanes) {
        s0 += load_doubles(a + i) * load_doubles(b + i);
        s1 += load_doubles(a + i + lanes) * load_doubles(b + i + lanes);
      }
      total = lane_sum<double>(s0 + s1);
    }
  }
  for (; i < n; ++i) total += SumAcc<T>(a[i * a_step]) * SumAcc<T>(b[i * b_step]);
  return T(total);
}

/// Runs gemm_batch over the innermost batch dimensions that step evenly, and loops over the others.
template <class T>
void batched(const GemmShape& shape, const Operand& a, const Operand& b, const Tensor& out, T* c, int rank) {
  SmallVector<std::int64_t, 4> size, step_a, step_b;  // innermost first; neighbours that step evenly are one
  for (int d = rank - 1; d >= 0; --d) {
    const std::int64_t n = out.size(d), sa = a.batch_stride(d, rank), sb = b.batch_stride(d, rank);
    if (n == 1) continue;
    if (!size.empty() && sa == step_a.back() * size.back() && sb == step_b.back() * size.back()) {
      size.back() *= n;
      continue;
    }
    size.push_back(n), step_a.push_back(sa), step_b.push_back(sb);
  }
  const T* pa = elements<T>(a.tensor);
  const T* pb = elements<T>(b.tensor);
  const std::int64_t matrix = shape.m * shape.n;
  if (size.empty()) return gemm(shape, pa, pb, c);

  std::int64_t outer = 1;
  for (std::size_t d = 1; d < size.size(); ++d) outer *= size[d];
  for (std::int64_t i = 0; i < outer; ++i) {
    std::int64_t at_a = 0, at_b = 0, rest = i;
    for (std::size_t d = 1; d < size.size(); ++d) {
      at_a += rest % size[d] * step_a[d], at_b += rest % size[d] * step_b[d];
      rest /= size[d];
    }
    gemm_batch(shape, size[0], {step_a[0], step_b[0], matrix}, pa + at_a, pb + at_b, c + i * size[0] * matrix);
  }
}

/// Rows of all matrices of `a` as the rows of one, if they lie evenly in memory; 0 if they do not.
std::int64_t rows_as_one(const Operand& a) {
  const IntSpan sizes = a.tensor.sizes(), strides = a.tensor.strides();
  if (a.matrix.transposed || sizes.size() < 2) return 0;
  std::int64_t rows = 1;
  for (std::size_t d = sizes.size() - 1; d-- > 0;) {
    if (sizes[d] != 1 && strides[d] != a.matrix.leading * rows) return 0;
    rows *= sizes[d];
  }
  return rows;
}

/// One product. A matrix times a column, which must be dense, is done as its transpose, a row times a matrix.
template <class T>
void single(const GemmShape& s, const T* a, const T* b, T* c) {
  if (s.n != 1 || s.m == 1 || (!s.trans_b && s.ldb != 1 && s.k > 1)) return gemm(s, a, b, c);
  GemmShape row;
  row.trans_b = !s.trans_a;
  row.m = 1, row.n = s.m, row.k = s.k;
  row.lda = s.k, row.ldb = s.lda, row.ldc = s.m;
  gemm(row, b, a, c);
}

void matmul(Tensor& out, const Tensor& a, const Tensor& b) {
  if (out.numel() == 0) return;
  dispatch_numbers(a.dtype(), "matmul", [&]<class T>(Type<T>) {
    T* c = static_cast<T*>(out.impl()->data());
    if (a.dim() == 1 && b.dim() == 1) {
      *c = dot(elements<T>(a), a.stride(0), elements<T>(b), b.stride(0), a.size(0));
      return;
    }
    const Operand left(a, true), right(b, false);
    GemmShape s;
    s.trans_a = left.matrix.transposed, s.trans_b = right.matrix.transposed;
    s.m = a.dim() == 1 ? 1 : a.size(-2), s.k = a.size(-1), s.n = b.dim() == 1 ? 1 : b.size(-1);
    s.lda = left.matrix.leading, s.ldb = right.matrix.leading, s.ldc = s.n;
    if (right.batch_rank == 0) {
      const std::int64_t rows = left.batch_rank > 0 ? rows_as_one(left) : s.m;
      if (rows > 0) {
        s.m = rows;
        return single(s, elements<T>(left.tensor), elements<T>(right.tensor), c);
      }
    }
    batched(s, left, right, out, c, std::max(left.batch_rank, right.batch_rank));
  });
}

void linear(Tensor& out, const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
  if (out.numel() == 0) return;
  dispatch_numbers(x.dtype(), "linear", [&]<class T>(Type<T>) {
    const Operand w(weight, false);
    Operand in(x, true);
    std::int64_t rows = x.dim() == 1 ? 1 : x.dim() == 2 ? x.size(0) : rows_as_one(in);
    if (rows == 0) {
      in.tensor = ops::contiguous.below_autograd(x);
      in.describe(true);
      rows = rows_as_one(in);
    }
    GemmShape s;
    s.trans_a = in.matrix.transposed, s.trans_b = !w.matrix.transposed;
    s.m = rows, s.n = weight.size(0), s.k = weight.size(1);
    s.lda = in.matrix.leading, s.ldb = w.matrix.leading, s.ldc = s.n;

    const bool has_bias = bias && bias->defined();
    const bool dense_bias = has_bias && bias->dim() == 1 && bias->numel() == s.n && (bias->stride(0) == 1 || s.n == 1);
    const Scratch<T> copy(has_bias && !dense_bias ? s.n : 0);
    const T* row = has_bias ? elements<T>(*bias) : nullptr;
    if (has_bias && !dense_bias) {
      const std::int64_t step = bias->numel() == 1 ? 0 : bias->stride(0);
      for (std::int64_t j = 0; j < s.n; ++j) copy[j] = row[j * step];
      row = copy;
    }
    gemm(s, elements<T>(in.tensor), elements<T>(w.tensor), static_cast<T*>(out.impl()->data()), T(1), T(0), row);
  });
}

}  // namespace

void install_matmul() {
  ops::matmul.set_kernel(DispatchKey::CPU, matmul);
  ops::linear.set_kernel(DispatchKey::CPU, linear);
}

}  // namespace taper::cpu_kernels
