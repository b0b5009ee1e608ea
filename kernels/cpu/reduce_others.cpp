// all, any, count_nonzero, prod, logsumexp, and the operators behind the gradients of max and prod.
#include <taper/operator.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "reduce.h"
#include "reduce_loops.h"
#include "reduce_sum.h"
#include "softmax_lines.h"
#include "widen.h"

namespace taper::cpu_kernels {
namespace {

template <class T>
const T* elements(const Tensor& t) {
  return static_cast<const T*>(t.impl()->data());
}
template <class T>
T* elements(Tensor& t) {
  return static_cast<T*>(t.impl()->data());
}

/// Whether all (identity true) or any (identity false) elements are nonzero.
template <class T, bool identity>
struct Truth {
  using In = T;
  using Acc = std::uint8_t;
  std::uint8_t* out;  // bool or uint8

  Acc start(std::int64_t) const { return identity; }
  Acc row(Acc acc, const T* p, std::int64_t n, std::int64_t stride, Place) const {
    constexpr std::int64_t block = 512;  // searched without a branch, then the answer may be known
    for (std::int64_t begin = 0; begin < n && acc == identity; begin += block) {
      const std::int64_t end = std::min(begin + block, n);
      bool found = false;
      for (std::int64_t i = begin; i < end; ++i) found |= (p[i * stride] != T(0)) != identity;
      if (found) acc = !identity;
    }
    return acc;
  }
  void columns(Acc* acc, const T* p, std::int64_t width, std::int64_t rows, std::int64_t stride, Place) const {
    for (std::int64_t r = 0; r < rows; ++r, p += stride)
      for (std::int64_t j = 0; j < width; ++j) {
        const Acc v = p[j] != T(0);
        acc[j] = identity ? acc[j] & v : acc[j] | v;
      }
  }
  Acc combine(Acc a, Acc b) const { return identity ? a & b : a | b; }
  void finish(std::int64_t o, Acc acc) const { out[o] = acc; }
};

template <bool identity>
void truth(Tensor& out, const Tensor& x, const ops::Reduced& r) {
  dispatch_computed(x.dtype(), [&]<class T>(Type<T>) {
    auto* result = static_cast<std::uint8_t*>(out.impl()->data());
    reduce(Truth<T, identity>{result}, plan_reduction(x, r), elements<T>(x));
  });
}

template <class T>
struct Count {
  using In = T;
  using Acc = std::int64_t;
  std::int64_t* out;

  Acc start(std::int64_t) const { return 0; }
  Acc row(Acc acc, const T* p, std::int64_t n, std::int64_t stride, Place) const {
    for (std::int64_t i = 0; i < n; ++i) acc += p[i * stride] != T(0);
    return acc;
  }
  void columns(Acc* acc, const T* p, std::int64_t width, std::int64_t rows, std::int64_t stride, Place) const {
    for (std::int64_t r = 0; r < rows; ++r, p += stride)
      for (std::int64_t j = 0; j < width; ++j) acc[j] += p[j] != T(0);
  }
  Acc combine(Acc a, Acc b) const { return a + b; }
  void finish(std::int64_t o, Acc acc) const { out[o] = acc; }
};

void count_nonzero(Tensor& out, const Tensor& x, const ops::Reduced& r) {
  dispatch_computed(x.dtype(), [&]<class T>(Type<T>) {
    reduce(Count<T>{elements<std::int64_t>(out)}, plan_reduction(x, r), elements<T>(x));
  });
}

/// Integers wrap around, as those of a sum do.
template <class T>
struct Product {
  using In = T;
  using Acc = SumAcc<T>;
  using Out = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;
  Out* out;

