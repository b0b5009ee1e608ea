#pragma once
#include <taper/tensor.h>

#include <initializer_list>

namespace taper {

/// What an elementwise operation of these operands returns: the broadcast shape, dense, with the dimensions in the
/// order the operands have them in memory (transposed operands give a transposed result, as PyTorch's do).
/// Throws ShapeError naming `op` if the shapes do not broadcast.
TensorSpec elementwise_spec(const char* op, DType dtype, std::initializer_list<const Tensor*> operands);

// The ordinary cases, without a look at strides.
inline TensorSpec elementwise_spec(const char* op, DType dtype, const Tensor& a) {
  if (a.is_contiguous()) return TensorSpec::contiguous(a.sizes(), dtype, a.device());
  return elementwise_spec(op, dtype, {&a});
}
inline TensorSpec elementwise_spec(const char* op, DType dtype, const Tensor& a, const Tensor& b) {
  if (a.device() == b.device() && a.is_contiguous() && (b.dim() == 0 || (b.is_contiguous() && a.sizes() == b.sizes())))
    return TensorSpec::contiguous(a.sizes(), dtype, a.device());
  return elementwise_spec(op, dtype, {&a, &b});
}
inline TensorSpec elementwise_spec(const char* op, DType dtype, const Tensor& a, const Tensor& b, const Tensor& c) {
  return elementwise_spec(op, dtype, {&a, &b, &c});
}

}  // namespace taper
