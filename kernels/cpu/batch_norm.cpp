#include "batch_norm.h"

#include <algorithm>
#include <cmath>

#include "parallel.h"
#include "scratch.h"
#include "vec.h"

namespace taper::cpu_kernels {
namespace {

/// Number, mean and sum of squared distances from the mean of some values.
struct Moments {
  double count = 0, mean = 0, m2 = 0;

  /// Chan, Golub, LeVeque 1983, "Algorithms for computing the sample variance", eq. 2.1.
  void add(const Moments& other) {
    if (other.count == 0) return;
    const double total = count + other.count, delta = other.mean - mean;
    mean += delta * other.count / total;
    m2 += other.m2 + delta * delta * count * other.count / total;
    count = total;
  }
};

/// Two sums that a gradient needs: of dy, and of dy (x - mean).
struct GradSums {
  double dy = 0, product = 0;
};

// Values added up in T before the sum goes on in double: few enough that nothing is lost, and they stay in the cache.
constexpr std::int64_t kBlock = 1024;
constexpr std::int64_t kRowBlock = 64;
// Rows of the channels-last order that one chunk sums up.
constexpr std::int64_t kMaxRowChunks = 32;

template <class T>
T block_sum(const T* x, std::int64_t count) {
  constexpr int L = kLanes<T>;
  Vec<T> sum[2] = {};
  std::int64_t i = 0;
  for (; i + 2 * L <= count; i += 2 * L) sum[0] += load(x + i), sum[1] += load(x + i + L);
  for (; i < count; i += L) {
    const int left = static_cast<int>(std::min<std::int64_t>(L, count - i));
    sum[0] += left == L ? load(x + i) : load_first(x + i, left);
  }
  return lane_sum<T>(sum[0] + sum[1]);
}

template <class T>
T block_square_sum(const T* x, std::int64_t count, T mean) {
  constexpr int L = kLanes<T>;
  Vec<T> sum[2] = {};
  std::int64_t i = 0;
  for (; i + 2 * L <= count; i += 2 * L) {
    const Vec<T> a = load(x + i) - mean, b = load(x + i + L) - mean;
    sum[0] += a * a, sum[1] += b * b;
  }
  T rest = 0;
  for (; i < count; ++i) rest += (x[i] - mean) * (x[i] - mean);
  return lane_sum<T>(sum[0] + sum[1]) + rest;
}

template <class T>
Moments block_moments(const T* x, std::int64_t count) {
  Moments m;
  m.count = static_cast<double>(count);
  m.mean = static_cast<double>(block_sum(x, count)) / m.count;
  const T center = static_cast<T>(m.mean);
  const double shift = m.mean - static_cast<double>(center);
  // The squares are taken about the rounded mean; what that adds is taken off again.
  m.m2 = static_cast<double>(block_square_sum(x, count, center)) - m.count * shift * shift;
  m.m2 = m.m2 < 0 ? 0 : m.m2;
  return m;
}

template <class T>
GradSums block_grad_sums(const T* dy, const T* x, std::int64_t count, T mean) {
  constexpr int L = kLanes<T>;
  Vec<T> sum{}, product{};
  std::int64_t i = 0;
  for (; i + L <= count; i += L) {
    const Vec<T> g = load(dy + i);
    sum += g, product += g * (load(x + i) - mean);
  }
  T rest = 0, rest_product = 0;
  for (; i < count; ++i) rest += dy[i], rest_product += dy[i] * (x[i] - mean);
  return {static_cast<double>(lane_sum<T>(sum) + rest), static_cast<double>(lane_sum<T>(product) + rest_product)};
}

/// Calls f(channel, offset, count) for the blocks of each channel of [n, c, l], channels in parallel.
template <class F>
void for_plane_blocks(const BatchNormShape& s, const F& f) {
  parallel_for(0, s.c, grain_for(s.n * s.l), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c)
      for (std::int64_t i = 0; i < s.n; ++i)
        for (std::int64_t b = 0; b < s.l; b += kBlock) f(c, (i * s.c + c) * s.l + b, std::min(kBlock, s.l - b));
  });
}

std::int64_t row_grain(const BatchNormShape& s) {
  const std::int64_t rows = s.n * s.l;
  const std::int64_t grain = std::max(grain_for(s.c), (rows + kMaxRowChunks - 1) / kMaxRowChunks);
  return (grain + kRowBlock - 1) / kRowBlock * kRowBlock;
}

