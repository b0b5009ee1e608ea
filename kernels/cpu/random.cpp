// Filling tensors with random numbers, and dropout. Elements are made in row-major order, a buffer at a time, whatever
// the strides.
#include <taper/operator.h>
#include <taper/ops/dropout.h>
#include <taper/random.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "next_below.h"
#include "parallel.h"
#include "philox_words.h"
#include "strided.h"
#include "strided_rows.h"
#include "widen.h"

namespace taper::cpu_kernels {
void install_random();
namespace {

constexpr std::int64_t kGrain = 16 * Words::kMost;

/// The elements of a tensor of any strides, addressed in row-major order.
template <class T>
class Elements {
 public:
  explicit Elements(const Tensor& t)
      : first_(static_cast<T*>(t.impl()->data())), is_dense_(t.is_contiguous()), rows_(t.sizes(), {t.strides()}) {}

  /// Where elements from `begin` on can be read or written directly; null if they are not in sequence.
  T* direct(std::int64_t begin) const { return is_dense_ ? first_ + begin : nullptr; }
  void read(std::int64_t begin, std::int64_t n, T* to) const {
    walk(begin, n, [&](T* p, std::int64_t step, std::int64_t m) {
      for (std::int64_t i = 0; i < m; ++i) *to++ = p[i * step];
    });
  }
  void write(std::int64_t begin, std::int64_t n, const T* from) const {
    walk(begin, n, [&](T* p, std::int64_t step, std::int64_t m) {
      for (std::int64_t i = 0; i < m; ++i) p[i * step] = *from++;
    });
  }

 private:
  template <class F>
  void walk(std::int64_t begin, std::int64_t n, F&& f) const {
    const std::int64_t length = rows_.row_length(), end = begin + n;
    std::int64_t at = begin;
    rows_.for_each_row(begin / length, (end - 1) / length + 1, [&](const auto& offset) {
      const std::int64_t column = at % length, m = std::min(length - column, end - at);
      f(first_ + offset[0] + column * rows_.steps()[0], rows_.steps()[0], m);
      at += m;
    });
  }

  T* first_;
  bool is_dense_;
  StridedRows<1> rows_;
};

/// Calls f(begin, n) for pieces of [0, numel), n at most Words::kMost, begin a multiple of it; several at a time.
template <class F>
void for_pieces(std::int64_t numel, F&& f) {
  parallel_for(0, numel, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += Words::kMost) f(i, std::min(Words::kMost, end - i));
  });
}

/// Runs kernel(t) on `out`, or on a tensor of dtype `made` whose values `out` gets.
template <class F>
void with_dtype(Tensor& out, DType made, F&& kernel) {
  if (out.dtype() == made) return kernel(out);
  Tensor t = empty(TensorSpec::contiguous(out.sizes(), made, out.device()));
  kernel(t);
  taper::detail::copy_into(out, t);
}

enum class Bits { narrow, wide };

/// out[i] = make(words)[i]: make(words, to, n) turns the words of n elements into values.
template <class T, class F>
void fill(Tensor& out, RandomStream s, Bits bits, const F& make) {
  const Elements<T> elements(out);
  for_pieces(out.numel(), [&](std::int64_t begin, std::int64_t n) {
    Words words;
    words.make_high(s, begin, n);
    if (bits == Bits::wide) words.make_low(s, begin, n);
    if (T* to = elements.direct(begin)) return make(words, to, n);
    T values[Words::kMost];
    make(words, values, n);
    elements.write(begin, n, values);
  });
}

template <class T>
constexpr Bits bits_of = sizeof(T) == 8 ? Bits::wide : Bits::narrow;
/// The bits that element i's number of type T is made from.
template <class T>
auto bits_for(const Words& w, std::int64_t i) {
  if constexpr (sizeof(T) == 8)
    return w.joined(i);
  else
    return w.high[i];
}

// ---- Floating numbers ----

void uniform(Tensor& out, const Tensor& self, const double& from, const double& to, const RandomStream& s) {
  with_dtype(out, compute_dtype(self.dtype()), [&](Tensor& t) {
    dispatch_floating(compute_dtype(self.dtype()), "uniform_", [&]<class T>(Type<T>) {
      const T low = T(from), width = T(to - from);
      // Rounding can reach `to`, which does not belong to the range.
      const T high = from < to ? std::max(low, kernels::next_below(self.dtype(), T(to))) : low;
      fill<T>(t, s, bits_of<T>, [&](const Words& w, T* p, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
          const T v = std::fma(philox::uniform(bits_for<T>(w, i)), width, low);
          p[i] = v < high ? v : high;
        }
      });
    });
  });
}

void normal(Tensor& out, const Tensor& self, const double& mean, const double& std, const RandomStream& s) {
  with_dtype(out, compute_dtype(self.dtype()), [&](Tensor& t) {
    dispatch_floating(compute_dtype(self.dtype()), "normal_", [&]<class T>(Type<T>) {
      const T shift = T(mean), scale = T(std);
      fill<T>(t, s, bits_of<T>, [&](const Words& w, T* p, std::int64_t n) {
        for (std::int64_t i = 0; i + 1 < n; i += 2) {
          const auto v = philox::normal_pair(bits_for<T>(w, i), bits_for<T>(w, i + 1));
          p[i] = std::fma(v.cos, scale, shift);
          p[i + 1] = std::fma(v.sin, scale, shift);
        }
        if (n % 2 == 1)
          p[n - 1] = std::fma(philox::normal_pair(bits_for<T>(w, n - 1), bits_for<T>(w, n)).cos, scale, shift);
      });
    });
  });
}

