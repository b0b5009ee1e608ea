// Linear algebra of small matrices: on the cpu. The operands are copied there and the results back, which waits for the
// device: cuda::sync_counts() counts it, and ForbidSync refuses it.
#include <taper/operator.h>
#include <taper/ops/linalg.h>

#include "install.h"

namespace taper::cuda_kernels {
namespace {

Tensor on_cpu(const Tensor& t) {
  Tensor copy = empty(TensorSpec::contiguous(t.sizes(), t.dtype(), cpu));
  detail::copy_into(copy, t);
  return copy;
}
bool on_cpu(bool option) { return option; }

void bring_back(Tensor& out, const Tensor& result) { detail::copy_into(out, result); }
template <std::size_t N>
void bring_back(std::array<Tensor, N>& out, const std::array<Tensor, N>& results) {
  for (std::size_t i = 0; i < N; ++i) bring_back(out[i], results[i]);
}

template <auto& Op>
struct OnCpu;
template <class R, class... Args, StructuredOp<R(Args...)>& Op>
struct OnCpu<Op> {
  static void run(R& out, const Args&... args) { bring_back(out, Op.below_autograd(on_cpu(args)...)); }
};

template <auto&... Op>
void compute_on_cpu() {
  (Op.set_kernel(DispatchKey::CUDA, OnCpu<Op>::run), ...);
}

}  // namespace

void install_linalg() {
  compute_on_cpu<ops::inverse, ops::solve, ops::solve_triangular, ops::cholesky, ops::det, ops::slogdet, ops::cofactor,
                 ops::qr, ops::svd, ops::eigh>();
}

}  // namespace taper::cuda_kernels
