#pragma once
#include <taper/host_device.h>

#include <cstdint>

namespace taper::cuda_kernels {

/// Division of numbers below 2^31 by one that the host knows, as a multiplication: Granlund and Montgomery 1994,
/// "Division by invariant integers using multiplication".
struct FastDiv {
  std::uint32_t divisor, multiplier, shift;
  std::uint32_t zero = 0;  // or what follows would leave a gap here, with anything in it; the emulator reads arguments

  /// d between 1 and 2^31 - 1.
  static FastDiv by(std::uint32_t d) {
    std::uint32_t shift = 0;
    while ((std::uint64_t(1) << shift) < d) ++shift;
    return {d, std::uint32_t((((std::uint64_t(1) << shift) - d) << 32) / d + 1), shift, 0};
  }
  TAPER_HD std::uint32_t divide(std::uint32_t n) const {
    return (std::uint32_t((std::uint64_t(n) * multiplier) >> 32) + n) >> shift;
  }
};

}  // namespace taper::cuda_kernels
