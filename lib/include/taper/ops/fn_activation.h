#pragma once
// What each activation of <taper/ops/activation.h> computes for one element, and its gradient in one pass: the only
// copy, for the CPU and the CUDA kernels.
#include <taper/ops/fn.h>

namespace taper::fn {

/// What shapes an activation; what a and b are is said there.
struct ActivationShape {
  using plain_argument = void;
  double a = 0, b = 0;
};

/// min(max(x, a), b); NaN stays.
struct Hardtanh : ActivationShape {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return x < T(a) ? T(a) : x > T(b) ? T(b) : x;
  }
  template <class T>
  TAPER_HD T gradient(T g, T x) const {
    return (x <= T(a)) | (x >= T(b)) ? T(0) : g;
  }
};
/// min(max(x + 3, 0), 6) / 6.
struct Hardsigmoid : ActivationShape {
  template <class T>
  TAPER_HD T operator()(T x) const {
    const T y = x + T(3);
    return (y < T(0) ? T(0) : y > T(6) ? T(6) : y) / T(6);
  }
  template <class T>
  TAPER_HD T gradient(T g, T x) const {
    return (x > T(-3)) & (x < T(3)) ? g * T(1.f / 6.f) : T(0);  // PyTorch's constant, of float precision
  }
};
/// x hardsigmoid(x).
struct Hardswish : ActivationShape {
  template <class T>
  TAPER_HD T operator()(T x) const {
    const T y = x + T(3);
    return x * (y < T(0) ? T(0) : y > T(6) ? T(6) : y) / T(6);
  }
  template <class T>
  TAPER_HD T gradient(T g, T x) const {
    return x < T(-3) ? T(0) : x <= T(3) ? g * (x / T(3) + T(0.5)) : g;
  }
};
/// x above a, else b.
struct Threshold : ActivationShape {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return x <= T(a) ? T(b) : x;
  }
  template <class T>
  TAPER_HD T gradient(T g, T x) const {
    return x <= T(a) ? T(0) : g;
  }
};
/// x above 0, else a x.
struct LeakyRelu : ActivationShape {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return x > T(0) ? x : x * T(a);
  }
  template <class T>
  TAPER_HD T gradient(T g, T x) const {
    return x > T(0) ? g : g * T(a);
  }
};
/// x outside [-a, a], else 0.
struct Hardshrink : ActivationShape {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return (x >= T(-a)) & (x <= T(a)) ? T(0) : x;
  }
  template <class T>
  TAPER_HD T gradient(T g, T x) const {
    return (x >= T(-a)) & (x <= T(a)) ? T(0) : g;
  }
};
/// x, moved towards 0 by a.
struct Softshrink : ActivationShape {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return x > T(a) ? x - T(a) : x < T(-a) ? x + T(a) : x - x;  // NaN stays
  }
  template <class T>
  TAPER_HD T gradient(T g, T x) const {
    return (x >= T(-a)) & (x <= T(a)) ? T(0) : g;
  }
};
/// positive x above 0, else negative (e^(rate x) - 1): elu, celu and selu.
struct Elu {
  using plain_argument = void;
  double negative = 1, positive = 1, rate = 1;
  template <class T>
  TAPER_HD T operator()(T x) const {
    return x <= T(0) ? expm1_of(x * T(rate)) * T(negative) : x * T(positive);
  }
  template <class T>
  TAPER_HD T gradient(T g, T x) const {
    return x <= T(0) ? g * T(rate) * T(negative) * exp_of(x * T(rate)) : g * T(positive);
  }
};
/// x Phi(x), Phi the distribution function of the standard normal distribution.
struct Gelu : ActivationShape {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return x * (T(0.5) + T(0.5) * erf_of(x * T(0.70710678118654752)));
  }
  template <class T>
  TAPER_HD T gradient(T g, T x) const {
    const T phi = T(0.5) + T(0.5) * erf_of(x * T(0.70710678118654752));
    return g * (phi + x * exp_of(T(-0.5) * x * x) * T(0.39894228040143268));
  }
};
/// The same with Phi approximated through tanh.
struct GeluTanh : ActivationShape {
  template <class T>
  TAPER_HD static T inner(T x) {
    return T(0.79788456080286536) * (x + T(0.044715) * x * x * x);
  }
  template <class T>
  TAPER_HD T operator()(T x) const {
    return T(0.5) * x * (T(1) + tanh_of(inner(x)));
  }
  template <class T>
  TAPER_HD T gradient(T g, T x) const {
    const T t = tanh_of(inner(x)), slope = T(0.79788456080286536) * (T(1) + T(3 * 0.044715) * x * x);
    return g * (T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * slope);
  }
};
/// x sigmoid(x).
struct Silu : ActivationShape {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return x / (T(1) + exp_of(-x));
  }
  template <class T>
  TAPER_HD T gradient(T g, T x) const {
    const T s = Sigmoid{}(x);
    return g * (s * (T(1) + x * (T(1) - s)));
  }
};
/// log(1 + e^(a x)) / a; x itself where a x is above b.
struct Softplus : ActivationShape {
  template <class T>
  TAPER_HD T operator()(T x) const {
    const T scaled = x * T(a);
    return scaled > T(b) ? x : log1p_of(exp_of(scaled)) / T(a);
  }
  template <class T>
  TAPER_HD T gradient(T g, T x) const {
    const T scaled = x * T(a);
    return scaled > T(b) ? g : g * Sigmoid{}(scaled);
  }
};
/// x tanh(log(1 + e^x)).
struct Mish : ActivationShape {
  template <class T>
  TAPER_HD static T softplus(T x) {
    return (x > T(0) ? x : T(0)) + log1p_of(exp_of(-std::fabs(x)));
  }
  template <class T>
  TAPER_HD T operator()(T x) const {
    return x * tanh_of(softplus(x));
  }
  template <class T>
  TAPER_HD T gradient(T g, T x) const {
    const T t = tanh_of(softplus(x));
    return g * (t + x * Sigmoid{}(x) * (T(1) - t * t));
  }
};
/// log(sigmoid(x)).
struct LogSigmoid : ActivationShape {
  template <class T>
  TAPER_HD T operator()(T x) const {
    return (x < T(0) ? x : T(0)) - log1p_of(exp_of(-std::fabs(x)));
  }
  template <class T>
  TAPER_HD T gradient(T g, T x) const {
    return g * Sigmoid{}(-x);
  }
};

/// The gradient of an activation as a function of its own: of the result's gradient and the argument.
template <class F>
struct GradientOf {
  F f;
  template <class T>
  TAPER_HD T operator()(T g, T x) const {
    return f.gradient(g, x);
  }
};

}  // namespace taper::fn