  Acc start(std::int64_t) const { return 1; }
  Acc row(Acc acc, const T* p, std::int64_t n, std::int64_t stride, Place) const {
    for (std::int64_t i = 0; i < n; ++i) acc *= Acc(p[i * stride]);
    return acc;
  }
  void columns(Acc* acc, const T* p, std::int64_t width, std::int64_t rows, std::int64_t stride, Place) const {
    for (std::int64_t r = 0; r < rows; ++r, p += stride)
      for (std::int64_t j = 0; j < width; ++j) acc[j] *= Acc(p[j]);
  }
  Acc combine(Acc a, Acc b) const { return a * b; }
  void finish(std::int64_t o, Acc acc) const { out[o] = Out(acc); }
};

void prod(Tensor& out, const Tensor& x, const ops::Reduced& r) {
  dispatch_computed(x.dtype(), [&]<class T>(Type<T>) {
    reduce(Product<T>{elements<typename Product<T>::Out>(out)}, plan_reduction(x, r), elements<T>(x));
  });
}

/// log of a sum of exponentials, all seen relative to the largest so far.
struct LogSum {
  double max, sum;
};
template <class T>
struct LogSumExp {
  using In = T;
  using Acc = LogSum;
  T* out;

  static void add(Acc& acc, double v) {
    if (v == acc.max) {  // also infinities, whose difference would be NaN
      acc.sum += 1;
    } else if (v < acc.max) {
      acc.sum += std::exp(v - acc.max);
    } else {  // NaN too
      acc.sum = acc.sum * std::exp(acc.max - v) + 1;
      acc.max = v;
    }
  }
  Acc start(std::int64_t) const { return {-std::numeric_limits<double>::infinity(), 0}; }
  Acc row(Acc acc, const T* p, std::int64_t n, std::int64_t stride, Place) const {
    if (stride == 1 && n > 1) {
      const T best = row_max(p, n);
      if (!std::isinf(best)) return combine(acc, {double(best), sum_exp<false>(out, p, n, best)});
    }
    for (std::int64_t i = 0; i < n; ++i) add(acc, double(p[i * stride]));
    return acc;
  }
  void columns(Acc* acc, const T* p, std::int64_t width, std::int64_t rows, std::int64_t stride, Place) const {
    for (std::int64_t first = 0; first < width; first += kColumns) {
      const std::int64_t count = std::min(kColumns, width - first);
      T best[kColumns];
      double sum[kColumns];
      max_and_sum_of_columns(p + first, rows, stride, count, best, sum);
      for (std::int64_t j = 0; j < count; ++j) {
        if (!std::isinf(best[j]) && !std::isnan(sum[j])) {
          acc[first + j] = combine(acc[first + j], {double(best[j]), sum[j]});
          continue;
        }
        for (std::int64_t r = 0; r < rows; ++r) add(acc[first + j], double(p[first + j + r * stride]));
      }
    }
  }
  Acc combine(Acc a, const Acc& b) const {
    if (b.sum == 0) return a;
    if (a.sum == 0) return b;
    if (a.max == b.max) return {a.max, a.sum + b.sum};
    if (a.max > b.max) return {a.max, a.sum + b.sum * std::exp(b.max - a.max)};
    return {b.max, b.sum + a.sum * std::exp(a.max - b.max)};
  }
  void finish(std::int64_t o, const Acc& acc) const { out[o] = T(acc.max + std::log(acc.sum)); }
};

void logsumexp(Tensor& out, const Tensor& x, const ops::Reduced& r) {
  dispatch_floating(x.dtype(), "logsumexp", [&]<class T>(Type<T>) {
    reduce(LogSumExp<T>{elements<T>(out)}, plan_reduction(x, r), elements<T>(x));
  });
}

/// Calls f(offset in a, in b, in c) for every element of b; a and c have its sizes or, along one dimension, more.
template <class F>
void walk_together(const Tensor& a, const Tensor& b, const Tensor& c, const F& f) {
  const IntSpan sizes = b.sizes();
  SmallVector<std::int64_t, 6> counter(sizes.size());
  for (std::int64_t i = 0, n = b.numel(); i < n; ++i) {
    std::int64_t at_a = 0, at_b = 0, at_c = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      at_a += counter[d] * a.strides()[d], at_b += counter[d] * b.strides()[d];
      at_c += counter[d] * c.strides()[d];
    }
    f(at_a, at_b, at_c);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      if (++counter[d] < sizes[d]) break;
      counter[d] = 0;
    }
  }
}

