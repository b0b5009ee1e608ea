#pragma once
// Special functions for one element, in double; float gets the rounded result.
#include <taper/host_device.h>
#include <taper/ops/fn_math.h>

#include <cmath>
#include <limits>

namespace taper::fn {

// As variables, because device code may not call std::numeric_limits' functions.
template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

inline constexpr double kPi = 3.14159265358979323846;

/// sin(pi x) / (pi x)
struct Sinc {
  template <class T>
  TAPER_HD T operator()(T x) const {
    const T a = T(kPi) * x;
    return x == 0 ? T(1) : std::sin(a) / a;
  }
};

/// The x whose erf is y.
struct Erfinv {
  TAPER_HD static double inverse(double y) {
    if (!(std::fabs(y) < 1)) return std::fabs(y) == 1 ? std::copysign(kInfinity<double>, y) : kNaN<double>;
    // Winitzki's approximation, good to 2e-3, then Halley's iteration on erf or, in the tail, where 1 - |y| is what
    // counts, on erfc.
    const double a = 0.147, l = std::log1p(-y * y), h = 2 / (kPi * a) + l / 2;
    double x = std::copysign(std::sqrt(std::sqrt(h * h - l / a) - h), y);
    for (int i = 0; i < 3; ++i) {
      const double in_tail = (1 - std::fabs(y) - std::erfc(std::fabs(x))) * (y < 0 ? -1 : 1);
      const double error = std::fabs(y) < 0.5 ? std::erf(x) - y : in_tail;
      const double step = error / (1.12837916709551257390 * std::exp(-x * x));
      x -= step / (1 + x * step);
    }
    return x;
  }
  template <class T>
  TAPER_HD T operator()(T y) const {
    return T(inverse(double(y)));
  }
};

/// log |Gamma(x)|
struct Lgamma {
  template <class T>
  TAPER_HD T operator()(T x) const {
#if defined(__CUDA_ARCH__) || !defined(__GLIBC__)
    return std::lgamma(x);
#else
    int sign = 0;  // std::lgamma writes a variable that all threads share
    return T(::lgamma_r(double(x), &sign));
#endif
  }
};

/// d log Gamma(x) / dx. Abramowitz and Stegun, 6.3: reflection, recurrence, and the asymptotic series from 10 on.
struct Digamma {
  TAPER_HD static double psi(double x) {
    if (x == 0) return std::copysign(kInfinity<double>, -x);
    double reflected = 0;
    if (x < 0) {
      if (x == std::floor(x)) return kNaN<double>;
      const double r = x - std::rint(x);  // exact, also next to 0; the tangent has period pi
      reflected = -kPi / std::tan(kPi * r);
      x = 1 - x;
    }
    double sum = 0;
    while (x < 10) sum -= 1 / x, x += 1;
    const double z = 1 / (x * x);
    const double series =
        z * (1. / 12 - z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (5. / 660 - z * (691. / 32760 - z / 12))))));
    return reflected + sum + std::log(x) - 0.5 / x - (std::isinf(x) ? 0 : series);
  }
  template <class T>
  TAPER_HD T operator()(T x) const {
    return T(psi(double(x)));
  }
};

/// The n-th derivative of digamma, n >= 1: (-1)^(n + 1) n! sum over k of (x + k)^-(n + 1). The sum is added up to
/// x + k = 16 and continued by Euler and Maclaurin's formula.
struct Polygamma {
  std::int64_t n;
  TAPER_HD static double sum_of_powers(double s, double x) {
    double sum = 0;
    if (x <= 0 && x == std::floor(x)) return kInfinity<double>;
    if (x < -1e6) return kNaN<double>;
    for (; x < 16; x += 1) sum += std::pow(x, -s);
    sum += std::pow(x, 1 - s) / (s - 1) + std::pow(x, -s) / 2;
    constexpr double kB[] = {1. / 12, -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160, -691. / 1307674368000};
    double term = s * std::pow(x, -s - 1);
    for (int i = 0; i < 6; ++i) {
      sum += kB[i] * term;
      term *= (s + 2 * i + 1) * (s + 2 * i + 2) / (x * x);
    }
    return sum;
  }
  template <class T>
  TAPER_HD T operator()(T x) const {
    if (n == 0) return T(Digamma::psi(double(x)));
    return T((n % 2 == 0 ? -1 : 1) * std::exp(::lgamma(double(n) + 1)) * sum_of_powers(double(n) + 1, double(x)));
  }
};

/// log(x / (1 - x)), x first brought into [eps, 1 - eps] if eps >= 0.
struct Logit {
  double eps;
  template <class T>
  TAPER_HD T operator()(T x) const {
    if (eps >= 0) {
      const T low = T(eps), high = T(1 - eps);
      x = x < low ? low : x > high ? high : x;
    }
    return std::log(x / (T(1) - x));
  }
};

/// -x log(x), continued by its limit to 0 and by minus infinity below.
struct Entr {
  template <class T>
  TAPER_HD T operator()(T x) const {
    if (x > 0) return -x * std::log(x);
    return x == 0 ? T(0) : x < 0 ? -kInfinity<T> : x;  // NaN stays
  }
};

struct Signbit {
  template <class T>
  TAPER_HD bool operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::signbit(x);
    else if constexpr (std::is_signed_v<T>)
      return x < 0;
    else
      return false;
  }
};

}  // namespace taper::fn
