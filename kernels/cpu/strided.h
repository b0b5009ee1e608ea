#pragma once
// The one way to walk tensors of any strides together: broadcast, reorder and merge dimensions, split among threads,
// and hand rows to a loop that knows the element types.
//
// What depends on the types is only the innermost loop (a RowLoop); everything around it is compiled once.
#include <taper/small_vector.h>
#include <taper/tensor.h>

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "parallel.h"

namespace taper::cpu_kernels {

/// Handles `rows` rows of n elements. p[k] is operand k's first element; step[k] and row_step[k] lead to its next
/// element and its next row, in bytes. Operand 0 is written. `functor` is the element function; null if it has no
/// state.
using RowLoop = void (*)(const void* functor, char* const* p, const std::int64_t* step, const std::int64_t* row_step,
                         std::int64_t n, std::int64_t rows);

/// Several operands, walked over one shape. Operands are added first, then dimensions are ordered so that the first
/// operand's memory is passed in sequence, and dimensions that continue each other become one.
class StridedNest {
 public:
  static constexpr int kMaxOperands = 5;
  struct Dim {
    std::int64_t size = 0;
    std::int64_t step[kMaxOperands] = {};  // bytes
  };

  /// The shape walked; operands broadcast to it.
  explicit StridedNest(IntSpan sizes);
  /// Adds an operand whose shape is aligned at the right; a dimension of size 1, or missing, is repeated.
  void add(void* data, IntSpan sizes, IntSpan strides, std::size_t item);
  void add(const Tensor& t) { add(t.impl()->data(), t.sizes(), t.strides(), itemsize(t.dtype())); }
  /// Orders and merges. Call once, after the last add().
  void merge();

  std::int64_t numel() const noexcept { return numel_; }
  int operands() const noexcept { return operands_; }
  /// After merge(): innermost first, no dimension of size 1; none for a single element.
  const SmallVector<Dim, 8>& dims() const noexcept { return dims_; }
  char* data(int operand) const noexcept { return data_[operand]; }

  /// Runs the loop over everything, in chunks of `grain` elements that may run at the same time.
  void run(RowLoop loop, const void* functor, std::int64_t grain) const;
  /// Runs the loop over elements [begin, end) of the merged order.
  void run_range(RowLoop loop, const void* functor, std::int64_t begin, std::int64_t end) const;

 private:
  SmallVector<Dim, 8> dims_;
  char* data_[kMaxOperands] = {};
  std::int64_t numel_ = 1;
  int operands_ = 0;
};

// Loops are told that iterations do not depend on each other: an operand is the destination itself, element for
// element, or apart from it (the operators see to that), which the compiler cannot prove.
#if defined(__clang__)
#define TAPER_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TAPER_INDEPENDENT _Pragma("GCC ivdep")
#endif
// A call that is left, because the element function is long, would keep the loop from becoming vector instructions.
#define TAPER_INLINE_CALLS __attribute__((flatten))

namespace detail {

template <class T>
T* at(T* p, std::int64_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(p) + bytes);
}

/// How elements are read. bool as a byte: GCC does not vectorize loads of bool.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;
template <class T>
inline T value(const Stored<T>& v) {
  if constexpr (std::is_same_v<T, bool>)
    return v != 0;
  else
    return v;
}

template <class R, class... A, class F, std::size_t... I>
inline void row(const F& f, char* const* p, const std::int64_t* step, std::int64_t n, std::index_sequence<I...>) {
  const auto dense = [&](R* out, const Stored<A>*... a) TAPER_INLINE_CALLS {
    TAPER_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) out[i] = f(value<A>(a[i])...);
  };
  const auto any = [&](R* out, const Stored<A>*... a) {
    for (std::int64_t i = 0; i < n; ++i) *at(out, i * step[0]) = f(value<A>(*at(a, i * step[I + 1]))...);
  };
  if (step[0] == sizeof(R) && ((step[I + 1] == sizeof(A)) && ...))
    dense(reinterpret_cast<R*>(p[0]), reinterpret_cast<const Stored<A>*>(p[I + 1])...);
  else
    any(reinterpret_cast<R*>(p[0]), reinterpret_cast<const Stored<A>*>(p[I + 1])...);
}

/// As row, with the last (`right`) or the one before repeated: x * 2, where(mask, x, 0).
template <bool right, class R, class... A, class F, std::size_t... I>
inline void row_with_number(const F& f, char* const* p, std::int64_t n, std::index_sequence<I...>) {
  constexpr std::size_t fixed = sizeof...(A) - (right ? 1 : 2);
  const auto go = [&](R* out, const Stored<A>*... a) TAPER_INLINE_CALLS {
    const std::tuple<A...> first{value<A>(*a)...};
    TAPER_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i)
      out[i] = f([&] {
        if constexpr (I == fixed)
          return std::get<I>(first);
        else
          return value<A>(a[i]);
      }()...);
  };
  go(reinterpret_cast<R*>(p[0]), reinterpret_cast<const Stored<A>*>(p[I + 1])...);
}

}  // namespace detail

/// The RowLoop of an element function R f(A...).
template <class F, class R, class... A>
void row_loop([[maybe_unused]] const void* functor, char* const* p, const std::int64_t* step,
              const std::int64_t* row_step, std::int64_t n, std::int64_t rows) {
  static_assert(sizeof...(A) > 0);
  const F f = [&] {
    if constexpr (std::is_empty_v<F>)
      return F{};
    else
      return *static_cast<const F*>(functor);
  }();
  constexpr std::size_t count = sizeof...(A);
  constexpr auto all = std::make_index_sequence<count>{};
  constexpr std::int64_t item[] = {sizeof(R), sizeof(A)...};
  char* at[count + 1];
  for (std::size_t k = 0; k <= count; ++k) at[k] = p[k];

  // Which operand, if any, is a number repeated along the row while all others are dense.
  int repeated = -1;
  for (std::size_t k = count > 1 ? count - 1 : 1; k <= count; ++k) {
    if (step[k] != 0) continue;
    bool others_dense = true;
    for (std::size_t j = 0; j <= count; ++j) others_dense &= j == k || step[j] == item[j];
    if (others_dense) repeated = int(k);
  }
  for (std::int64_t r = 0;;) {
    if (repeated == int(count)) {
      detail::row_with_number<true, R, A...>(f, at, n, all);
    } else {
      bool done = false;
      if constexpr (count >= 2) {
        if (repeated == int(count) - 1) detail::row_with_number<false, R, A...>(f, at, n, all), done = true;
      }
      if (!done) detail::row<R, A...>(f, at, step, n, all);
    }
    if (++r == rows) break;
    for (std::size_t k = 0; k <= count; ++k) at[k] += row_step[k];
  }
}

}  // namespace taper::cpu_kernels
