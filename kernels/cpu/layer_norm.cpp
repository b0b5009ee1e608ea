// Layer normalization: x is [lines, n]. Sums are made in double; the gradients of weight and bias, which are sums over
// lines, in parts that the shape alone decides.
#include <taper/operator.h>
#include <taper/ops/norm_samples.h>

#include <algorithm>
#include <cmath>

#include "memory_order.h"
#include "parallel.h"
#include "reduce_sum.h"
#include "scratch.h"
#include "widen.h"

namespace taper::cpu_kernels {
void install_layer_norm();
namespace {

constexpr std::int64_t kCost = 4;  // elementary steps for each element

Tensor dense(const Tensor& t) { return operand_in_order("layer_norm", t, MemoryFormat::contiguous); }
Tensor dense(const std::optional<Tensor>& t) { return t ? dense(*t) : Tensor(); }
template <class T>
const T* values_or_null(const Tensor& t) {
  return t.defined() ? values_of<T>(t) : nullptr;
}

template <class T>
void normalize(const T* x, std::int64_t n, T mean, T invstd, const T* weight, const T* bias, T* y) {
  if (weight && bias)
    for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * invstd * weight[i] + bias[i];
  else if (weight)
    for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * invstd * weight[i];
  else if (bias)
    for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * invstd + bias[i];
  else
    for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * invstd;
}

void forward(std::array<Tensor, 3>& out, const Tensor& input, const std::optional<Tensor>& weight,
             const std::optional<Tensor>& bias, const LayerNormOptions& o) {
  const std::int64_t lines = out[1].numel(), n = lines ? input.numel() / lines : 0;
  const Tensor dense_x = dense(input), dense_weight = dense(weight), dense_bias = dense(bias);
  dispatch_floating(input.dtype(), "layer_norm", [&]<class T>(Type<T>) {
    const T *x = values_of<T>(dense_x), *w = values_or_null<T>(dense_weight), *b = values_or_null<T>(dense_bias);
    T *y = place_of<T>(out[0]), *mean = place_of<T>(out[1]), *invstd = place_of<T>(out[2]);
    if (n == 0) {  // no statistics to speak of
      std::fill_n(mean, lines, T(0));
      std::fill_n(invstd, lines, T(0));
      return;
    }
    parallel_for(0, lines, grain_for(n * kCost), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const T* line = x + i * n;
        const double m = o.centered ? sum_dense(line, n, [](const auto& v) { return v; }) / double(n) : 0;
        const double squares = sum_dense(line, n, [m](const auto& v) { return (v - m) * (v - m); });
        mean[i] = T(m);
        invstd[i] = T(1 / std::sqrt(squares / double(n) + o.eps));
        normalize(line, n, mean[i], invstd[i], w, b, y + i * n);
      }
    });
  });
}

template <class T>
struct Line {
  const T *g, *x, *w;
  T mean, invstd;
};

/// The sums over a line of g w and g w xhat, xhat = (x - mean) invstd.
template <bool weighted, class T>
void line_sums(const Line<T>& l, std::int64_t n, double& plain, double& scaled) {
  constexpr std::int64_t lanes = kLanes<double>;
  const double mean = double(l.mean);
  Vec<double> a{}, b{};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    Vec<double> g = load_doubles(l.g + i);
    if constexpr (weighted) g *= load_doubles(l.w + i);
    a += g, b += g * (load_doubles(l.x + i) - mean);
  }
  plain = lane_sum<double>(a), scaled = lane_sum<double>(b);
  for (; i < n; ++i) {
    const double g = double(l.g[i]) * (weighted ? double(l.w[i]) : 1);
    plain += g, scaled += g * (double(l.x[i]) - mean);
  }
  scaled *= double(l.invstd);
}

/// dx = invstd (g w - mean(g w) - xhat mean(g w xhat)), as for batches in Ioffe, Szegedy 2015, section 3; without the
/// second term if the mean is not subtracted.
template <bool weighted, class T>
void line_gradient(const Line<T>& l, std::int64_t n, bool centered, T* dx) {
  double plain, scaled;
  line_sums<weighted>(l, n, plain, scaled);
  const T a = centered ? T(plain / double(n)) : T(0), b = T(scaled / double(n)) * l.invstd, mean = l.mean,
          invstd = l.invstd;
  for (std::int64_t i = 0; i < n; ++i) dx[i] = (l.g[i] * (weighted ? l.w[i] : T(1)) - a - (l.x[i] - mean) * b) * invstd;
}

