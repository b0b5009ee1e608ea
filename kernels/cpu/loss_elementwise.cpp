// binary_cross_entropy.
#include <taper/operator.h>
#include <taper/ops/fn_loss.h>
#include <taper/ops/loss_elementwise.h>

#include "pointwise.h"

namespace taper::cpu_kernels {
void install_loss_elementwise();
namespace {

void binary_cross_entropy(Tensor& out, const Tensor& x, const Tensor& t) {
  const DType d = x.dtype();
  elementwise(out, d, {{&x, d}, {&t, d}}, floating_loop<fn::BinaryCrossEntropy, 2>(d), nullptr, 64);
}

void binary_cross_entropy_grad(Tensor& out, const Tensor& g, const Tensor& x, const Tensor& t) {
  const DType d = x.dtype();
  dispatch_floating(d, "binary_cross_entropy", [&]<class T>(Type<T>) {
    elementwise(out, d, {{&g, d}, {&x, d}, {&t, d}}, row_loop<fn::BinaryCrossEntropyGrad, T, T, T, T>, nullptr, 4);
  });
}

}  // namespace

void install_loss_elementwise() {
  ops::binary_cross_entropy.set_kernel(DispatchKey::CPU, binary_cross_entropy);
  ops::binary_cross_entropy_grad.set_kernel(DispatchKey::CPU, binary_cross_entropy_grad);
}

}  // namespace taper::cpu_kernels
