#pragma once
// Brings operands into an order of memory that raw kernels know.
#include <taper/layout_copies.h>
#include <taper/operator.h>

namespace taper::kernels {

template <class T>
const T* values_of(const Tensor& t) {
  return static_cast<const T*>(t.impl()->data());
}
template <class T>
T* place_of(const Tensor& t) {
  return static_cast<T*>(t.impl()->data());
}

/// t if it lies densely in this order, else a copy that does: raw kernels know two orders of memory.
inline Tensor in_order(const Tensor& t, MemoryFormat format) {
  if (t.is_contiguous(format)) return t;
  Tensor copy = empty(TensorSpec{dense_geometry(t.sizes(), format), t.dtype(), t.device()});
  taper::detail::copy_into(copy, t);
  return copy;
}

/// As in_order, for an operand: a copy is counted as the operator's.
inline Tensor operand_in_order(const char* op, const Tensor& t, MemoryFormat format) {
  if (!t.is_contiguous(format)) taper::detail::count_implicit_copy(op, t);
  return in_order(t, format);
}

/// The weight of a convolution, row-major. Out of channels_last order that is part of packing it, which every call
/// does, and so not counted.
inline Tensor packed_weight(const char* op, const Tensor& w) {
  return w.is_contiguous(MemoryFormat::channels_last) ? in_order(w, MemoryFormat::contiguous)
                                                      : operand_in_order(op, w, MemoryFormat::contiguous);
}

/// The order to work in: one that both tensors have already, else the one that `first` has or comes closest to.
inline MemoryFormat common_order(const Tensor& first, const Tensor& second) {
  for (const MemoryFormat f : {MemoryFormat::contiguous, MemoryFormat::channels_last})
    if (first.is_contiguous(f) && second.is_contiguous(f)) return f;
  return first.is_contiguous() ? MemoryFormat::contiguous : suggested_memory_format(first);
}

}  // namespace taper::kernels
