#pragma once
#include "gemm.h"

namespace taper::cuda_kernels {

/// c = a b + bias, one number for each column of c, by one kernel of cuBLASLt; `g` is one product that does not
/// accumulate. False if cuBLASLt has no kernel for such a product at such addresses: nothing has happened then.
bool biased_gemm(const char* op, const OnDevice& on, const Gemm& g, const float* a, const float* b, const float* bias,
                 float* c);

}  // namespace taper::cuda_kernels
