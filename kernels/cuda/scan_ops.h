#pragma once
// The operations of scan.h. Steps are from one entry of a line to the next.
#include <taper/host_device.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace taper::cuda_kernels {

template <class T>
using RunningAcc = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
template <class T>
using RunningOut = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;

template <class T>
struct RunningSum {
  using Acc = RunningAcc<T>;
  RunningOut<T>* out;
  const T* x;
  std::int64_t out_step, x_step;

  TAPER_HD Acc start() const { return 0; }
  TAPER_HD Acc entry(const std::int64_t (&at)[3], std::int64_t i) const { return Acc(x[at[1] + i * x_step]); }
  TAPER_HD Acc both(Acc a, Acc b) const {
    if constexpr (std::is_integral_v<T>)
      return Acc(std::uint64_t(a) + std::uint64_t(b));
    else
      return a + b;
  }
  TAPER_HD void store(const std::int64_t (&at)[3], std::int64_t i, Acc a) const {
    out[at[0] + i * out_step] = RunningOut<T>(a);
  }
};

template <class T>
struct RunningProduct {
  /// The product of many entries may be infinite where none is: 0 times it is 0, as one after the other.
  struct Acc {
    RunningAcc<T> product;
    std::int32_t has_infinity;
  };
  RunningOut<T>* out;
  const T* x;
  std::int64_t out_step, x_step;

  TAPER_HD Acc start() const { return {1, 0}; }
  TAPER_HD Acc entry(const std::int64_t (&at)[3], std::int64_t i) const {
    const RunningAcc<T> v = RunningAcc<T>(x[at[1] + i * x_step]);
    return {v, v - v != 0 ? 1 : 0};  // infinity and NaN
  }
  TAPER_HD Acc both(const Acc& a, const Acc& b) const {
    const std::int32_t any = a.has_infinity | b.has_infinity;
    if constexpr (std::is_integral_v<T>)
      return {RunningAcc<T>(std::uint64_t(a.product) * std::uint64_t(b.product)), any};
    else
      return {a.product == 0 && !b.has_infinity ? a.product : a.product * b.product, any};
  }
  TAPER_HD void store(const std::int64_t (&at)[3], std::int64_t i, const Acc& a) const {
    out[at[0] + i * out_step] = RunningOut<T>(a.product);
  }
};

template <class T>
struct RunningLogSumExp {
  using Acc = double;
  T* out;
  const T* x;
  std::int64_t out_step, x_step;

  TAPER_HD Acc start() const { return -kInfinity; }
  TAPER_HD Acc entry(const std::int64_t (&at)[3], std::int64_t i) const { return double(x[at[1] + i * x_step]); }
  TAPER_HD Acc both(Acc a, Acc b) const {
    const double low = a < b ? a : b, high = a < b ? b : a;
    if (a != a || b != b) return a + b;
    return low == high && low - low != 0 ? low : high + std::log1p(std::exp(low - high));
  }
  TAPER_HD void store(const std::int64_t (&at)[3], std::int64_t i, Acc a) const { out[at[0] + i * out_step] = T(a); }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
};

/// The last of equals, and from the first NaN on the latest NaN.
template <class T, bool largest>
struct RunningExtreme {
  struct Acc {
    T value;
    std::int64_t place;  // -1: of nothing
  };
  T* values;
  std::int64_t* places;
  const T* x;
  std::int64_t values_step, places_step, x_step;

  TAPER_HD Acc start() const { return {T(0), -1}; }
  TAPER_HD Acc entry(const std::int64_t (&at)[3], std::int64_t i) const { return {x[at[2] + i * x_step], i}; }
  TAPER_HD Acc both(const Acc& a, const Acc& b) const {
    if (a.place < 0) return b;
    if (b.place < 0) return a;
    const bool better = largest ? b.value >= a.value : b.value <= a.value;
    return b.value != b.value || (a.value == a.value && better) ? b : a;
  }
  TAPER_HD void store(const std::int64_t (&at)[3], std::int64_t i, const Acc& a) const {
    values[at[0] + i * values_step] = a.value;
    places[at[1] + i * places_step] = a.place;
  }
};

/// y[i] = x[i] + factor[i] * y[i - 1]: entries are the functions of y[i - 1], put together.
template <class T>
struct RunningRecurrence {
  struct Acc {
    double factor, y;
  };
  T* out;
  const T *x, *factor;
  std::int64_t out_step, x_step, factor_step;

  TAPER_HD Acc start() const { return {1, 0}; }
  TAPER_HD Acc entry(const std::int64_t (&at)[3], std::int64_t i) const {
    return {i == 0 ? 0 : double(factor[at[2] + i * factor_step]), double(x[at[1] + i * x_step])};
  }
  TAPER_HD Acc both(const Acc& a, const Acc& b) const {
    // The product of many factors may be infinite where none is.
    return {a.factor * b.factor, b.y + (a.y == 0 && b.factor - b.factor != 0 ? 0 : b.factor * a.y)};
  }
  TAPER_HD void store(const std::int64_t (&at)[3], std::int64_t i, const Acc& a) const {
    out[at[0] + i * out_step] = T(a.y);
  }
};

}  // namespace taper::cuda_kernels
