#pragma once
// binary_cross_entropy.
#include <taper/operator.h>
#include <taper/ops/fn_loss.h>
#include <taper/ops/loss_elementwise.h>

#include "operands.h"

namespace taper::pointwise {

template <class On>
struct Loss {
  static void binary_cross_entropy(Tensor& out, const Tensor& x, const Tensor& t) {
    const DType d = x.dtype();
    On::elementwise(out, d, {{&x, d}, {&t, d}}, floating_loop<On, fn::BinaryCrossEntropy, 2>(d), nullptr, 64);
  }

  static void binary_cross_entropy_grad(Tensor& out, const Tensor& g, const Tensor& x, const Tensor& t) {
    const DType d = x.dtype();
    dispatch_floating(compute_dtype(d), "binary_cross_entropy", [&]<class T>(Type<T>) {
      On::elementwise(out, d, {{&g, d}, {&x, d}, {&t, d}}, On::template loop<fn::BinaryCrossEntropyGrad, T, T, T, T>,
                      nullptr, 4);
    });
  }

  static void install() {
    ops::binary_cross_entropy.set_kernel(On::key, binary_cross_entropy);
    ops::binary_cross_entropy_grad.set_kernel(On::key, binary_cross_entropy_grad);
  }
};

}  // namespace taper::pointwise
