#pragma once
// The operations of the reductions: what reduce.h asks for. Floating elements are summed in double, as on the CPU.
#include <taper/host_device.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace taper::cuda_kernels {

/// What elements of T are summed in. Integers wrap around, as unsigned arithmetic does.
template <class T>
using SumAcc = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
/// What sums and products of T are stored as.
template <class T>
using SumOut = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;

// As variables, because device code may not call std::numeric_limits' functions.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The sum of the elements divided by `divisor`, which counts for floating ones.
template <class T, class Out>
struct Sum {
  using In = T;
  using Acc = SumAcc<T>;
  Out* out;
  double divisor = 1;

  TAPER_HD Acc start() const { return 0; }
  TAPER_HD Acc add(Acc acc, T v, std::int64_t, std::uint32_t) const { return acc + Acc(v); }
  TAPER_HD Acc combine(Acc a, Acc b) const { return a + b; }
  TAPER_HD void finish(std::int64_t o, Acc acc) const {
    if constexpr (std::is_floating_point_v<T>)
      out[o] = Out(acc / divisor);
    else
      out[o] = Out(acc);
  }
};

template <class T>
struct Product {
  using In = T;
  using Acc = SumAcc<T>;
  SumOut<T>* out;

  TAPER_HD Acc start() const { return 1; }
  TAPER_HD Acc add(Acc acc, T v, std::int64_t, std::uint32_t) const { return acc * Acc(v); }
  TAPER_HD Acc combine(Acc a, Acc b) const { return a * b; }
  TAPER_HD void finish(std::int64_t o, Acc acc) const { out[o] = SumOut<T>(acc); }
};

/// The sum of squares of x - center, divided; then its square root if `root`.
template <class T>
struct SumOfSquares {
  using In = T;
  using Acc = double;
  T* out;
  const double* center;  // one per result; null for zeros
  double divisor;
  bool root;

  TAPER_HD Acc start() const { return 0; }
  TAPER_HD Acc add(Acc acc, T v, std::int64_t o, std::uint32_t) const {
    const double difference = double(v) - (center != nullptr ? center[o] : 0.0);
    return acc + difference * difference;
  }
  TAPER_HD Acc combine(Acc a, Acc b) const { return a + b; }
  TAPER_HD void finish(std::int64_t o, Acc acc) const {
    const double value = acc / divisor;
    out[o] = T(root ? std::sqrt(value) : value);
  }
};

enum class NormKind : std::uint8_t { zero, one, power, infinity, minus_infinity };

template <class T>
struct Norm {
  using In = T;
  using Acc = double;
  T* out;
  double p;
  NormKind kind;

  TAPER_HD Acc start() const { return kind == NormKind::minus_infinity ? kInfinity : 0.0; }
  TAPER_HD Acc add(Acc acc, T v, std::int64_t, std::uint32_t) const {
    const double size = std::fabs(double(v));
    if (kind == NormKind::zero) return acc + (v != T(0) ? 1.0 : 0.0);
    return combine(acc, kind == NormKind::power ? std::pow(size, p) : size);
  }
  TAPER_HD Acc combine(Acc a, Acc b) const {
    if (kind == NormKind::infinity) return b > a || b != b ? b : a;
    if (kind == NormKind::minus_infinity) return b < a || b != b ? b : a;
    return a + b;
  }
  TAPER_HD void finish(std::int64_t o, Acc acc) const {
    out[o] = T(kind == NormKind::power ? std::pow(acc, 1 / p) : acc);
  }
};

/// The best value and the first place it stands at.
template <class T>
struct Found {
  T value;
  std::int64_t index;  // -1 before the first
};
/// The largest or smallest element; NaN comes before everything. `values` or `indices` may be null.
template <class T, bool largest>
struct Extreme {
  using In = T;
  using Acc = Found<T>;
  T* values;
  std::int64_t* indices;

  TAPER_HD static bool before(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      if (a != a) return b == b;
    return largest ? a > b : a < b;
  }
  TAPER_HD Acc start() const { return {T(0), -1}; }
  TAPER_HD Acc add(Acc acc, T v, std::int64_t, std::uint32_t position) const {
    return combine(acc, {v, std::int64_t(position)});
  }
  TAPER_HD Acc combine(Acc a, Acc b) const {
    if (a.index < 0) return b;
    if (b.index < 0 || before(a.value, b.value)) return a;
    if (before(b.value, a.value)) return b;
    return a.index < b.index ? a : b;
  }
  TAPER_HD void finish(std::int64_t o, Acc acc) const {
    if (values != nullptr) values[o] = acc.value;
    if (indices != nullptr) indices[o] = acc.index;
  }
};

/// Whether all (identity true) or any (identity false) elements are nonzero.
template <class T>
struct Truth {
  using In = T;
  using Acc = std::uint32_t;
  std::uint8_t* out;  // bool or uint8
  bool identity;

  TAPER_HD Acc start() const { return identity; }
  TAPER_HD Acc add(Acc acc, T v, std::int64_t, std::uint32_t) const { return combine(acc, v != T(0)); }
  TAPER_HD Acc combine(Acc a, Acc b) const { return identity ? a & b : a | b; }
  TAPER_HD void finish(std::int64_t o, Acc acc) const { out[o] = std::uint8_t(acc); }
};

template <class T>
struct Count {
  using In = T;
  using Acc = std::uint64_t;
  std::int64_t* out;

  TAPER_HD Acc start() const { return 0; }
  TAPER_HD Acc add(Acc acc, T v, std::int64_t, std::uint32_t) const { return acc + (v != T(0)); }
  TAPER_HD Acc combine(Acc a, Acc b) const { return a + b; }
  TAPER_HD void finish(std::int64_t o, Acc acc) const { out[o] = std::int64_t(acc); }
};

/// log of a sum of exponentials, all seen relative to the largest so far.
struct LogSum {
  double max, sum;
};
template <class T>
struct LogSumExp {
  using In = T;
  using Acc = LogSum;
  T* out;

  TAPER_HD Acc start() const { return {-kInfinity, 0}; }
  TAPER_HD Acc add(Acc acc, T v, std::int64_t, std::uint32_t) const { return combine(acc, {double(v), 1}); }
  TAPER_HD Acc combine(Acc a, Acc b) const {
    if (b.sum == 0) return a;
    if (a.sum == 0) return b;
    if (a.max == b.max) return {a.max, a.sum + b.sum};  // also infinities, whose difference would be NaN
    if (a.max > b.max) return {a.max, a.sum + b.sum * std::exp(b.max - a.max)};
    return {b.max, b.sum + a.sum * std::exp(a.max - b.max)};
  }
  TAPER_HD void finish(std::int64_t o, Acc acc) const { out[o] = T(acc.max + std::log(acc.sum)); }
};

}  // namespace taper::cuda_kernels
