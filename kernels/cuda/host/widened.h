#pragma once
#include "widen.h"

namespace taper::cuda_kernels {

/// int8 and int16 are computed in int32: what is stored are the low bits, the same.
struct WideNumbers {
  static DType wide(DType d) { return d == int8 || d == int16 ? int32 : is_16_bit_float(d) ? float32 : d; }
};
/// The kernel, for every dtype if it serves int32, int64, float32, float64, uint8 and bool.
template <auto kernel>
inline constexpr auto widened_numbers = kernels::widening<kernel, WideNumbers>;

/// Whole numbers that are narrower than the dtypes that running results are made in, as one of those.
struct WideIntegers {
  static DType wide(DType d) {
    if (is_16_bit_float(d)) return float32;
    return is_floating(d) || d == int64 ? d : int32;
  }
};
template <auto kernel>
inline constexpr auto widened_integers = kernels::widening<kernel, WideIntegers>;

}  // namespace taper::cuda_kernels
