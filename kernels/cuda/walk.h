#pragma once
// The elements that a kernel visits: operands of any strides over one shape. Plain C++, for .cu files and the host.
#include <cstdint>
#include <type_traits>

#include "cuda/fast_div.h"

namespace taper::cuda_kernels {

template <int N>
struct Walk {
  static constexpr int kMaxDims = 8;
  struct Dim {
    FastDiv size;
    std::int64_t step[N];  // elements
  };
  static_assert(std::has_unique_object_representations_v<Dim>, "a gap in an argument can look like a pointer");

  std::uint32_t count;  // elements of the shape, in row-major order
  std::int32_t rank;
  Dim dim[kMaxDims];  // innermost first

  /// Sets at[k] to where operand k has element i.
  TAPER_HD void find(std::uint32_t i, std::int64_t (&at)[N]) const {
    for (int k = 0; k < N; ++k) at[k] = 0;
    for (int d = 0; d < rank; ++d) {
      const std::uint32_t outer = d + 1 < rank ? dim[d].size.divide(i) : 0;
      const std::int64_t here = i - outer * dim[d].size.divisor;
      for (int k = 0; k < N; ++k) at[k] += here * dim[d].step[k];
      i = outer;
    }
  }
};

}  // namespace taper::cuda_kernels
