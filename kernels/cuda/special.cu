// The functions of pointwise/special.h.
#include <taper/ops/fn_special.h>

#include "elementwise.cuh"

namespace taper::cuda_kernels {

template struct OnFloating<1, fn::Sinc, fn::Erfinv, fn::Lgamma, fn::Digamma, fn::Polygamma, fn::Logit, fn::Entr>;
template struct MasksOnAll<1, fn::Signbit>;

}  // namespace taper::cuda_kernels
