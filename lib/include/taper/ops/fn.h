#pragma once
// What each pointwise operator computes for one element: the only copy, for the CPU and the CUDA kernels.
#include <taper/host_device.h>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace taper::fn {

/// Conversion to another element type. Out of range and NaN give what x86 gives, on every device: the most negative
/// number, or for uint8 the low byte of it.
template <class To>
struct Cast {
  template <class From>
  TAPER_HD To operator()(From x) const {
    if constexpr (std::is_same_v<To, bool>) {
      return x != From(0);
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
      using Wide = std::conditional_t<sizeof(To) == 8, std::int64_t, std::int32_t>;
      constexpr From kLimit = From(-2) * From(std::numeric_limits<Wide>::min() / 2);
      return To(x >= -kLimit && x < kLimit ? Wide(x) : std::numeric_limits<Wide>::min());
    } else {
      return To(x);
    }
  }
};

}  // namespace taper::fn
