#pragma once
#include <taper/dtype.h>

#include <limits>
#include <type_traits>

namespace taper {

/// A number argument that remembers whether it was a bool, an integer or floating: promotion depends on it.
class Scalar {
 public:
  constexpr Scalar() = default;
  template <class T>
  requires(std::is_arithmetic_v<T> || is_16_bit_floating<T>) constexpr Scalar(T v) {
    if constexpr (std::is_same_v<T, bool>)
      kind_ = DType::bool_, i_ = v;
    else if constexpr (std::is_integral_v<T>)
      kind_ = DType::int64, i_ = std::int64_t(v);
    else
      kind_ = DType::float64, f_ = double(v);
  }

  /// bool, int64 or float64.
  constexpr DType dtype() const { return kind_; }
  constexpr bool is_floating() const { return kind_ == DType::float64; }
  template <class T>
  constexpr T to() const {
    if constexpr (is_16_bit_floating<T>) {
      return T(kind_ == DType::float64 ? float(f_) : float(i_));
    } else {
      if (kind_ == DType::float64) return T(f_);
      return T(i_);
    }
  }
  /// Whether to<T>() keeps the value: an integer type takes what lies in its range, less any fraction, and an unsigned
  /// one also a negative number of its size, which wraps; a floating type takes what does not become infinite.
  template <class T>
  constexpr bool fits() const {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) {
      return true;
    } else if constexpr (std::is_integral_v<T>) {
      constexpr bool is_widest = sizeof(T) >= sizeof(std::int64_t);
      constexpr std::int64_t max = is_widest ? std::numeric_limits<std::int64_t>::max() : std::int64_t(Limits::max());
      constexpr std::int64_t min = std::is_signed_v<T> ? std::int64_t(Limits::min()) : -max;
      if (kind_ != DType::float64) return i_ >= min && i_ <= max;
      // double(max) is max itself, or for 64 bits one more.
      return is_widest ? f_ >= double(min) && f_ < double(max) : f_ > double(min) - 1 && f_ < double(max) + 1;
    } else {
      const double limit = double(Limits::max());
      return kind_ != DType::float64 || !(f_ > limit || f_ < -limit) || f_ - f_ != 0;  // infinity stays what it is
    }
  }
  constexpr bool is_zero() const { return kind_ == DType::float64 ? f_ == 0 : i_ == 0; }

 private:
  DType kind_ = DType::int64;
  union {
    std::int64_t i_ = 0;
    double f_;
  };
};
void append_to(std::string& s, const Scalar& v);

/// Throws ValueError, naming op, unless an element of this dtype can hold the value.
void check_fits(const char* op, const Scalar& value, DType dtype);

}  // namespace taper
