#pragma once
#include <taper/tensor.h>

#include "strided.h"

namespace taper::cpu_kernels {

/// dst[...] = src broadcast to dst's shape and converted to its dtype. The two must not share memory, unless they are
/// the same elements in the same order.
void copy_elements(const Tensor& dst, const Tensor& src);
/// dst[...] = value, converted.
void fill_elements(const Tensor& dst, Scalar value);

/// The loop that converts rows; needs no functor.
RowLoop cast_loop(DType to, DType from);

}  // namespace taper::cpu_kernels
