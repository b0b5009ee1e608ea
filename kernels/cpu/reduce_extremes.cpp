// max and min: of everything, over dimensions, with the index, the index alone.
#include <taper/operator.h>

#include <limits>
#include <type_traits>

#include "reduce.h"
#include "reduce_loops.h"
#include "vec.h"
#include "widen.h"

namespace taper::cpu_kernels {
namespace {

/// bool has no vectors; its bytes order alike.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <class T>
const Stored<T>* elements(const Tensor& t) {
  return static_cast<const Stored<T>*>(t.impl()->data());
}
template <class T>
Stored<T>* elements(Tensor& t) {
  return static_cast<Stored<T>*>(t.impl()->data());
}

/// The order that looks for a maximum, or a minimum. NaN comes before everything and stays.
template <class T, bool largest>
struct Order {
  static constexpr T last = std::is_floating_point_v<T>
                                ? (largest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity())
                                : (largest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max());
  static bool before(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      if (a != a) return b == b;
    return largest ? a > b : a < b;
  }
  /// The same without a branch.
  static bool before_flat(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return (largest ? a > b : a < b) | ((a != a) & (b == b));
    else
      return largest ? a > b : a < b;
  }
  // Once the best is NaN, no comparison is true but that of another NaN.
  static T best(T best_so_far, T v) {
    if constexpr (std::is_floating_point_v<T>)
      return (largest ? v > best_so_far : v < best_so_far) | (v != v) ? v : best_so_far;
    else
      return (largest ? v > best_so_far : v < best_so_far) ? v : best_so_far;
  }
  static Vec<T> best(const Vec<T>& best_so_far, const Vec<T>& v) {
    if constexpr (std::is_floating_point_v<T>)
      return (largest ? v > best_so_far : v < best_so_far) | (v != v) ? v : best_so_far;
    else
      return (largest ? v > best_so_far : v < best_so_far) ? v : best_so_far;
  }

  static T best_of_row(T best_so_far, const T* p, std::int64_t n, std::int64_t stride) {
    std::int64_t i = 0;
    constexpr std::int64_t lanes = kLanes<T>;
    if (stride == 1 && n >= 4 * lanes) {
      Vec<T> a0 = load(p), a1 = load(p + lanes), a2 = load(p + 2 * lanes), a3 = load(p + 3 * lanes);
      for (i = 4 * lanes; i + 4 * lanes <= n; i += 4 * lanes) {
        a0 = best(a0, load(p + i)), a1 = best(a1, load(p + i + lanes));
        a2 = best(a2, load(p + i + 2 * lanes)), a3 = best(a3, load(p + i + 3 * lanes));
      }
      const Vec<T> all = best(best(a0, a1), best(a2, a3));
      for (std::int64_t k = 0; k < lanes; ++k) best_so_far = best(best_so_far, T(all[k]));
    }
    for (; i < n; ++i) best_so_far = best(best_so_far, p[i * stride]);
    return best_so_far;
  }
};

template <class T, bool largest>
struct Extreme {
  using In = T;
  using Acc = T;
  using O = Order<T, largest>;
  T* out;

  Acc start(std::int64_t) const { return O::last; }
  Acc row(Acc acc, const T* p, std::int64_t n, std::int64_t stride, Place) const {
    return O::best_of_row(acc, p, n, stride);
  }
  void columns(Acc* acc, const T* p, std::int64_t width, std::int64_t rows, std::int64_t stride, Place) const {
    constexpr int lanes = kLanes<T>;
    for (std::int64_t r = 0; r < rows; ++r, p += stride) {
      std::int64_t j = 0;
      for (; j + lanes <= width; j += lanes) store(acc + j, O::best(load(acc + j), load(p + j)));
      for (; j < width; ++j) acc[j] = O::best(acc[j], p[j]);
    }
  }
  Acc combine(Acc a, Acc b) const { return O::best(a, b); }
  void finish(std::int64_t o, Acc acc) const { out[o] = acc; }
};

/// The best value and the first place it stands at.
template <class T>
struct Found {
  T value;
  std::int64_t index;  // -1 before the first
};

/// `values` may be null.
template <class T, bool largest>
struct IndexedExtreme {
  using In = T;
  using Acc = Found<T>;
  using O = Order<T, largest>;
  T* values;
  std::int64_t* indices;

