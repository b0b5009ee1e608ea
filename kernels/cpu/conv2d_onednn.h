#pragma once
// Convolution by oneDNN, in the layouts its fast kernels want.
#include "conv2d.h"

namespace taper::cpu_kernels {

// Each returns false, with nothing done, if this build has no oneDNN or it has no kernel for the shape.

bool conv2d_forward_onednn(const Conv2dShape& s, const float* x, const float* weight, const float* bias, float* y);

bool conv2d_input_grad_onednn(const Conv2dShape& s, const float* dy, const float* weight, float* dx);

/// dbias may be null.
bool conv2d_weight_grad_onednn(const Conv2dShape& s, const float* x, const float* dy, float* dweight, float* dbias);

}  // namespace taper::cpu_kernels
