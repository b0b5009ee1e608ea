#pragma once
#include <taper/cuda.h>
#include <taper/tensor.h>

namespace taper {

/// A table that an operator made on the cpu out of shapes and options, on the device that it is for. A graph of cuda
/// that is being captured keeps it, where it would refuse a copy of the user's memory.
inline Tensor constant_on(Device device, const Tensor& table) {
  const cuda::detail::Constant scope(true);
  return table.to(device);
}

}  // namespace taper
