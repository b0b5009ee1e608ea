// Products of tensors: floating ones by cuBLAS, integers by a kernel.
#include <taper/operator.h>
#include <taper/ops/matmul.h>

#include <type_traits>

#include "biased_gemm.h"
#include "cuda/integer_gemm.h"
#include "device.h"
#include "elementwise.h"
#include "gemm.h"
#include "install.h"
#include "matrices.h"
#include "widened.h"

namespace taper::cuda_kernels {
namespace {

using matrices::Operand;

template <class T>
T* elements(const Tensor& t) {
  return static_cast<T*>(t.impl()->data());
}

/// c[m, n] = a[m, k] b[k, n] (+ c), row-major, for a batch of them.
struct Product {
  bool trans_a, trans_b;
  std::int64_t m, n, k, lda, ldb;
  std::int64_t batch = 1, step_a = 0, step_b = 0;
  bool accumulate = false;
};

Gemm as_gemm(const Product& p) {
  return {.trans_a = p.trans_a,
          .trans_b = p.trans_b,
          .m = p.m,
          .n = p.n,
          .k = p.k,
          .lda = p.lda,
          .ldb = p.ldb,
          .ldc = p.n,
          .batch = p.batch,
          .step_a = p.step_a,
          .step_b = p.step_b,
          .step_c = p.m * p.n,
          .accumulate = p.accumulate};
}

template <class T>
void multiply(const char* op, const OnDevice& on, const Product& p, const T* a, const T* b, T* c) {
  if constexpr (std::is_integral_v<T>) {
    const IntegerGemm shape{p.m,
                            p.n,
                            p.k,
                            p.trans_a ? 1 : p.lda,
                            p.trans_a ? p.lda : 1,
                            p.trans_b ? 1 : p.ldb,
                            p.trans_b ? p.ldb : 1,
                            p.batch,
                            p.step_a,
                            p.step_b,
                            p.accumulate};
    integer_gemm(on.queue(), shape, a, b, c);
  } else {
    gemm(op, on, as_gemm(p), a, b, c);
  }
}

/// As dispatch_served(), without bool, which infer has refused.
template <class F>
void dispatch_served_numbers(DType d, const char* op, F&& f) {
  dispatch_served(d, op, [&]<class T>(Type<T> type) {
    if constexpr (!std::is_same_v<T, bool>) f(type);
  });
}

void matmul(Tensor& out, const Tensor& a, const Tensor& b) {
  if (out.numel() == 0) return;
  const std::int64_t k = a.size(-1);
  if (k == 0) return fill_elements(out, 0);
  const OnDevice on(out.device());
  dispatch_served_numbers(a.dtype(), "matmul", [&]<class T>(Type<T>) {
    T* c = elements<T>(out);
    const Operand left(a, true), right(b, false);
    Product p{.trans_a = left.matrix.transposed,
              .trans_b = right.matrix.transposed,
              .m = a.dim() == 1 ? 1 : a.size(-2),
              .n = b.dim() == 1 ? 1 : b.size(-1),
              .k = k,
              .lda = left.matrix.leading,
              .ldb = right.matrix.leading};
    if (right.batch_rank == 0 && left.batch_rank > 0) {
      if (const std::int64_t rows = matrices::rows_as_one(left); rows > 0) {
        p.m = rows;
        return multiply("matmul", on, p, elements<T>(left.tensor), elements<T>(right.tensor), c);
      }
    }
    const int rank = std::max(left.batch_rank, right.batch_rank);
    matrices::for_each_run(left, right, out, rank, [&](const matrices::Run& run) {
      p.batch = run.count, p.step_a = run.step_a, p.step_b = run.step_b;
      multiply("matmul", on, p, elements<T>(left.tensor) + run.at_a, elements<T>(right.tensor) + run.at_b,
               c + run.first * p.m * p.n);
    });
  });
}

void linear(Tensor& out, const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
  if (out.numel() == 0) return;
  const bool has_bias = bias && bias->defined();
  const std::int64_t k = weight.size(1);
  if (k == 0) return has_bias ? copy_elements(out, *bias) : fill_elements(out, 0);
  const OnDevice on(out.device());
  dispatch_served_numbers(x.dtype(), "linear", [&]<class T>(Type<T>) {
    const Operand w(weight, false);
    Operand in(x, true);
    std::int64_t rows = x.dim() == 1 ? 1 : x.dim() == 2 ? x.size(0) : matrices::rows_as_one(in);
    if (rows == 0) {
      in.tensor = ops::contiguous.below_autograd(x);
      in.describe(true);
      rows = matrices::rows_as_one(in);
    }
    Product p{.trans_a = in.matrix.transposed,
              .trans_b = !w.matrix.transposed,
              .m = rows,
              .n = weight.size(0),
              .k = k,
              .lda = in.matrix.leading,
              .ldb = w.matrix.leading};
    if constexpr (std::is_same_v<T, float>) {
      if (has_bias && bias->is_contiguous() &&
          biased_gemm("linear", on, as_gemm(p), elements<T>(in.tensor), elements<T>(w.tensor), elements<T>(*bias),
                      elements<T>(out)))
        return;
    }
    if (has_bias) copy_elements(out, *bias);
    p.accumulate = has_bias;
    multiply("linear", on, p, elements<T>(in.tensor), elements<T>(w.tensor), elements<T>(out));
  });
}

}  // namespace

void install_matmul() {
  ops::matmul.set_kernel(DispatchKey::CUDA, widened_numbers<matmul>);
  ops::linear.set_kernel(DispatchKey::CUDA, widened_numbers<linear>);
}

}  // namespace taper::cuda_kernels
