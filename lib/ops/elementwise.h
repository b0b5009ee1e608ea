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
/// Whether t leaves the shape and the layout of a contiguous operand as they are.
inline bool goes_with(const Tensor& contiguous, const Tensor& t) {
  return t.device() == contiguous.device() && (t.dim() == 0 || (t.is_contiguous() && t.sizes() == contiguous.sizes()));
}
inline TensorSpec elementwise_spec(const char* op, DType dtype, const Tensor& a, const Tensor& b) {
  if (a.is_contiguous() && goes_with(a, b)) return TensorSpec::contiguous(a.sizes(), dtype, a.device());
  return elementwise_spec(op, dtype, {&a, &b});
}
inline TensorSpec elementwise_spec(const char* op, DType dtype, const Tensor& a, const Tensor& b, const Tensor& c) {
  if (a.is_contiguous() && goes_with(a, b) && goes_with(a, c))
    return TensorSpec::contiguous(a.sizes(), dtype, a.device());
  return elementwise_spec(op, dtype, {&a, &b, &c});
}

}  // namespace taper
