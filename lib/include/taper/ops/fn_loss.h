#pragma once
#include <taper/host_device.h>

#include <cmath>

namespace taper::fn {

/// -(t log x + (1 - t) log(1 - x)), the logarithms being at least -100: their products are never 0 times infinity.
struct BinaryCrossEntropy {
  template <class T>
  TAPER_HD T operator()(T x, T t) const {
    const T p = std::log(x), q = std::log1p(-x);
    return (t - T(1)) * (q < T(-100) ? T(-100) : q) - t * (p < T(-100) ? T(-100) : p);
  }
};

/// g (x - t) / (x (1 - x)), the divisor being at least 1e-12.
struct BinaryCrossEntropyGrad {
  template <class T>
  TAPER_HD T operator()(T g, T x, T t) const {
    const T spread = x * (T(1) - x);
    return g * (x - t) / (spread < T(1e-12) ? T(1e-12) : spread);
  }
};

}  // namespace taper::fn
