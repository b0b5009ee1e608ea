#pragma once
#include <taper/tensor.h>

namespace taper::cpu_kernels {

/// The first element, for reading or writing; nothing counts as a write.
template <class T>
T* first_of(const Tensor& t) {
  return static_cast<T*>(t.impl()->data());
}

/// Calls f with an unsigned type of the dtype's size: whoever only moves elements need not know more.
template <class F>
void dispatch_size(DType d, F&& f) {
  switch (itemsize(d)) {
    case 1:
      return f(Type<std::uint8_t>{});
    case 2:
      return f(Type<std::uint16_t>{});
    case 4:
      return f(Type<std::uint32_t>{});
    default:
      return f(Type<std::uint64_t>{});
  }
}

}  // namespace taper::cpu_kernels