/// Fills totals [c] by f(first row, end row, totals of the chunk) over chunks of the rows of [n l, c], merged in order.
template <class Total, class F, class Merge>
void sum_rows(const BatchNormShape& s, Total* totals, const F& f, const Merge& merge) {
  const std::int64_t rows = s.n * s.l, grain = row_grain(s), chunks = (rows + grain - 1) / grain;
  const Scratch<Total> partials(chunks * s.c);
  parallel_for(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    Total* part = partials + begin / grain * s.c;
    std::fill_n(part, s.c, Total{});
    f(begin, end, part);
  });
  for (std::int64_t k = 0; k < chunks; ++k)
    for (std::int64_t c = 0; c < s.c; ++c) merge(totals[c], partials[k * s.c + c]);
}

template <class T>
void row_moments(const BatchNormShape& s, const T* x, Moments* moments) {
  const auto chunk = [&](std::int64_t begin, std::int64_t end, Moments* part) {
    const Scratch<T> memory(2 * s.c);
    T* const mean = memory;
    T* const square = mean + s.c;
    for (std::int64_t b = begin; b < end; b += kRowBlock) {
      const std::int64_t count = std::min(kRowBlock, end - b);
      const T* rows = x + b * s.c;
      std::fill_n(mean, 2 * s.c, T(0));
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t c = 0; c < s.c; ++c) mean[c] += rows[i * s.c + c];
      for (std::int64_t c = 0; c < s.c; ++c) mean[c] /= static_cast<T>(count);
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t c = 0; c < s.c; ++c) {
          const T distance = rows[i * s.c + c] - mean[c];
          square[c] += distance * distance;
        }
      for (std::int64_t c = 0; c < s.c; ++c)
        part[c].add({static_cast<double>(count), static_cast<double>(mean[c]), static_cast<double>(square[c])});
    }
  };
  sum_rows(s, moments, chunk, [](Moments& total, const Moments& part) { total.add(part); });
}

template <class T>
void row_grad_sums(const BatchNormShape& s, const T* dy, const T* x, const T* mean, GradSums* sums) {
  const auto chunk = [&](std::int64_t begin, std::int64_t end, GradSums* part) {
    const Scratch<T> memory(2 * s.c);
    T* const sum = memory;
    T* const product = sum + s.c;
    for (std::int64_t b = begin; b < end; b += kRowBlock) {
      std::fill_n(sum, 2 * s.c, T(0));
      for (std::int64_t i = b; i < std::min(b + kRowBlock, end); ++i)
        for (std::int64_t c = 0; c < s.c; ++c) {
          const T g = dy[i * s.c + c];
          sum[c] += g, product[c] += g * (x[i * s.c + c] - mean[c]);
        }
      for (std::int64_t c = 0; c < s.c; ++c)
        part[c].dy += static_cast<double>(sum[c]), part[c].product += static_cast<double>(product[c]);
    }
  };
  sum_rows(s, sums, chunk,
           [](GradSums& total, const GradSums& part) { total.dy += part.dy, total.product += part.product; });
}

/// out = a in[0] + b in[1] + shift with numbers for each channel, over both orders. Terms beyond the first may be null.
template <class T>
struct Affine {
  const T* first;
  const T* first_center;  // [c], subtracted from first; null for none
  const T* first_factor;  // [c]
  const T* second;        // null for none
  const T* second_center;
  const T* second_factor;
  const T* shift;  // [c], null for none
};

template <class T>
void apply_affine(const BatchNormShape& s, const Affine<T>& f, T* out) {
  const auto value = [](const Affine<T>& a, std::int64_t at, T center, T factor, T center2, T factor2, T shift) {
    T v = (a.first[at] - center) * factor + shift;
    if (a.second) v += (a.second[at] - center2) * factor2;
    return v;
  };
  const auto of = [](const T* values, std::int64_t c) { return values ? values[c] : T(0); };
  if (s.channels_last || s.l == 1) {
    parallel_for(0, s.n * s.l, grain_for(s.c), [&](std::int64_t begin, std::int64_t end) {
      const Affine<T> a = f;
      for (std::int64_t i = begin; i < end; ++i)
        for (std::int64_t c = 0; c < s.c; ++c)
          out[i * s.c + c] = value(a, i * s.c + c, of(a.first_center, c), a.first_factor[c], of(a.second_center, c),
                                   of(a.second_factor, c), of(a.shift, c));
    });
    return;
  }
  parallel_for(0, s.n * s.c, grain_for(s.l), [&](std::int64_t begin, std::int64_t end) {
    const Affine<T> a = f;
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t c = p % s.c;
      const T center = of(a.first_center, c), factor = a.first_factor[c], center2 = of(a.second_center, c);
      const T factor2 = of(a.second_factor, c), shift = of(a.shift, c);
      for (std::int64_t i = p * s.l; i < (p + 1) * s.l; ++i)
        out[i] = value(a, i, center, factor, center2, factor2, shift);
    }
  });
}

}  // namespace

