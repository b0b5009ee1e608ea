// sum and mean, var and std, norm.
#include "reduce.h"

#include <taper/operator.h>

#include <cmath>

#include "reduce_loops.h"
#include "reduce_sum.h"
#include "widen.h"

namespace taper::cpu_kernels {
namespace {

/// The sum of the elements divided by `divisor`, 1 for integers.
template <class T, class Out>
struct Sum {
  using In = T;
  using Acc = SumAcc<T>;
  Out* out;
  double divisor = 1;

  Acc start(std::int64_t) const { return 0; }
  Acc row(Acc acc, const T* p, std::int64_t n, std::int64_t stride, Place) const {
    if constexpr (std::is_floating_point_v<T>) {
      return acc + sum_run(p, n, stride, [](const auto& x) { return x; });
    } else {
      for (std::int64_t i = 0; i < n; ++i) acc += Acc(p[i * stride]);
      return acc;
    }
  }
  void columns(Acc* acc, const T* p, std::int64_t width, std::int64_t rows, std::int64_t stride, Place) const {
    if constexpr (std::is_floating_point_v<T>) {
      sum_columns(acc, p, width, rows, stride, [](const auto& x, std::int64_t) { return x; });
    } else {
      for (std::int64_t r = 0; r < rows; ++r, p += stride)
        for (std::int64_t j = 0; j < width; ++j) acc[j] += Acc(p[j]);
    }
  }
  Acc combine(Acc a, Acc b) const { return a + b; }
  void finish(std::int64_t o, Acc acc) const {
    if constexpr (std::is_floating_point_v<T>)
      out[o] = Out(acc / divisor);
    else
      out[o] = Out(acc);
  }
};

template <class T>
const T* elements(const Tensor& t) {
  return static_cast<const T*>(t.impl()->data());
}
template <class T>
T* elements(Tensor& t) {
  return static_cast<T*>(t.impl()->data());
}

void sum(Tensor& out, const Tensor& x, const ops::Reduced& r) {
  dispatch_computed(x.dtype(), [&]<class T>(Type<T>) {
    using Out = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;
    reduce(Sum<T, Out>{elements<Out>(out)}, plan_reduction(x, r), elements<T>(x));
  });
}

void mean(Tensor& out, const Tensor& x, const ops::Reduced& r) {
  dispatch_floating(x.dtype(), "mean", [&]<class T>(Type<T>) {
    const ReducePlan plan = plan_reduction(x, r);
    reduce(Sum<T, T>{elements<T>(out), double(plan.per_result)}, plan, elements<T>(x));
  });
}

/// The sum of squares of x - center, then what `End` makes of it.
template <class T, class End>
struct SumOfSquares {
  using In = T;
  using Acc = double;
  const double* center;  // one per result; null for zeros
  End end;

  Acc start(std::int64_t) const { return 0; }
  Acc row(Acc acc, const T* p, std::int64_t n, std::int64_t stride, Place at) const {
    if (!center) return acc + sum_run(p, n, stride, [](const auto& v) { return v * v; });
    const double c = center[at.result];
    return acc + sum_run(p, n, stride, [c](const auto& v) { return (v - c) * (v - c); });
  }
  void columns(Acc* acc, const T* p, std::int64_t width, std::int64_t rows, std::int64_t stride, Place at) const {
    double c[reduce_detail::kTile];
    for (std::int64_t j = 0; j < width; ++j) c[j] = center ? center[at.result + j * at.result_step] : 0;
    sum_columns(acc, p, width, rows, stride, [&c](const auto& v, std::int64_t j) {
      if constexpr (std::is_same_v<decltype(v), const double&>)
        return (v - c[j]) * (v - c[j]);
      else
        return (v - load(c + j)) * (v - load(c + j));
    });
  }
  Acc combine(Acc a, Acc b) const { return a + b; }
  void finish(std::int64_t o, Acc acc) const { end(o, acc); }
};

/// Two passes: subtracting the mean first keeps the digits that x^2 would lose.
template <class End>
void variance(Tensor& out, const Tensor& x, const ops::Reduced& r, std::int64_t correction, const End& end) {
  dispatch_floating(x.dtype(), "var", [&]<class T>(Type<T>) {
    const ReducePlan plan = plan_reduction(x, r);
    const Scratch<double> means(plan.results);
    reduce(Sum<T, double>{means, double(plan.per_result)}, plan, elements<T>(x));
    const double divisor = std::max(0.0, double(plan.per_result) - double(correction));
    const auto store = [y = elements<T>(out), divisor, end](std::int64_t o, double s) { y[o] = T(end(s / divisor)); };
    reduce(SumOfSquares<T, decltype(store)>{means, store}, plan, elements<T>(x));
  });
}
void var(Tensor& out, const Tensor& x, const ops::Reduced& r, const std::int64_t& correction) {
  variance(out, x, r, correction, [](double v) { return v; });
}
void std(Tensor& out, const Tensor& x, const ops::Reduced& r, const std::int64_t& correction) {
  variance(out, x, r, correction, [](double v) { return std::sqrt(v); });
}

/// Sums `f(x)`, or keeps the largest or smallest of them.
template <class T, class F, class Combine>
struct Fold {
  using In = T;
  using Acc = double;
  T* out;
  double first;
  F f;
  Combine both;
  double root;  // the result is raised to 1 / root

