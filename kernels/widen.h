#pragma once
// How kernels that compute in float32 or float64 serve float16 and bfloat16: operands are converted to float32, the
// kernel runs, and results are rounded once.
#include <taper/operator.h>

#include <optional>

namespace taper::kernels {

/// t, or its values in float32 where it has 16-bit floating elements.
inline Tensor widened(const Tensor& t) {
  if (!t.defined() || !is_16_bit_float(t.dtype())) return t;
  Tensor wide = empty(TensorSpec{dense_geometry(t.sizes(), suggested_memory_format(t)), float32, t.device()});
  detail::copy_into(wide, t);
  return wide;
}
inline std::optional<Tensor> widened(const std::optional<Tensor>& t) {
  return t ? std::optional<Tensor>(widened(*t)) : t;
}
inline TensorList widened(const TensorList& ts) {
  TensorList out;
  for (const Tensor& t : ts) out.push_back(widened(t));
  return out;
}
template <class T>
requires is_plain_argument<T>
const T& widened(const T& v) { return v; }

/// Where a kernel writes instead of `out`; of the same layout.
inline Tensor wide_result(const Tensor& out) {
  if (!is_16_bit_float(out.dtype())) return out;
  return empty(TensorSpec{out.impl()->geometry(), float32, out.device()});
}
inline void narrow_into(Tensor out, const Tensor& wide) {
  if (!out.is_same(wide)) detail::copy_into(out, wide);
}
template <std::size_t N>
std::array<Tensor, N> wide_result(const std::array<Tensor, N>& out) {
  std::array<Tensor, N> wide;
  for (std::size_t i = 0; i < N; ++i) wide[i] = wide_result(out[i]);
  return wide;
}
template <std::size_t N>
void narrow_into(const std::array<Tensor, N>& out, const std::array<Tensor, N>& wide) {
  for (std::size_t i = 0; i < N; ++i) narrow_into(out[i], wide[i]);
}

template <class Kernel>
struct Widening;
template <class R, class... Args>
struct Widening<void (*)(R&, const Args&...)> {
  template <void (*kernel)(R&, const Args&...)>
  static void run(R& out, const Args&... args) {
    bool any = false;
    const auto look = [&](const Tensor& t) { any |= is_16_bit_float(t.impl()->dtype()); };
    (visit_tensors(look, args), ...);
    if (!any) [[likely]]
      return kernel(out, args...);
    R wide = wide_result(out);
    kernel(wide, widened(args)...);
    narrow_into(out, wide);
  }
};

/// The kernel, also for 16-bit floating elements. Not for kernels that write to their arguments.
template <auto kernel>
inline constexpr auto widening = &Widening<decltype(kernel)>::template run<kernel>;

}  // namespace taper::kernels
