#pragma once
// What each pointwise operator computes for one element: the only copy, for the CPU and the CUDA kernels.
#include <taper/half.h>
#include <taper/host_device.h>
#include <taper/ops/fn_math.h>
#include <taper/ops/fn_trig.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace taper::fn {

/// Integers add, subtract and multiply modulo 2^bits, as unsigned ones do: signed overflow must not be undefined.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

// As variables, because device code may not call std::numeric_limits' functions.
template <class T>
inline constexpr T kLeast = std::numeric_limits<T>::min();
template <class T>
inline constexpr T kMost = std::numeric_limits<T>::max();

/// Conversion to another element type. Out of range and NaN give what x86 gives, on every device: the most negative
/// number, or for uint8 the low byte of it.
template <class To>
struct Cast {
  template <class From>
  TAPER_HD To operator()(From x) const {
    if constexpr (is_16_bit_floating<From>) {
      return (*this)(float(x));
    } else if constexpr (is_16_bit_floating<To>) {
      return To(float(x));
    } else if constexpr (std::is_same_v<To, bool>) {
      return x != From(0);
    } else if constexpr (std::is_same_v<From, bool>) {
      return x ? To(1) : To(0);
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
      using Wide = std::conditional_t<sizeof(To) == 8, std::int64_t, std::int32_t>;
      constexpr From kLimit = From(-2) * From(kLeast<Wide> / 2);
      return To(x >= -kLimit && x < kLimit ? Wide(x) : kLeast<Wide>);
    } else {
      return To(x);
    }
  }
};

// ---- Arithmetic of two ---------------------------------------------------------------------------------------------
struct Add {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else
      return T(Wrapping<T>(a) + Wrapping<T>(b));
  }
};
struct Sub {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    return T(Wrapping<T>(a) - Wrapping<T>(b));
  }
};
/// a + alpha b.
template <class T>
struct AddScaled {
  T alpha;
  TAPER_HD T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || (alpha && b);
    else
      return T(Wrapping<T>(a) + Wrapping<T>(Wrapping<T>(alpha) * Wrapping<T>(b)));
  }
};
struct Mul {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else
      return T(Wrapping<T>(a) * Wrapping<T>(b));
  }
};
struct Div {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    return a / b;
  }
};
/// The larger; NaN if either is NaN.
struct Maximum {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};
struct Minimum {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};
struct Pow {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::pow(a, b);
    } else if constexpr (std::is_same_v<T, bool>) {
      return a || !b;
    } else {
      if constexpr (std::is_signed_v<T>) {
        if (b < 0) return a == 1 ? T(1) : a == -1 ? T(b % 2 == 0 ? 1 : -1) : T(0);
      }
      Wrapping<T> result = 1, base = Wrapping<T>(a);
      for (auto left = Wrapping<T>(b); left != 0; left = Wrapping<T>(left >> 1)) {
        if (left & 1) result = Wrapping<T>(result * base);
        base = Wrapping<T>(base * base);
      }
      return T(result);
    }
  }
};

// ---- Comparison and logic: bool results ----------------------------------------------------------------------------
struct Eq {
  template <class T>
  TAPER_HD bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Ne {
  template <class T>
  TAPER_HD bool operator()(T a, T b) const {
    return a != b;
  }
};
struct Lt {
  template <class T>
  TAPER_HD bool operator()(T a, T b) const {
    return a < b;
  }
};
struct Le {
  template <class T>
  TAPER_HD bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct LogicalAnd {
  template <class T>
  TAPER_HD bool operator()(T a, T b) const {
    return (a != T(0)) & (b != T(0));
  }
};
struct LogicalOr {
  template <class T>
  TAPER_HD bool operator()(T a, T b) const {
    return (a != T(0)) | (b != T(0));
  }
};
struct LogicalXor {
  template <class T>
  TAPER_HD bool operator()(T a, T b) const {
    return (a != T(0)) != (b != T(0));
  }
};
struct LogicalNot {
  template <class T>
  TAPER_HD bool operator()(T x) const {
    return x == T(0);
  }
};
struct IsNan {
  template <class T>
  TAPER_HD bool operator()(T x) const {
    return x != x;
  }
};
struct IsInf {
  template <class T>
  TAPER_HD bool operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x) > kMost<T>;
    else
      return false;
  }
};
struct IsFinite {
  template <class T>
  TAPER_HD bool operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return x - x == T(0);  // infinity - infinity and NaN - NaN are NaN
    else
      return true;
  }
};

// ---- Choice --------------------------------------------------------------------------------------------------------
struct Where {
  template <class T>
  TAPER_HD T operator()(bool condition, T a, T b) const {
    return condition ? a : b;
  }
};
/// min(max(x, low), high): NaN stays NaN, and high wins where the bounds cross.
template <class T>
struct Clamp {
  T low, high;
  TAPER_HD T operator()(T x) const {
    const T raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
};

// ---- Functions of one, any number type -----------------------------------------------------------------------------
struct Neg {
  template <class T>
  TAPER_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return T(Wrapping<T>(0) - Wrapping<T>(x));
  }
};
struct Abs {
  template <class T>
  TAPER_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else if constexpr (std::is_signed_v<T>)
      return x < 0 ? T(Wrapping<T>(0) - Wrapping<T>(x)) : x;
    else
      return x;
  }
};
/// -1, 0 or 1; 0 for NaN.
struct Sign {
  template <class T>
  TAPER_HD T operator()(T x) const {
    if constexpr (std::is_same_v<T, bool>)
      return x;
    else if constexpr (std::is_unsigned_v<T>)
      return T(x != 0);
    else
      return T(int(x > T(0)) - int(x < T(0)));
  }
};
struct Relu {
  template <class T>
  TAPER_HD T operator()(T x) const {
    if constexpr (std::is_unsigned_v<T>)
      return x;
    else
      return x < T(0) ? T(0) : x;
  }
};
struct Square {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return Mul{}(x, x);
  }
};

