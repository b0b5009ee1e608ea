// Sorting and choosing along a dim. Elements become unsigned keys in the wanted order, with their positions; long lines
// of them are sorted by their digits, short ones and parts by comparisons.
#include <taper/operator.h>
#include <taper/ops/sort.h>
#include <taper/ops/view.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>

#include "copy.h"
#include "elements.h"
#include "lines.h"
#include "parallel.h"
#include "scratch.h"
#include "widen.h"

namespace taper::cpu_kernels {
void install_sort();
namespace {

template <class T>
using KeyOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// Ascends with x; equal exactly where elements are equal, all NaN being one.
template <class T>
KeyOf<T> key_of(T x) {
  using K = KeyOf<T>;
  constexpr K kSign = K(1) << (sizeof(K) * 8 - 1);
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return ~K(0);
    const T plain = x == 0 ? T(0) : x;
    K bits;
    std::memcpy(&bits, &plain, sizeof bits);
    return bits & kSign ? ~bits : bits | kSign;
  } else if constexpr (std::is_signed_v<T>) {
    return K(std::make_signed_t<K>(x)) ^ kSign;  // extended by its sign
  } else {
    return K(x);
  }
}

template <class K>
struct Entry {
  K key;
  K place;
  bool operator<(const Entry& o) const { return key != o.key ? key < o.key : place < o.place; }
};

/// Stable, by eleven bits at a time from the lowest on; digits that all keys share are passed over.
template <class K>
void sort_by_digits(Entry<K>* entries, Entry<K>* spare, std::int64_t n) {
  constexpr int kBits = 11, kDigits = (int(sizeof(K)) * 8 + kBits - 1) / kBits;
  constexpr std::size_t kBuckets = std::size_t(1) << kBits;
  const auto digit = [](K key, int d) { return std::size_t(key >> (d * kBits)) & (kBuckets - 1); };
  const Scratch<std::int64_t> counts(std::int64_t(kDigits * kBuckets));
  std::fill_n(counts + 0, kDigits * kBuckets, 0);
  for (std::int64_t i = 0; i < n; ++i)
    for (int d = 0; d < kDigits; ++d) ++counts[std::int64_t(std::size_t(d) * kBuckets + digit(entries[i].key, d))];
  Entry<K>*from = entries, *to = spare;
  for (int d = 0; d < kDigits; ++d) {
    std::int64_t* const at = counts + std::int64_t(std::size_t(d) * kBuckets);
    if (at[digit(from[0].key, d)] == n) continue;
    std::int64_t sum = 0;
    for (std::size_t b = 0; b < kBuckets; ++b) sum += std::exchange(at[b], sum);
    for (std::int64_t i = 0; i < n; ++i) to[at[digit(from[i].key, d)]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries) std::copy_n(from, n, entries);
}

template <class K>
void sort_entries(Entry<K>* entries, Entry<K>* spare, std::int64_t n) {
  if (n < 1024)
    std::sort(entries, entries + n);
  else
    sort_by_digits(entries, spare, n);
}

/// Calls choose(entries, spare, n) for the entries of every line of x and writes those from `first` on, as many as out
/// has in dim. `descending`: in keys that are turned over.
template <class Choose>
void choose_along(std::array<Tensor, 2>& out, const Tensor& x, std::int64_t dim, bool descending, std::int64_t first,
                  Choose choose) {
  if (out[0].numel() == 0) return;
  if (x.dim() > 1 && x.wrapped_dim(dim) + 1 != std::size_t(x.dim())) {
    // Elements of a line lie apart: turned around, each line is together in memory.
    const auto turned = [&](const Tensor& t) {
      return ops::transpose.below_autograd(t, t.wrapped_dim(dim), t.dim() - 1);
    };
    const auto like = [&](const Tensor& t) { return empty(TensorSpec::contiguous(turned(t).sizes(), t.dtype(), cpu)); };
    const Tensor lines = like(x);
    copy_elements(lines, turned(x));
    std::array<Tensor, 2> chosen{like(out[0]), like(out[1])};
    choose_along(chosen, lines, -1, descending, first, choose);
    for (std::size_t i = 0; i < 2; ++i) copy_elements(turned(out[i]), chosen[i]);
    return;
  }
  // out differs from x in the length of dim only, and a line of x is where its line of out is.
  const Lines<3> lines(dim, {x, out[0], out[1]});
  const std::int64_t n = lines.length(), written = out[0].dim() == 0 ? 1 : out[0].size(dim);
  dispatch_computed(x.dtype(), [&]<class T>(Type<T>) {
    using K = KeyOf<T>;
    const T* const from = first_of<const T>(x);
    T* const values = first_of<T>(out[0]);
    std::int64_t* const places = first_of<std::int64_t>(out[1]);
    parallel_for(0, lines.count(), grain_for(n * 16), [&](std::int64_t begin, std::int64_t end) {
      const Scratch<Entry<K>> entries(n), spare(n);
      lines.for_each(begin, end, [&](const auto& at) {
        const T* const line = from + at[0];
        for (std::int64_t i = 0; i < n; ++i) {
          const K key = key_of(line[i * lines.step(0)]);
          entries[i] = {descending ? K(~key) : key, K(i)};
        }
        choose(entries + 0, spare + 0, n);
        for (std::int64_t i = 0; i < written; ++i) {
          const std::int64_t place = std::int64_t(entries[first + i].place);
          values[at[1] + i * lines.step(1)] = line[place * lines.step(0)];
          places[at[2] + i * lines.step(2)] = place;
        }
      });
    });
  });
}

void sort(std::array<Tensor, 2>& out, const Tensor& x, const std::int64_t& dim, const bool& descending) {
  choose_along(out, x, dim, descending, 0,
               [](auto* entries, auto* spare, std::int64_t n) { sort_entries(entries, spare, n); });
}
/// Brings the k smallest to the front in order; for a k so small that few of the others get past the k-th.
template <class K>
void choose_few(Entry<K>* entries, std::int64_t k, std::int64_t n) {
  constexpr std::int64_t kBlock = 16;
  std::sort(entries, entries + k);
  std::int64_t i = k;
  while (i < n) {
    // Places ascend, so an equal key comes too late.
    const K last = entries[k - 1].key;
    if (i + kBlock <= n) {
      int any = 0;
      for (std::int64_t j = 0; j < kBlock; ++j) any |= entries[i + j].key < last;
      if (!any) {
        i += kBlock;
        continue;
      }
    }
    for (const std::int64_t end = std::min(n, i + kBlock); i < end; ++i) {
      const Entry<K> e = entries[i];
      if (e.key >= entries[k - 1].key) continue;
      std::int64_t at = k - 1;
      for (; at > 0 && e.key < entries[at - 1].key; --at) entries[at] = entries[at - 1];
      entries[at] = e;
    }
  }
}

void topk(std::array<Tensor, 2>& out, const Tensor& x, const std::int64_t& dim, const std::int64_t& k,
          const bool& largest) {
  constexpr std::int64_t kFew = 32;
  choose_along(out, x, dim, largest, 0, [&](auto* entries, auto* spare, std::int64_t n) {
    if (k == 0) return;
    if (k <= kFew && 8 * k <= n) return choose_few(entries, k, n);
    if (k < n) std::nth_element(entries, entries + k, entries + n);
    if (k < n)
      std::sort(entries, entries + k);
    else
      sort_entries(entries, spare, n);
  });
}
void kthvalue(std::array<Tensor, 2>& out, const Tensor& x, const std::int64_t& dim, const std::int64_t& k) {
  choose_along(out, x, dim, false, k - 1, [&](auto* entries, auto*, std::int64_t n) {
    std::nth_element(entries, entries + (k - 1), entries + n);
  });
}
/// The middle; but the first NaN, whose key is the highest, if there is one.
void median(std::array<Tensor, 2>& out, const Tensor& x, const std::int64_t& dim) {
  const std::int64_t middle = x.dim() == 0 ? 0 : (x.size(dim) - 1) / 2;
  const bool may_be_nan = is_floating(x.dtype());
  choose_along(out, x, dim, false, middle, [&](auto* entries, auto*, std::int64_t n) {
    const auto is_nan = [](const auto& e) { return e.key == decltype(e.key)(-1); };
    if (may_be_nan)
      if (auto* nan = std::find_if(entries, entries + n, is_nan); nan != entries + n)
        return std::swap(*nan, entries[middle]);
    std::nth_element(entries, entries + middle, entries + n);
  });
}

void searchsorted(Tensor& out, const Tensor& sequence, const Tensor& values, const bool& out_int32, const bool& right) {
  if (out.numel() == 0) return;
  const std::int64_t n = sequence.size(-1), step = sequence.stride(-1);
  // Where the sequence of each value begins: steps along the dims that the two share.
  IntVec strides(std::size_t(values.dim()), 0);
  if (sequence.dim() > 1)
    for (int d = 0; d + 1 < sequence.dim(); ++d) strides[std::size_t(d)] = sequence.stride(d);
  const StridedRows<3> rows(values.sizes(), {out.strides(), values.strides(), IntSpan(strides)});
  const std::int64_t count = rows.row_length();
  dispatch_computed(values.dtype(), [&]<class T>(Type<T>) {
    const T *const all = first_of<const T>(sequence), *const from = first_of<const T>(values);
    const auto place_of = [&](const T* line, T v) {
      std::int64_t low = 0, high = n;
      while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        const T m = line[middle * step];
        // NaN belongs at the end.
        if (right ? !(m > v) : !(m >= v))
          low = middle + 1;
        else
          high = middle;
      }
      return low;
    };
    parallel_for(0, rows.rows(), grain_for(count * 16), [&](std::int64_t begin, std::int64_t end) {
      rows.for_each_row(begin, end, [&](const auto& at) {
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t place = place_of(all + at[2] + i * rows.steps()[2], from[at[1] + i * rows.steps()[1]]);
          const std::int64_t to = at[0] + i * rows.steps()[0];
          if (out_int32)
            first_of<std::int32_t>(out)[to] = std::int32_t(place);
          else
            first_of<std::int64_t>(out)[to] = place;
        }
      });
    });
  });
}

}  // namespace

void install_sort() {
  constexpr DispatchKey key = DispatchKey::CPU;
  ops::sort.set_kernel(key, kernels::widening<sort>);
  ops::topk.set_kernel(key, kernels::widening<topk>);
  ops::kthvalue.set_kernel(key, kernels::widening<kthvalue>);
  ops::median.set_kernel(key, kernels::widening<median>);
  ops::searchsorted.set_kernel(key, kernels::widening<searchsorted>);
}

}  // namespace taper::cpu_kernels
