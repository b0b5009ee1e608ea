#include "cuda/softmax.h"

#include <taper/operator.h>
#include <taper/ops/softmax.h>

#include "device.h"
#include "install.h"
#include "operand_order.h"
#include "widen.h"

namespace taper::cuda_kernels {
namespace {

using kernels::in_order;
using kernels::place_of;
using kernels::values_of;

SoftmaxLines lines_of(const Tensor& t, std::int64_t dim) {
  std::int64_t outer = 1, n = 1, inner = 1;
  for (std::int64_t d = 0; d < t.dim(); ++d) (d < dim ? outer : d == dim ? n : inner) *= t.size(d);
  return {outer * inner, n, inner};
}

template <bool log>
void forward(Tensor& out, const Tensor& self, const std::int64_t& dim) {
  if (out.numel() == 0) return;
  const Tensor x = in_order(self, MemoryFormat::contiguous);
  const OnDevice on(out.device());
  dispatch_floating(x.dtype(), "softmax", [&]<class T>(Type<T>) {
    softmax(on.queue(), lines_of(x, dim), log, values_of<T>(x), place_of<T>(out));
  });
}

template <bool log>
void backward(Tensor& out, const Tensor& grad, const Tensor& result, const std::int64_t& dim) {
  if (out.numel() == 0) return;
  const Tensor dy = in_order(grad, MemoryFormat::contiguous), y = in_order(result, MemoryFormat::contiguous);
  const OnDevice on(out.device());
  dispatch_floating(y.dtype(), "softmax_backward", [&]<class T>(Type<T>) {
    softmax_backward(on.queue(), lines_of(y, dim), log, values_of<T>(dy), values_of<T>(y), place_of<T>(out));
  });
}

}  // namespace

void install_softmax() {
  constexpr DispatchKey key = DispatchKey::CUDA;
  ops::softmax.set_kernel(key, kernels::widening<forward<false>>);
  ops::log_softmax.set_kernel(key, kernels::widening<forward<true>>);
  ops::softmax_backward.set_kernel(key, kernels::widening<backward<false>>);
  ops::log_softmax_backward.set_kernel(key, kernels::widening<backward<true>>);
}

}  // namespace taper::cuda_kernels