struct Cube {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return x * x * x;
  }
};
struct ReciprocalSquare {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return T(1) / (x * x);
  }
};

// ---- Functions of one, floating ------------------------------------------------------------------------------------
struct Exp {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return exp_of(x);
  }
};
struct Log {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return log_of(x);
  }
};
struct Sqrt {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct Rsqrt {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};
struct Reciprocal {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return T(1) / x;
  }
};
struct Tanh {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return tanh_of(x);
  }
};
/// 1 / (1 + e^-x), by the tail that does not overflow: small results keep their precision.
struct Sigmoid {
  template <class T>
  TAPER_HD T operator()(T x) const {
    const T tail = exp_of(-std::fabs(x));
    return (x < T(0) ? tail : T(1)) / (T(1) + tail);
  }
};
// For floats, usual arguments are those that need no call; see kernels/cpu/usual_rows.h.
struct Sin {
  template <class T>
  TAPER_HD T operator()(T x) const {
#if !defined(__CUDA_ARCH__)
    if constexpr (is_float<T>)
      if (is_usual(x)) return usual(x);
#endif
    return std::sin(x);
  }
#if !defined(__CUDA_ARCH__)
  static bool is_usual(float x) { return host::is_small_angle(x); }
  static float usual(float x) { return host::small_sin(x); }
#endif
};
struct Cos {
  template <class T>
  TAPER_HD T operator()(T x) const {
#if !defined(__CUDA_ARCH__)
    if constexpr (is_float<T>)
      if (is_usual(x)) return usual(x);
#endif
    return std::cos(x);
  }
#if !defined(__CUDA_ARCH__)
  static bool is_usual(float x) { return host::is_small_angle(x); }
  static float usual(float x) { return host::small_cos(x); }
#endif
};

// ---- More functions of one, floating -------------------------------------------------------------------------------
struct Expm1 {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return expm1_of(x);
  }
};
struct Exp2 {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return exp2_of(x);
  }
};
struct Log1p {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return log1p_of(x);
  }
};
struct Log2 {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return log2_of(x);
  }
};
struct Log10 {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return log10_of(x);
  }
};
struct Tan {
  template <class T>
  TAPER_HD T operator()(T x) const {
#if !defined(__CUDA_ARCH__)
    if constexpr (is_float<T>)
      if (is_usual(x)) return usual(x);
#endif
    return std::tan(x);
  }
#if !defined(__CUDA_ARCH__)
  static bool is_usual(float x) { return host::is_small_angle(x); }
  static float usual(float x) { return host::small_tan(x); }
#endif
};
struct Asin {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return asin_of(x);
  }
};
struct Acos {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return acos_of(x);
  }
};
struct Atan {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return atan_of(x);
  }
};
struct Sinh {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return sinh_of(x);
  }
};
struct Cosh {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return cosh_of(x);
  }
};
struct Asinh {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return std::asinh(x);
  }
};
struct Acosh {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return std::acosh(x);
  }
};
struct Atanh {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return std::atanh(x);
  }
};
struct Erf {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return erf_of(x);
  }
};
struct Erfc {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return std::erfc(x);
  }
};

// ---- Rounding: integers stay as they are ---------------------------------------------------------------------------
struct Floor {
  template <class T>
  TAPER_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::floor(x);
    else
      return x;
  }
};
struct Ceil {
  template <class T>
  TAPER_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::ceil(x);
    else
      return x;
  }
};
struct Trunc {
  template <class T>
  TAPER_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::trunc(x);
    else
      return x;
  }
};
/// Halves to the even neighbour.
struct Round {
  template <class T>
  TAPER_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::rint(x);
    else
      return x;
  }
};

// ---- Gradients in one pass -----------------------------------------------------------------------------------------
/// y is relu's result.
struct ReluGrad {
  template <class T>
  TAPER_HD T operator()(T g, T y) const {
    return y <= T(0) ? T(0) : g;
  }
};
/// tanh' = 1 - tanh^2
struct TanhGrad {
  template <class T>
  TAPER_HD T operator()(T g, T y) const {
    return g * (T(1) - y * y);
  }
};
/// sigmoid' = sigmoid (1 - sigmoid)
struct SigmoidGrad {
  template <class T>
  TAPER_HD T operator()(T g, T y) const {
    return g * (T(1) - y) * y;
  }
};
template <class T>
struct ClampGrad {
  T low, high;
  TAPER_HD T operator()(T g, T x) const { return ((x >= low) & (x <= high)) ? g : T(0); }
};

}  // namespace taper::fn
