#pragma once
#include <taper/dtype.h>

namespace taper::kernels {

/// Calls f with an unsigned type of 1, 2, 4 or 8 bytes.
template <class F>
void dispatch_bytes(std::size_t bytes, F&& f) {
  switch (bytes) {
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

/// Calls f with an unsigned type of the dtype's size: whoever only moves elements need not know more.
template <class F>
void dispatch_size(DType d, F&& f) {
  dispatch_bytes(itemsize(d), f);
}

}  // namespace taper::kernels
