#pragma once
// Quotients with remainders, angles, logarithms, bits: what <taper/ops/math_binary.h> and <taper/ops/bitwise.h> compute
// for one element.
#include <taper/host_device.h>
#include <taper/ops/fn_trig.h>

#include <cmath>
#include <limits>
#include <type_traits>

namespace taper::fn {

// Integer divisors are not 0: the operators see to that. A divisor of -1 is a negation, whose overflow wraps; the
// processor would trap.

/// std::fmod, which is exact. For float on the CPU by way of the quotient in double: below 2^28 it is exact to 2^-25
/// while float quotients that are not whole are at least 2^-24 away from whole ones, so its whole part is right, and
/// the product with that has at most 52 digits.
template <class T>
TAPER_HD inline T fmod_of(T a, T b) {
#if !defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float>) {
    const double whole = std::trunc(double(a) / double(b));
    if (whole == 0) return a;
    if (std::fabs(whole) < 0x1p28) return std::copysign(float(std::fma(-whole, double(b), double(a))), a);
  }
#endif
  return std::fmod(a, b);
}

/// a - b floor(a / b): has the sign of b.
struct Remainder {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      const T r = fmod_of(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    } else {
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
        const T r = T(a % b);
        return r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
      } else {
        return T(a % b);
      }
    }
  }
};
/// a - b trunc(a / b): has the sign of a.
struct Fmod {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return fmod_of(a, b);
    } else {
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
      }
      return T(a % b);
    }
  }
};
/// The quotient without its fraction.
struct TruncDivide {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::trunc(a / b);
    } else {
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return T(std::make_unsigned_t<T>(0) - std::make_unsigned_t<T>(a));
      }
      return T(a / b);
    }
  }
};
/// The largest whole number not above the quotient.
struct FloorDivide {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (b == 0) return a / b;
      // From the exact remainder: the rounded quotient may have reached the next whole number.
      const T r = fmod_of(a, b);
      T quotient = (a - r) / b;
      if (r != 0 && (r < 0) != (b < 0)) quotient -= 1;
      if (quotient == 0) return std::copysign(T(0), a / b);
      const T whole = std::floor(quotient);
      return quotient - whole > T(0.5) ? whole + 1 : whole;
    } else {
      const T quotient = TruncDivide{}(a, b);
      if constexpr (std::is_signed_v<T>) {
        if (b != -1 && a % b != 0 && (a < 0) != (b < 0)) return T(quotient - 1);
      }
      return quotient;
    }
  }
};

/// The larger; if one of them is NaN, the other.
struct Fmax {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    return a >= b || b != b ? a : b;
  }
};
struct Fmin {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    return a <= b || b != b ? a : b;
  }
};
struct Copysign {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    return std::copysign(a, b);
  }
};
struct Atan2 {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    return atan2_of(a, b);
  }
};
struct Hypot {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    return std::hypot(a, b);
  }
};
/// a log b, and 0 where a is 0, whatever b is but NaN.
struct Xlogy {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    if (b != b) return b;
    return a == 0 ? T(0) : a * std::log(b);
  }
};
/// log(e^a + e^b), seen relative to the larger.
struct Logaddexp {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    if (a == b && std::isinf(a)) return a;
    return (a > b || a != a ? a : b) + std::log1p(std::exp(-std::fabs(a - b)));
  }
};
/// log2(2^a + 2^b)
struct Logaddexp2 {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    constexpr T kLog2E = T(1.4426950408889634074);
    if (a == b && std::isinf(a)) return a;
    return (a > b || a != a ? a : b) + std::log1p(std::exp2(-std::fabs(a - b))) * kLog2E;
  }
};

// ---- Of three ------------------------------------------------------------------------------------------------------
/// From a to b by the share w, exact at both ends.
struct Lerp {
  template <class T>
  TAPER_HD T operator()(T a, T b, T w) const {
    const bool near = std::fabs(w) < T(0.5);  // chooses operands, not results, so that loops become vectors
    return (near ? a : b) + (w - (near ? T(0) : T(1))) * (b - a);
  }
};
template <class T>
struct LerpBy {
  T w;
  TAPER_HD T operator()(T a, T b) const { return Lerp{}(a, b, w); }
};
/// a + value x y
template <class T>
struct AddProduct {
  T value;
  TAPER_HD T operator()(T a, T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return T(U(a) + U(U(U(value) * U(x)) * U(y)));
    } else {
      return a + value * x * y;
    }
  }
};
/// a + value x / y
template <class T>
struct AddQuotient {
  T value;
  TAPER_HD T operator()(T a, T x, T y) const { return a + value * (x / y); }
};

// ---- Bits ----------------------------------------------------------------------------------------------------------
struct BitAnd {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    return T(a & b);
  }
};
struct BitOr {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    return T(a | b);
  }
};
struct BitXor {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    return T(a ^ b);
  }
};
struct BitNot {
  template <class T>
  TAPER_HD T operator()(T a) const {
    if constexpr (std::is_same_v<T, bool>)
      return !a;
    else
      return T(~a);
  }
};
/// Bits that are shifted out are lost; by a negative number or by all bits or more, all of them.
struct ShiftLeft {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    using U = std::make_unsigned_t<T>;
    return U(b) >= sizeof(T) * 8 ? T(0) : T(U(a) << b);
  }
};
/// The sign stays.
struct ShiftRight {
  template <class T>
  TAPER_HD T operator()(T a, T b) const {
    using U = std::make_unsigned_t<T>;
    constexpr T kLast = T(sizeof(T) * 8 - 1);
    return T(a >> (U(b) > U(kLast) ? kLast : b) >> (std::is_unsigned_v<T> && U(b) > U(kLast) ? 1 : 0));
  }
};

}  // namespace taper::fn
