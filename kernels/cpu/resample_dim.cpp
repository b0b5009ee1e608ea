// x [outer, in, inner] with the middle dim resampled: whole rows at a time, or, where inner is 1, elements along a
// line.
#include <taper/operator.h>
#include <taper/ops/resample_dim.h>

#include <algorithm>
#include <vector>

#include "memory_order.h"
#include "parallel.h"
#include "widen.h"

namespace taper::cpu_kernels {
void install_resample_dim();
namespace {

/// Taps in the order of memory that the loops want; places fit in 32 bits, being those of one dim.
template <class T>
struct Table {
  std::int64_t in, out;
  const std::int64_t* begins;
  std::vector<std::int32_t> places;
  std::vector<T> weights;

  explicit Table(const ResampleTaps& t)
      : in(t.in),
        out(t.out()),
        begins(t.begins.data()),
        places(t.places.begin(), t.places.end()),
        weights(t.weights.begin(), t.weights.end()) {}
};

template <class T>
void resample_row(const Table<T>& table, std::int64_t i, const T* x, std::int64_t inner, T* y) {
  const std::int64_t begin = table.begins[i], end = table.begins[i + 1];
  const auto from = [&](std::int64_t t) { return x + table.places[std::size_t(t)] * inner; };
  const auto weight = [&](std::int64_t t) { return table.weights[std::size_t(t)]; };
  if (begin == end) {
    std::fill_n(y, inner, T(0));
    return;
  }
  std::int64_t t = begin + 1;
  if (end - begin == 1) {
    const T *a = from(begin), w = weight(begin);
    for (std::int64_t j = 0; j < inner; ++j) y[j] = w * a[j];
  } else {
    const T *a = from(begin), *b = from(begin + 1), v = weight(begin), w = weight(begin + 1);
    for (std::int64_t j = 0; j < inner; ++j) y[j] = v * a[j] + w * b[j];
    t = begin + 2;
  }
  for (; t < end; ++t) {
    const T *a = from(t), w = weight(t);
    for (std::int64_t j = 0; j < inner; ++j) y[j] += w * a[j];
  }
}

/// Two taps for each entry, taken apart so that both are gathered a vector at a time. Entries of one tap are few, those
/// at samples, and computed again: a weight of 0 would not keep an infinity next to them out.
template <class T>
struct Pairs {
  std::vector<std::int32_t> low, high;
  std::vector<T> low_weight, high_weight;
  std::vector<std::int64_t> single;

  static bool fits(const Table<T>& t) {
    std::int64_t singles = 0;
    for (std::int64_t i = 0; i < t.out; ++i) {
      const std::int64_t taps = t.begins[i + 1] - t.begins[i];
      if (taps != 1 && taps != 2) return false;
      singles += taps == 1;
    }
    return 4 * singles <= t.out;
  }
  explicit Pairs(const Table<T>& t) {
    for (std::int64_t i = 0; i < t.out; ++i) {
      const auto first = std::size_t(t.begins[i]), last = std::size_t(t.begins[i + 1]) - 1;
      if (first == last) single.push_back(i);
      low.push_back(t.places[first]), high.push_back(t.places[last]);
      low_weight.push_back(t.weights[first]), high_weight.push_back(first == last ? T(0) : t.weights[last]);
    }
  }
  void resample(const T* x, T* y) const {
    const std::int32_t *a = low.data(), *b = high.data();
    const T *v = low_weight.data(), *w = high_weight.data();
    const std::int64_t n = std::int64_t(low.size());
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = v[i] * x[a[i]] + w[i] * x[b[i]];
    for (const std::int64_t i : single) y[i] = v[i] * x[a[i]];
  }
};

template <class T>
void resample_line(const Table<T>& table, const T* x, T* y) {
  for (std::int64_t i = 0; i < table.out; ++i) {
    T sum = 0;
    for (std::int64_t t = table.begins[i]; t < table.begins[i + 1]; ++t)
      sum += table.weights[std::size_t(t)] * x[table.places[std::size_t(t)]];
    y[i] = sum;
  }
}

void resample(Tensor& out, const Tensor& self, const Resampling& r) {
  if (out.numel() == 0) return;
  const Tensor x = operand_in_order("interpolate", self, MemoryFormat::contiguous);
  std::int64_t outer = 1, inner = 1;
  for (std::int64_t d = 0; d < x.dim(); ++d)
    if (d != r.dim) (d < r.dim ? outer : inner) *= x.size(d);
  dispatch_floating(x.dtype(), "interpolate", [&]<class T>(Type<T>) {
    const Table<T> table(*r.taps);
    const T* from = values_of<T>(x);
    T* to = place_of<T>(out);
    const std::int64_t n = table.out, taps = std::int64_t(table.places.size()) / n + 1;
    if (inner > 1) {
      parallel_for(0, outer * n, grain_for(inner * taps), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k)
          resample_row(table, k % n, from + k / n * table.in * inner, inner, to + k * inner);
      });
      return;
    }
    const auto lines = [&](const auto& line) {
      parallel_for(0, outer, grain_for(n * taps * 2), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) line(from + k * table.in, to + k * n);
      });
    };
    if (Pairs<T>::fits(table))
      lines([pairs = Pairs<T>(table)](const T* p, T* y) { pairs.resample(p, y); });
    else
      lines([&](const T* p, T* y) { resample_line(table, p, y); });
  });
}

}  // namespace

void install_resample_dim() { ops::resample.set_kernel(DispatchKey::CPU, kernels::widening<resample>); }

}  // namespace taper::cpu_kernels
