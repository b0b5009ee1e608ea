#pragma once
#include "elementwise.h"
#include "widen.h"

namespace taper::cuda_kernels {

struct WideNumbers {
  static DType wide(DType d) { return is_small_integer(d) ? int32 : kernels::WideFloats::wide(d); }
};
/// The kernel, for every dtype if it is one for those that is_served names.
template <auto kernel>
inline constexpr auto widened_numbers = kernels::widening<kernel, WideNumbers>;

/// Whole numbers that are narrower than the dtypes that running results are made in, as one of those.
struct WideIntegers {
  static DType wide(DType d) { return is_floating(d) ? kernels::WideFloats::wide(d) : d == int64 ? int64 : int32; }
};
template <auto kernel>
inline constexpr auto widened_integers = kernels::widening<kernel, WideIntegers>;

}  // namespace taper::cuda_kernels
