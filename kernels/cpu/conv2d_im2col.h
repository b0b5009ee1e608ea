#pragma once
// Convolution as matrix products over unfolded images: works for every shape and is what the others are held to.
#include "conv2d.h"

namespace taper::cpu_kernels {

template <class T>
void conv2d_forward_im2col(const Conv2dShape& s, const T* x, const T* weight, const T* bias, T* y);

template <class T>
void conv2d_input_grad_im2col(const Conv2dShape& s, const T* dy, const T* weight, T* dx);

template <class T>
void conv2d_weight_grad_im2col(const Conv2dShape& s, const T* x, const T* dy, T* dweight);

}  // namespace taper::cpu_kernels
