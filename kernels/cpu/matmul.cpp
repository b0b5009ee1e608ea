// Products of tensors, brought into the form of matrix products on raw memory.
#include <taper/operator.h>
#include <taper/ops/copy.h>
#include <taper/ops/matmul.h>

#include <algorithm>

#include "gemm.h"
#include "matrices.h"
#include "parallel.h"
#include "reduce_sum.h"
#include "scratch.h"
#include "widen.h"

namespace taper::cpu_kernels {
void install_matmul();
namespace {

using matrices::Operand;
using matrices::rows_as_one;

template <class T>
const T* elements(const Tensor& t) {
  return static_cast<const T*>(t.impl()->data());
}

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

template <class T>
void batched(const GemmShape& shape, const Operand& a, const Operand& b, const Tensor& out, T* c, int rank) {
  const std::int64_t matrix = shape.m * shape.n;
  matrices::for_each_run(a, b, out, rank, [&](const matrices::Run& run) {
    const T* pa = elements<T>(a.tensor) + run.at_a;
    const T* pb = elements<T>(b.tensor) + run.at_b;
    if (run.count == 1) return gemm(shape, pa, pb, c + run.first * matrix);
    gemm_batch(shape, run.count, {run.step_a, run.step_b, matrix}, pa, pb, c + run.first * matrix);
  });
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
    const Operand w(weight, false, "linear");
    Operand in(x, true, "linear");
    std::int64_t rows = x.dim() == 1 ? 1 : x.dim() == 2 ? x.size(0) : rows_as_one(in);
    if (rows == 0) {
      taper::detail::count_implicit_copy("linear", x);
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
  ops::matmul.set_kernel(DispatchKey::CPU, kernels::widening<matmul>);
  ops::linear.set_kernel(DispatchKey::CPU, kernels::widening<linear>);
}

}  // namespace taper::cpu_kernels