  static void take(Acc& acc, T v, std::int64_t index) {
    if (acc.index < 0 || O::before(v, acc.value)) acc = {v, index};
  }
  Acc start(std::int64_t) const { return {O::last, -1}; }
  Acc row(Acc acc, const T* p, std::int64_t n, std::int64_t stride, Place at) const {
    constexpr std::int64_t block = 1024;  // its best value is found first, then where it stands
    for (std::int64_t begin = 0; begin < n; begin += block) {
      const std::int64_t end = std::min(begin + block, n);
      if (end - begin <= 4 * kLanes<T>) {
        for (std::int64_t i = begin; i < end; ++i) take(acc, p[i * stride], at.position + i);
        continue;
      }
      const T best = O::best_of_row(O::last, p + begin * stride, end - begin, stride);
      if (acc.index >= 0 && !O::before(best, acc.value)) continue;
      std::int64_t i = begin;
      while (p[i * stride] != best && (best == best || p[i * stride] == p[i * stride])) ++i;
      acc = {best, at.position + i};
    }
    return acc;
  }
  void columns(Acc* acc, const T* p, std::int64_t width, std::int64_t rows, std::int64_t stride, Place at) const {
    // Values and row numbers of the same size in arrays of their own, which the compiler can make vectors of.
    using Row = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    constexpr std::int64_t block = std::int64_t(1) << 30;
    T best[reduce_detail::kTile];
    Row best_row[reduce_detail::kTile];
    for (std::int64_t begin = 0; begin < rows; begin += block) {
      const T* first = p + begin * stride;
      std::copy(first, first + width, best);
      std::fill(best_row, best_row + width, Row(0));
      for (Row r = 1; r < std::min(block, rows - begin); ++r) {
        const T* row = first + r * stride;
        for (std::int64_t j = 0; j < width; ++j) {
          const bool better = O::before_flat(row[j], best[j]);
          best[j] = better ? row[j] : best[j];
          best_row[j] = better ? r : best_row[j];
        }
      }
      for (std::int64_t j = 0; j < width; ++j) take(acc[j], best[j], at.position + begin + best_row[j]);
    }
  }
  Acc combine(Acc a, Acc b) const { return b.index >= 0 && O::before(b.value, a.value) ? b : a; }
  void finish(std::int64_t o, const Acc& acc) const {
    if (values) values[o] = acc.value;
    indices[o] = acc.index;
  }
};

template <bool largest>
void extreme(Tensor& out, const Tensor& x, const ops::Reduced& r) {
  dispatch_computed(x.dtype(), [&]<class T>(Type<T>) {
    reduce(Extreme<Stored<T>, largest>{elements<T>(out)}, plan_reduction(x, r), elements<T>(x));
  });
}

template <bool largest>
void extreme_and_index(std::array<Tensor, 2>& out, const Tensor& x, const ops::Reduced& r) {
  dispatch_computed(x.dtype(), [&]<class T>(Type<T>) {
    reduce(IndexedExtreme<Stored<T>, largest>{elements<T>(out[0]), elements<std::int64_t>(out[1])},
           plan_reduction(x, r, true), elements<T>(x));
  });
}

template <bool largest>
void index_of_extreme(Tensor& out, const Tensor& x, const ops::Reduced& r) {
  dispatch_computed(x.dtype(), [&]<class T>(Type<T>) {
    reduce(IndexedExtreme<Stored<T>, largest>{nullptr, elements<std::int64_t>(out)}, plan_reduction(x, r, true),
           elements<T>(x));
  });
}

}  // namespace

void install_reduce_extremes() {
  ops::max.set_kernel(DispatchKey::CPU, kernels::widening<extreme<true>>);
  ops::min.set_kernel(DispatchKey::CPU, kernels::widening<extreme<false>>);
  ops::amax.set_kernel(DispatchKey::CPU, kernels::widening<extreme<true>>);
  ops::amin.set_kernel(DispatchKey::CPU, kernels::widening<extreme<false>>);
  ops::argmax.set_kernel(DispatchKey::CPU, kernels::widening<index_of_extreme<true>>);
  ops::argmin.set_kernel(DispatchKey::CPU, kernels::widening<index_of_extreme<false>>);
  ops::max_dim.set_kernel(DispatchKey::CPU, kernels::widening<extreme_and_index<true>>);
  ops::min_dim.set_kernel(DispatchKey::CPU, kernels::widening<extreme_and_index<false>>);
}

}  // namespace taper::cpu_kernels