  Acc start(std::int64_t) const { return first; }
  Acc row(Acc acc, const T* p, std::int64_t n, std::int64_t stride, Place) const {
    for (std::int64_t i = 0; i < n; ++i) acc = both(acc, f(double(p[i * stride])));
    return acc;
  }
  void columns(Acc* acc, const T* p, std::int64_t width, std::int64_t rows, std::int64_t stride, Place) const {
    for (std::int64_t r = 0; r < rows; ++r, p += stride)
      for (std::int64_t j = 0; j < width; ++j) acc[j] = both(acc[j], f(double(p[j])));
  }
  Acc combine(Acc a, Acc b) const { return both(a, b); }
  void finish(std::int64_t o, Acc acc) const { out[o] = T(root == 1 ? acc : std::pow(acc, 1 / root)); }
};

void norm(Tensor& out, const Tensor& x, const ops::Reduced& r, const double& p) {
  dispatch_floating(x.dtype(), "norm", [&]<class T>(Type<T>) {
    const ReducePlan plan = plan_reduction(x, r);
    T* y = elements<T>(out);
    const auto fold = [&](double first, auto f, auto both, double root) {
      reduce(Fold<T, decltype(f), decltype(both)>{y, first, f, both, root}, plan, elements<T>(x));
    };
    const auto plus = [](double a, double b) { return a + b; };
    const auto magnitude = [](double v) { return std::fabs(v); };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (p == 2) {
      const auto store = [y](std::int64_t o, double s) { y[o] = T(std::sqrt(s)); };
      reduce(SumOfSquares<T, decltype(store)>{nullptr, store}, plan, elements<T>(x));
    } else if (p == infinity) {
      fold(
          0, magnitude, [](double a, double b) { return b > a || b != b ? b : a; }, 1);
    } else if (p == -infinity) {
      fold(
          infinity, magnitude, [](double a, double b) { return b < a || b != b ? b : a; }, 1);
    } else if (p == 0) {
      fold(
          0, [](double v) { return v != 0 ? 1.0 : 0.0; }, plus, 1);
    } else if (p == 1) {
      fold(0, magnitude, plus, 1);
    } else {
      fold(
          0, [p](double v) { return std::pow(std::fabs(v), p); }, plus, p);
    }
  });
}

}  // namespace

void install_reduce() {
  ops::sum.set_kernel(DispatchKey::CPU, kernels::widening<sum>);
  ops::mean.set_kernel(DispatchKey::CPU, kernels::widening<mean>);
  ops::var.set_kernel(DispatchKey::CPU, kernels::widening<var>);
  ops::std.set_kernel(DispatchKey::CPU, kernels::widening<std>);
  ops::norm.set_kernel(DispatchKey::CPU, kernels::widening<norm>);
  install_reduce_extremes();
  install_reduce_others();
}

}  // namespace taper::cpu_kernels
