// The functions of pointwise/loss.h.
#include <taper/ops/fn_loss.h>

#include "elementwise.cuh"

namespace taper::cuda_kernels {

template struct OnFloating<2, fn::BinaryCrossEntropy>;
template struct OnFloating<3, fn::BinaryCrossEntropyGrad>;

}  // namespace taper::cuda_kernels
