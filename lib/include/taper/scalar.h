#pragma once
#include <taper/dtype.h>

#include <type_traits>

namespace taper {

/// A number argument that remembers whether it was a bool, an integer or floating: promotion depends on it.
class Scalar {
 public:
  constexpr Scalar() = default;
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Scalar(T v) {
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
    if (kind_ == DType::float64) return T(f_);
    return T(i_);
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

}  // namespace taper