template <class T>
void batch_norm_statistics(const BatchNormShape& s, const T* x, double eps, double momentum, T* mean, T* invstd,
                           T* running_mean, T* running_var) {
  const Scratch<Moments> moments(s.c);
  std::fill_n(moments.data(), s.c, Moments{});
  if (s.channels_last || s.l == 1)
    row_moments(s, x, moments.data());
  else
    for_plane_blocks(
        s, [&](std::int64_t c, std::int64_t at, std::int64_t count) { moments[c].add(block_moments(x + at, count)); });
  for (std::int64_t c = 0; c < s.c; ++c) {
    const Moments& m = moments[c];
    mean[c] = static_cast<T>(m.mean);
    invstd[c] = static_cast<T>(1 / std::sqrt(m.m2 / m.count + eps));
    if (running_mean)
      running_mean[c] = static_cast<T>((1 - momentum) * static_cast<double>(running_mean[c]) + momentum * m.mean);
    if (running_var)
      running_var[c] =
          static_cast<T>((1 - momentum) * static_cast<double>(running_var[c]) + momentum * m.m2 / (m.count - 1));
  }
}

template <class T>
void batch_norm_invstd(std::int64_t c, const T* running_var, double eps, T* invstd) {
  for (std::int64_t i = 0; i < c; ++i)
    invstd[i] = static_cast<T>(1 / std::sqrt(static_cast<double>(running_var[i]) + eps));
}

template <class T>
void batch_norm_apply(const BatchNormShape& s, const T* x, const T* mean, const T* invstd, const T* weight,
                      const T* bias, T* y) {
  const Scratch<T> factor(s.c);
  for (std::int64_t c = 0; c < s.c; ++c) factor[c] = invstd[c] * (weight ? weight[c] : T(1));
  apply_affine<T>(s, {x, mean, factor, nullptr, nullptr, nullptr, bias}, y);
}

template <class T>
void batch_norm_backward(const BatchNormShape& s, const T* dy, const T* x, const T* mean, const T* invstd,
                         const T* weight, bool uses_batch_statistics, T* dx, T* dweight, T* dbias) {
  const Scratch<GradSums> sums(s.c);
  std::fill_n(sums.data(), s.c, GradSums{});
  if (dweight || dbias || (dx && uses_batch_statistics)) {
    if (s.channels_last || s.l == 1)
      row_grad_sums(s, dy, x, mean, sums.data());
    else
      for_plane_blocks(s, [&](std::int64_t c, std::int64_t at, std::int64_t count) {
        const GradSums part = block_grad_sums(dy + at, x + at, count, mean[c]);
        sums[c].dy += part.dy, sums[c].product += part.product;
      });
  }
  for (std::int64_t c = 0; c < s.c; ++c) {
    if (dbias) dbias[c] = static_cast<T>(sums[c].dy);
    if (dweight) dweight[c] = static_cast<T>(sums[c].product * static_cast<double>(invstd[c]));
  }
  if (!dx) return;
  const Scratch<T> numbers(3 * s.c);
  T* const factor = numbers;
  T* const mean_dy = factor + s.c;
  T* const x_factor = mean_dy + s.c;
  const double count = static_cast<double>(s.n * s.l);
  for (std::int64_t c = 0; c < s.c; ++c) {
    const double inv = static_cast<double>(invstd[c]), scale = inv * (weight ? static_cast<double>(weight[c]) : 1);
    factor[c] = static_cast<T>(scale);
    mean_dy[c] = static_cast<T>(sums[c].dy / count);
    x_factor[c] = static_cast<T>(-scale * inv * inv * sums[c].product / count);
  }
  if (uses_batch_statistics)
    apply_affine<T>(s, {dy, mean_dy, factor, x, mean, x_factor, nullptr}, dx);
  else
    apply_affine<T>(s, {dy, nullptr, factor, nullptr, nullptr, nullptr, nullptr}, dx);
}

template void batch_norm_statistics<float>(const BatchNormShape&, const float*, double, double, float*, float*, float*,
                                           float*);
template void batch_norm_statistics<double>(const BatchNormShape&, const double*, double, double, double*, double*,
                                            double*, double*);
template void batch_norm_invstd<float>(std::int64_t, const float*, double, float*);
template void batch_norm_invstd<double>(std::int64_t, const double*, double, double*);
template void batch_norm_apply<float>(const BatchNormShape&, const float*, const float*, const float*, const float*,
                                      const float*, float*);
template void batch_norm_apply<double>(const BatchNormShape&, const double*, const double*, const double*,
                                       const double*, const double*, double*);
template void batch_norm_backward<float>(const BatchNormShape&, const float*, const float*, const float*, const float*,
                                         const float*, bool, float*, float*, float*);
template void batch_norm_backward<double>(const BatchNormShape&, const double*, const double*, const double*,
                                          const double*, const double*, bool, double*, double*, double*);

}  // namespace taper::cpu_kernels
