#pragma once
// Convolution without unfolding, for few channels: one image and its sums stay in the first cache level.
#include "conv2d.h"

namespace taper::cpu_kernels {

/// Whether the forward direct kernel is the right one for a shape, and so on.
bool prefers_direct_forward(const Conv2dShape& s);
bool prefers_direct_input_grad(const Conv2dShape& s);
bool prefers_direct_weight_grad(const Conv2dShape& s);

/// Any shape with out_h, out_w at least 1.
void conv2d_forward_direct(const Conv2dShape& s, const float* x, const float* weight, const float* bias, float* y);

/// Any shape with strides of 1.
void conv2d_input_grad_direct(const Conv2dShape& s, const float* dy, const float* weight, float* dx);

void conv2d_weight_grad_direct(const Conv2dShape& s, const float* x, const float* dy, float* dweight);

}  // namespace taper::cpu_kernels