/// dweight += sum(g xhat) and dbias += sum(g), each unless null, over up to kTogether lines that follow l.
constexpr std::int64_t kTogether = 8;
template <class T>
void add_parameter_gradients(const T* g, const T* x, const T* mean, const T* invstd, std::int64_t lines, std::int64_t n,
                             double* dweight, double* dbias) {
  constexpr std::int64_t kStrip = 256;
  T products[kStrip], sums[kStrip];
  for (std::int64_t begin = 0; begin < n; begin += kStrip) {
    const std::int64_t width = std::min(kStrip, n - begin);
    std::fill_n(products, width, T(0));
    std::fill_n(sums, width, T(0));
    for (std::int64_t r = 0; r < lines; ++r) {
      const T *gr = g + r * n + begin, *xr = x + r * n + begin, m = mean[r], s = invstd[r];
      for (std::int64_t j = 0; j < width; ++j) {
        products[j] += gr[j] * ((xr[j] - m) * s);
        sums[j] += gr[j];
      }
    }
    if (dweight)
      for (std::int64_t j = 0; j < width; ++j) dweight[begin + j] += double(products[j]);
    if (dbias)
      for (std::int64_t j = 0; j < width; ++j) dbias[begin + j] += double(sums[j]);
  }
}

/// Adds up the parts, each of n, in their order.
template <class T>
void add_parts(const double* parts, std::int64_t count, std::int64_t n, T* out) {
  parallel_for(0, n, grain_for(count), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) {
      double total = 0;
      for (std::int64_t p = 0; p < count; ++p) total += parts[p * n + j];
      out[j] = T(total);
    }
  });
}

void backward(std::array<Tensor, 3>& out, const Tensor& grad, const Tensor& input, const std::optional<Tensor>& weight,
              const Tensor& mean_of_lines, const Tensor& invstd_of_lines, const LayerNormOptions& o,
              const std::array<bool, 3>& wanted) {
  const std::int64_t lines = mean_of_lines.numel(), n = lines ? input.numel() / lines : 0;
  const Tensor dense_grad = dense(grad), dense_x = dense(input), dense_weight = dense(weight);
  const Tensor dense_mean = dense(mean_of_lines), dense_invstd = dense(invstd_of_lines);
  dispatch_floating(input.dtype(), "layer_norm_backward", [&]<class T>(Type<T>) {
    const auto place = [&](std::size_t i) { return wanted[i] ? place_of<T>(out[i]) : nullptr; };
    T *const dx = place(0), *const dweight = place(1), *const dbias = place(2);
    if (input.numel() == 0) {
      for (const std::size_t i : {1, 2}) std::fill_n(place_of<T>(out[i]), out[i].numel(), T(0));
      return;
    }
    const T *g = values_of<T>(dense_grad), *x = values_of<T>(dense_x), *w = values_or_null<T>(dense_weight);
    const T *mean = values_of<T>(dense_mean), *invstd = values_of<T>(dense_invstd);
    // At most 32 parts, of whole groups of lines, each worth a thread.
    const std::int64_t least = std::max(grain_for(n * kCost), (lines + 31) / 32);
    const std::int64_t part = (least + kTogether - 1) / kTogether * kTogether, parts = (lines + part - 1) / part;
    const Scratch<double> of_weight(dweight ? parts * n : 0), of_bias(dbias ? parts * n : 0);
    parallel_for(0, lines, part, [&](std::int64_t begin, std::int64_t end) {
      const auto mine = [&](const Scratch<double>& all) {
        double* p = all.data() ? all.data() + begin / part * n : nullptr;
        if (p) std::fill_n(p, n, 0.0);
        return p;
      };
      double *const weight_sums = mine(of_weight), *const bias_sums = mine(of_bias);
      for (std::int64_t i = begin; i < end; i += kTogether) {
        const std::int64_t count = std::min(kTogether, end - i);
        for (std::int64_t k = i; dx && k < i + count; ++k) {
          const Line<T> l{g + k * n, x + k * n, w, mean[k], invstd[k]};
          w ? line_gradient<true>(l, n, o.centered, dx + k * n) : line_gradient<false>(l, n, o.centered, dx + k * n);
        }
        if (weight_sums || bias_sums)
          add_parameter_gradients(g + i * n, x + i * n, mean + i, invstd + i, count, n, weight_sums, bias_sums);
      }
    });
    if (dweight) add_parts(of_weight.data(), parts, n, dweight);
    if (dbias) add_parts(of_bias.data(), parts, n, dbias);
  });
}

}  // namespace

void install_layer_norm() {
  ops::layer_norm.set_kernel(DispatchKey::CPU, kernels::widening<forward>);
  ops::layer_norm_backward.set_kernel(DispatchKey::CPU, kernels::widening<backward>);
}

}  // namespace taper::cpu_kernels
