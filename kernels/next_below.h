#pragma once
#include <taper/dtype.h>
#include <taper/half.h>

#include <cmath>
#include <limits>

namespace taper::kernels {

/// The largest number below x that the dtype holds.
template <class T>
T next_below(DType dtype, T x) {
  const auto step_of = [&]<class Stored>(Type<Stored>) {
    const Stored nearest(static_cast<float>(x));
    if (float(nearest) < float(x)) return T(float(nearest));
    const bool crosses = (nearest.bits & 0x7fff) == 0;  // below zero is the smallest negative number
    const int bits = crosses ? 0x8001 : nearest.bits & 0x8000 ? nearest.bits + 1 : nearest.bits - 1;
    return T(float(Stored::from_bits(std::uint16_t(bits))));
  };
  if (dtype == float16) return step_of(Type<Half>{});
  if (dtype == bfloat16) return step_of(Type<BFloat16>{});
  return std::nextafter(x, -std::numeric_limits<T>::infinity());
}

}  // namespace taper::kernels
