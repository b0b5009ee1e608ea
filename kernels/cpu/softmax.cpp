// softmax and log_softmax with their gradients. A tensor is [outer, n, inner] lines of n elements: rows where inner is
// 1, else columns that are worked on side by side.
#include <taper/operator.h>
#include <taper/ops/copy.h>
#include <taper/ops/softmax.h>

#include <cmath>

#include "softmax_lines.h"
#include "widen.h"

namespace taper::cpu_kernels {
void install_softmax();
namespace {

template <class T>
const T* elements(const Tensor& t) {
  return static_cast<const T*>(t.impl()->data());
}

struct Lines {
  std::int64_t outer = 1, n = 1, inner = 1;
};
Lines lines_of(const Tensor& t, std::int64_t dim) {
  Lines l;
  for (std::int64_t d = 0; d < t.dim(); ++d) (d < dim ? l.outer : d == dim ? l.n : l.inner) *= t.size(d);
  return l;
}

Tensor dense(const Tensor& t) { return t.is_contiguous() ? t : ops::contiguous.below_autograd(t); }

/// Calls row(offset) for each row, or columns(offset, width) for groups of columns side by side.
template <class Row, class Columns>
void for_each_line(const Lines& l, const Row& row, const Columns& columns) {
  if (l.n == 0) return;
  if (l.inner == 1) {
    return parallel_for(0, l.outer, grain_for(l.n * kExpCost), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) row(i * l.n);
    });
  }
  for_each_columns(l.outer, l.n, l.inner, columns);
}

template <bool log>
void softmax(Tensor& out, const Tensor& input, const std::int64_t& dim) {
  const Tensor self = dense(input);
  const Lines l = lines_of(self, dim);
  dispatch_floating(self.dtype(), "softmax", [&]<class T>(Type<T>) {
    const T* x = elements<T>(self);
    T* y = static_cast<T*>(out.impl()->data());
    const auto row = [&](std::int64_t at) {
      const T best = row_max(x + at, l.n);
      if constexpr (log) {
        const T shift = T(std::log(sum_exp<false>(y, x + at, l.n, best)));
        for (std::int64_t i = at; i < at + l.n; ++i) y[i] = x[i] - best - shift;
      } else {
        const T scale = T(1 / sum_exp<true>(y + at, x + at, l.n, best));
        for (std::int64_t i = at; i < at + l.n; ++i) y[i] *= scale;
      }
    };
    const auto columns = [&](std::int64_t at, std::int64_t width) {
      T best[kColumns], shift[kColumns];
      double sum[kColumns];
      max_and_sum_of_columns(x + at, l.n, l.inner, width, best, sum, log ? nullptr : y + at);
      for (std::int64_t j = 0; j < width; ++j) shift[j] = T(log ? std::log(sum[j]) : 1 / sum[j]);
      for (std::int64_t r = 0; r < l.n; ++r) {
        const T* from = x + at + r * l.inner;
        T* to = y + at + r * l.inner;
        for (std::int64_t j = 0; j < width; ++j) to[j] = log ? from[j] - best[j] - shift[j] : to[j] * shift[j];
      }
    };
    for_each_line(l, row, columns);
  });
}

/// dx = y (g - sum(g y)), and for the logarithm dx = g - exp(y) sum(g).
template <bool log>
void softmax_backward(Tensor& out, const Tensor& grad, const Tensor& result, const std::int64_t& dim) {
  const Tensor dense_grad = dense(grad), dense_result = dense(result);
  const Lines l = lines_of(result, dim);
  dispatch_floating(result.dtype(), "softmax_backward", [&]<class T>(Type<T>) {
    const T* g = elements<T>(dense_grad);
    const T* y = elements<T>(dense_result);
    T* dx = static_cast<T*>(out.impl()->data());
    const auto element = [](T gi, T yi, T sum) { return log ? gi - fn::exp_of(yi) * sum : yi * (gi - sum); };
    const auto row = [&](std::int64_t at) {
      const T sum = T(log ? row_sum(g + at, l.n) : row_dot(g + at, y + at, l.n));
      for (std::int64_t i = at; i < at + l.n; ++i) dx[i] = element(g[i], y[i], sum);
    };
    const auto columns = [&](std::int64_t at, std::int64_t width) {
      double total[kColumns] = {};
      T sum[kColumns];
      for (std::int64_t r = 0, i = at; r < l.n; ++r, i += l.inner)
        for (std::int64_t j = 0; j < width; ++j) total[j] += double(g[i + j]) * (log ? 1 : double(y[i + j]));
      for (std::int64_t j = 0; j < width; ++j) sum[j] = T(total[j]);
      for (std::int64_t r = 0, i = at; r < l.n; ++r, i += l.inner)
        for (std::int64_t j = 0; j < width; ++j) dx[i + j] = element(g[i + j], y[i + j], sum[j]);
    };
    for_each_line(l, row, columns);
  });
}

}  // namespace

void install_softmax() {
  ops::softmax.set_kernel(DispatchKey::CPU, kernels::widening<softmax<false>>);
  ops::log_softmax.set_kernel(DispatchKey::CPU, kernels::widening<softmax<true>>);
  ops::softmax_backward.set_kernel(DispatchKey::CPU, kernels::widening<softmax_backward<false>>);
  ops::log_softmax_backward.set_kernel(DispatchKey::CPU, kernels::widening<softmax_backward<true>>);
}

}  // namespace taper::cpu_kernels