void place_along(Tensor& out, const Tensor& g, const Tensor& index, const std::int64_t& dim, const std::int64_t&) {
  std::memset(out.impl()->data(), 0, out.nbytes());
  const std::int64_t step = out.stride(dim);
  const std::int64_t* places = elements<std::int64_t>(index);
  dispatch_computed(g.dtype(), [&]<class T>(Type<T>) {
    T* y = elements<T>(out);
    const T* values = elements<T>(g);
    walk_together(out, index, g,
                  [&](std::int64_t o, std::int64_t i, std::int64_t v) { y[o + places[i] * step] = values[v]; });
  });
}

void take_along(Tensor& out, const Tensor& x, const Tensor& index, const std::int64_t& dim) {
  const std::int64_t step = x.stride(dim);
  const std::int64_t* places = elements<std::int64_t>(index);
  dispatch_computed(x.dtype(), [&]<class T>(Type<T>) {
    T* y = elements<T>(out);
    const T* values = elements<T>(x);
    walk_together(out, index, x,
                  [&](std::int64_t o, std::int64_t i, std::int64_t v) { y[o] = values[v + places[i] * step]; });
  });
}

/// Products from the left and from the right meet at each element: no division, so zeros are no special case.
void prod_of_others(Tensor& out, const Tensor& x, const ops::Reduced& r) {
  dispatch_floating(x.dtype(), "prod", [&]<class T>(Type<T>) {
    const ReducePlan from = plan_reduction(x, r, true);
    ReducePlan to = plan_reduction(out, r, true);
    const T* p = elements<T>(x);
    T* y = elements<T>(out);
    // Dimensions may merge differently on the two sides, so both are walked element by element.
    const std::int64_t n = from.per_result;
    const Scratch<double> left(n);
    const auto offset = [](const ReduceLoops& loops, std::int64_t i) {
      return reduce_detail::Odometer(loops.data(), loops.size(), i).offset();
    };
    const IntSpan sizes = x.sizes();
    for (std::int64_t o = 0; o < from.results; ++o) {
      std::int64_t base_x = 0, base_y = 0, rest = o;
      for (std::size_t d = sizes.size(); d-- > 0;) {
        if (r.dims >> d & 1) continue;
        base_x += rest % sizes[d] * x.strides()[d], base_y += rest % sizes[d] * out.strides()[d];
        rest /= sizes[d];
      }
      double product = 1;
      for (std::int64_t i = 0; i < n; ++i) {
        left[i] = product;
        product *= double(p[base_x + offset(from.reduced, i)]);
      }
      product = 1;
      for (std::int64_t i = n; i-- > 0;) {
        y[base_y + offset(to.reduced, i)] = T(left[i] * product);
        product *= double(p[base_x + offset(from.reduced, i)]);
      }
    }
  });
}

}  // namespace

void install_reduce_others() {
  ops::all.set_kernel(DispatchKey::CPU, kernels::widening<truth<true>>);
  ops::any.set_kernel(DispatchKey::CPU, kernels::widening<truth<false>>);
  ops::count_nonzero.set_kernel(DispatchKey::CPU, kernels::widening<count_nonzero>);
  ops::prod.set_kernel(DispatchKey::CPU, kernels::widening<prod>);
  ops::logsumexp.set_kernel(DispatchKey::CPU, kernels::widening<logsumexp>);
  ops::place_along.set_kernel(DispatchKey::CPU, kernels::widening<place_along>);
  ops::take_along.set_kernel(DispatchKey::CPU, kernels::widening<take_along>);
  ops::prod_of_others.set_kernel(DispatchKey::CPU, kernels::widening<prod_of_others>);
}

}  // namespace taper::cpu_kernels