void exponential(Tensor& out, const Tensor& self, const double& lambd, const RandomStream& s) {
  with_dtype(out, compute_dtype(self.dtype()), [&](Tensor& t) {
    dispatch_floating(compute_dtype(self.dtype()), "exponential_", [&]<class T>(Type<T>) {
      const T mean = T(1 / lambd);
      fill<T>(t, s, bits_of<T>, [&](const Words& w, T* p, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) p[i] = philox::exponential(bits_for<T>(w, i)) * mean;
      });
    });
  });
}

// ---- Integers ----

void random(Tensor& out, const Tensor& self, const std::int64_t& from, const std::int64_t& to, const RandomStream& s) {
  const std::uint64_t range = std::uint64_t(to) - std::uint64_t(from);
  with_dtype(out, compute_dtype(self.dtype()), [&](Tensor& t) {
    dispatch_computed(self.dtype(), [&]<class T>(Type<T>) {
      const auto value = [&](std::uint64_t v) { return T(std::int64_t(std::uint64_t(from) + v)); };
      if (range <= philox::kNarrowRange)
        fill<T>(t, s, Bits::narrow, [&](const Words& w, T* p, std::int64_t n) {
          for (std::int64_t i = 0; i < n; ++i) p[i] = value(philox::below(w.high[i], range));
        });
      else
        fill<T>(t, s, Bits::wide, [&](const Words& w, T* p, std::int64_t n) {
          for (std::int64_t i = 0; i < n; ++i) p[i] = value(philox::below(w.joined(i), range));
        });
    });
  });
}

void permutation(Tensor& out, const Tensor&, const RandomStream& s) {
  auto* p = static_cast<std::int64_t*>(out.impl()->data());
  Words words;
  // Fisher and Yates, growing: element i goes to a random place among the first i + 1, whose element moves to the end.
  for (std::int64_t begin = 0; begin < out.numel(); begin += Words::kMost) {
    const std::int64_t n = std::min(Words::kMost, out.numel() - begin);
    words.make_high(s, begin, n);
    words.make_low(s, begin, n);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t last = begin + i;
      const auto j = std::int64_t(philox::below(words.joined(i), std::uint64_t(last) + 1));
      p[last] = p[j];
      p[j] = last;
    }
  }
}

// ---- Events ----

/// An event of a fixed probability.
struct Event {
  explicit Event(double p) : never(philox::threshold(p) == 0), last(std::uint32_t(philox::threshold(p) - !never)) {}
  bool never;
  std::uint32_t last;  // the largest word for which it happens
};

void bernoulli_fill(Tensor& out, const Tensor& self, const double& p, const RandomStream& s) {
  const Event event(p);
  with_dtype(out, compute_dtype(self.dtype()), [&](Tensor& t) {
    dispatch_computed(self.dtype(), [&]<class T>(Type<T>) {
      fill<T>(t, s, Bits::narrow, [event](const Words& w, T* to, std::int64_t n) {
        const std::uint32_t last = event.last, possible = !event.never;
        for (std::int64_t i = 0; i < n; ++i) to[i] = T(std::uint32_t(w.high[i] <= last) & possible);
      });
    });
  });
}

/// Calls f(words, from, to, n) for pieces of two tensors of one shape and dtype.
template <class T, class F>
void transform(Tensor& out, const Tensor& x, RandomStream s, const F& f) {
  const Elements<T> source(x), destination(out);
  for_pieces(out.numel(), [&](std::int64_t begin, std::int64_t n) {
    Words words;
    words.make_high(s, begin, n);
    T read[Words::kMost], made[Words::kMost];
    const T* from = source.direct(begin);
    if (!from) {
      source.read(begin, n, read);
      from = read;
    }
    if (T* to = destination.direct(begin)) return f(words, from, to, n);
    f(words, from, made, n);
    destination.write(begin, n, made);
  });
}

void bernoulli(Tensor& out, const Tensor& p, const RandomStream& s) {
  dispatch_floating(p.dtype(), "bernoulli", [&]<class T>(Type<T>) {
    transform<T>(out, p, s, [&](const Words& w, const T* from, T* to, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) {
        check<ValueError>(from[i] >= 0 && from[i] <= 1, "bernoulli: p (", p.spec(),
                          ") holds probabilities from 0 to 1, one of them is ", double(from[i]));
        to[i] = T(w.high[i] < philox::threshold(double(from[i])));
      }
    });
  });
}

void dropout(Tensor& out, const Tensor& x, const double& p, const RandomStream& s) {
  const Event keep(1 - p);
  with_dtype(out, x.dtype(), [&](Tensor& t) {
    dispatch_floating(x.dtype(), "dropout", [&]<class T>(Type<T>) {
      const T scale = keep.never ? T(0) : T(1 / (1 - p));
      transform<T>(t, x, s, [keep, scale](const Words& w, const T* from, T* to, std::int64_t n) {
        const std::uint32_t last = keep.last;
        // Products, not choices: infinity and NaN do not vanish, and no branch waits for random bits.
        TAPER_INDEPENDENT
        for (std::int64_t i = 0; i < n; ++i) to[i] = from[i] * (scale * T(std::int32_t(w.high[i] <= last)));
      });
    });
  });
}

}  // namespace

void install_random() {
  ops::uniform.set_kernel(DispatchKey::CPU, uniform);
  ops::normal.set_kernel(DispatchKey::CPU, normal);
  ops::exponential.set_kernel(DispatchKey::CPU, exponential);
  ops::random.set_kernel(DispatchKey::CPU, random);
  ops::permutation.set_kernel(DispatchKey::CPU, permutation);
  ops::bernoulli_fill.set_kernel(DispatchKey::CPU, bernoulli_fill);
  ops::bernoulli.set_kernel(DispatchKey::CPU, kernels::widening<bernoulli>);
  ops::dropout.set_kernel(DispatchKey::CPU, kernels::widening<dropout>);
}

}  // namespace taper::cpu_kernels
