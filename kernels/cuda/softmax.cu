#include <taper/ops/fn_math.h>

#include <limits>

#include "softmax.h"
#include "team.cuh"

namespace taper::cuda_kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T, bool log, class Lines>
__global__ void lines_forward(const SoftmaxLines l, const T* x, T* y) {
  TAPER_SHARED(double, scratch, [kWarp]);
  for (std::int64_t line = Lines::first(); line < l.count; line += Lines::step()) {
    const std::int64_t start = line_start(line, l.n, l.inner);
    // NaN is skipped, since it comes back in every sum of exponentials.
    double most = -kInfinity;
    for (std::int64_t i = Lines::rank(); i < l.n; i += Lines::size) {
      const double value = double(x[start + i * l.inner]);
      most = value > most ? value : most;
    }
    const T best = T(Lines::combine(most, scratch, [](double a, double b) { return b > a ? b : a; }));
    double part = 0;
    for (std::int64_t i = Lines::rank(); i < l.n; i += Lines::size)
      part += double(fn::exp_of(T(x[start + i * l.inner] - best)));
    const double sum = Lines::sum(part, scratch);
    const T shift = T(log ? fn::log_of(sum) : 1 / sum);
    for (std::int64_t i = Lines::rank(); i < l.n; i += Lines::size) {
      const std::int64_t at = start + i * l.inner;
      y[at] = log ? x[at] - best - shift : fn::exp_of(T(x[at] - best)) * shift;
    }
  }
}

/// dx = y (g - sum(g y)), and for the logarithm dx = g - exp(y) sum(g).
template <class T, bool log, class Lines>
__global__ void lines_backward(const SoftmaxLines l, const T* g, const T* y, T* dx) {
  TAPER_SHARED(double, scratch, [kWarp]);
  for (std::int64_t line = Lines::first(); line < l.count; line += Lines::step()) {
    const std::int64_t start = line_start(line, l.n, l.inner);
    double part = 0;
    for (std::int64_t i = Lines::rank(); i < l.n; i += Lines::size) {
      const std::int64_t at = start + i * l.inner;
      part += double(g[at]) * (log ? 1 : double(y[at]));
    }
    const T sum = T(Lines::sum(part, scratch));
    for (std::int64_t i = Lines::rank(); i < l.n; i += Lines::size) {
      const std::int64_t at = start + i * l.inner;
      dx[at] = log ? g[at] - fn::exp_of(y[at]) * sum : y[at] * (g[at] - sum);
    }
  }
}

}  // namespace

template <class T>
void softmax(const Queue& queue, const SoftmaxLines& l, bool log, const T* x, T* y) {
  with_team(l.count, l.n, l.inner, [&](auto team) {
    using Lines = decltype(team);
    launch(queue, "softmax", blocks_for_team(queue, l.count, team), kTeamThreads, 0,
           log ? lines_forward<T, true, Lines> : lines_forward<T, false, Lines>, l, x, y);
  });
}
template <class T>
void softmax_backward(const Queue& queue, const SoftmaxLines& l, bool log, const T* dy, const T* y, T* dx) {
  with_team(l.count, l.n, l.inner, [&](auto team) {
    using Lines = decltype(team);
    launch(queue, "softmax_backward", blocks_for_team(queue, l.count, team), kTeamThreads, 0,
           log ? lines_backward<T, true, Lines> : lines_backward<T, false, Lines>, l, dy, y, dx);
  });
}

template void softmax(const Queue&, const SoftmaxLines&, bool, const float*, float*);
template void softmax(const Queue&, const SoftmaxLines&, bool, const double*, double*);
template void softmax_backward(const Queue&, const SoftmaxLines&, bool, const float*, const float*, float*);
template void softmax_backward(const Queue&, const SoftmaxLines&, bool, const double*, const double*, double*);

}  // namespace taper::cuda_kernels
