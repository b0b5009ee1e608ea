// Running results: cumsum, cumprod, logcumsumexp, cummax, cummin, recurrence.
#include <taper/operator.h>
#include <taper/ops/fn.h>
#include <taper/ops/scan.h>

#include <cmath>
#include <limits>

#include "elements.h"
#include "lines.h"
#include "parallel.h"
#include "reduce_sum.h"
#include "widen.h"

namespace taper::cpu_kernels {
void install_scan();
namespace {

constexpr std::int64_t kBlock = 64;   // neighbouring lines that are walked together
constexpr std::int64_t kStreams = 8;  // lines apart from each other that are

/// out[i] = f(running value, x[i]), which also is the next running value; it starts as `start`.
template <class T, class Out, class Acc, class F>
void scan(Tensor& out, const Tensor& x, std::int64_t dim, Acc start, F f) {
  if (out.numel() == 0) return;
  const Lines<2> lines(dim, {out, x});
  const std::int64_t n = lines.length(), to_step = lines.step(0), from_step = lines.step(1);
  const std::int64_t count = lines.rows().row_length();
  const auto [to_next, from_next] = lines.rows().steps();
  Out* const to = first_of<Out>(out);
  const T* const from = first_of<const T>(x);
  const auto block = [&, to_next = to_next, from_next = from_next](Out* y, const T* p, std::int64_t width) {
    Acc acc[kBlock];
    for (std::int64_t j = 0; j < width; ++j) acc[j] = start;
    for (std::int64_t i = 0; i < n; ++i, y += to_step, p += from_step)
      for (std::int64_t j = 0; j < width; ++j) y[j * to_next] = Out(acc[j] = f(acc[j], Acc(p[j * from_next])));
  };
  // Lines that do not lie next to each other are walked together, too, but few: their additions need not wait for each
  // other, and each is a stream of memory.
  const std::int64_t width = to_next == 1 ? kBlock : kStreams, per_row = (count + width - 1) / width;
  const auto walk = [&, to_next = to_next, from_next = from_next](std::int64_t begin, std::int64_t end) {
    std::int64_t row = begin / per_row;
    lines.rows().for_each_row(row, (end + per_row - 1) / per_row, [&](const auto& at) {
      const std::int64_t first = std::max(begin - row * per_row, std::int64_t(0));
      const std::int64_t last = std::min(end - row * per_row, per_row);
      for (std::int64_t b = first; b < last; ++b) {
        const std::int64_t j = b * width, lanes = std::min(width, count - j);
        Out* const y = to + at[0] + j * to_next;
        const T* const p = from + at[1] + j * from_next;
        if (lanes == kStreams)
          block(y, p, kStreams);  // a number that the compiler knows
        else
          block(y, p, lanes);
      }
      ++row;
    });
  };
  parallel_for(0, lines.rows().rows() * per_row, grain_for(n * width), walk);
}

template <class T>
using SumOut = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;

void cumsum(Tensor& out, const Tensor& x, const std::int64_t& dim) {
  dispatch_computed(x.dtype(), [&]<class T>(Type<T>) {
    using Acc = SumAcc<T>;
    scan<T, SumOut<T>>(out, x, dim, Acc(0), [](Acc a, Acc b) { return a + b; });
  });
}
void cumprod(Tensor& out, const Tensor& x, const std::int64_t& dim) {
  dispatch_computed(x.dtype(), [&]<class T>(Type<T>) {
    using Acc = SumAcc<T>;
    scan<T, SumOut<T>>(out, x, dim, Acc(1), [](Acc a, Acc b) { return a * b; });
  });
}
void logcumsumexp(Tensor& out, const Tensor& x, const std::int64_t& dim) {
  dispatch_floating(x.dtype(), "logcumsumexp", [&]<class T>(Type<T>) {
    scan<T, T>(out, x, dim, -std::numeric_limits<double>::infinity(), [](double a, double b) {
      const double low = a < b ? a : b, high = a < b ? b : a;
      if (a != a || b != b) return a + b;
      return low == high && std::isinf(low) ? low : high + std::log1p(std::exp(low - high));
    });
  });
}

template <class T>
bool is_nan(T x) {
  return x != x;
}
/// The last of equals, and from the first NaN on the latest NaN.
template <bool largest>
void extremes(std::array<Tensor, 2>& out, const Tensor& x, const std::int64_t& dim) {
  if (x.numel() == 0) return;
  const Lines<3> lines(dim, {out[0], out[1], x});
  dispatch_computed(x.dtype(), [&]<class T>(Type<T>) {
    T* const values = first_of<T>(out[0]);
    std::int64_t* const places = first_of<std::int64_t>(out[1]);
    const T* const from = first_of<const T>(x);
    parallel_for(0, lines.count(), grain_for(lines.length()), [&](std::int64_t begin, std::int64_t end) {
      lines.for_each(begin, end, [&](const auto& at) {
        T best = from[at[2]];
        std::int64_t place = 0;
        for (std::int64_t i = 0; i < lines.length(); ++i) {
          const T v = from[at[2] + i * lines.step(2)];
          if (is_nan(v) || (!is_nan(best) && (largest ? v >= best : v <= best))) best = v, place = i;
          values[at[0] + i * lines.step(0)] = best;
          places[at[1] + i * lines.step(1)] = place;
        }
      });
    });
  });
}

void recurrence(Tensor& out, const Tensor& x, const Tensor& factor, const std::int64_t& dim) {
  if (out.numel() == 0) return;
  const Lines<3> lines(dim, {out, x, factor});
  dispatch_floating(x.dtype(), "recurrence", [&]<class T>(Type<T>) {
    T* const to = first_of<T>(out);
    const T *const from = first_of<const T>(x), *const factors = first_of<const T>(factor);
    parallel_for(0, lines.count(), grain_for(lines.length()), [&](std::int64_t begin, std::int64_t end) {
      lines.for_each(begin, end, [&](const auto& at) {
        double y = 0;
        for (std::int64_t i = 0; i < lines.length(); ++i) {
          const double carried = i == 0 ? 0 : double(factors[at[2] + i * lines.step(2)]) * y;
          y = double(from[at[1] + i * lines.step(1)]) + carried;
          to[at[0] + i * lines.step(0)] = T(y);
        }
      });
    });
  });
}

}  // namespace

void install_scan() {
  constexpr DispatchKey key = DispatchKey::CPU;
  ops::cumsum.set_kernel(key, kernels::widening<cumsum>);
  ops::cumprod.set_kernel(key, kernels::widening<cumprod>);
  ops::logcumsumexp.set_kernel(key, kernels::widening<logcumsumexp>);
  ops::cummax.set_kernel(key, kernels::widening<extremes<true>>);
  ops::cummin.set_kernel(key, kernels::widening<extremes<false>>);
  ops::recurrence.set_kernel(key, kernels::widening<recurrence>);
}

}  // namespace taper::cpu_kernels
