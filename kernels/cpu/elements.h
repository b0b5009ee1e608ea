#pragma once
#include <taper/tensor.h>

#include "dispatch_size.h"

namespace taper::cpu_kernels {

/// The first element, for reading or writing; nothing counts as a write.
template <class T>
T* first_of(const Tensor& t) {
  return static_cast<T*>(t.impl()->data());
}

using kernels::dispatch_size;

}  // namespace taper::cpu_kernels
