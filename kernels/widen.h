#pragma once
// How kernels serve dtypes that they do not compute in, float16 and bfloat16 above all: operands are converted to a
// wider dtype, the kernel runs, and results are rounded once.
#include <taper/operator.h>

#include <optional>

namespace taper::kernels {

/// A policy says what a kernel computes in.
struct WideFloats {
  static DType wide(DType d) { return is_16_bit_float(d) ? float32 : d; }
};

/// t, or its values in the wider dtype.
template <class Policy = WideFloats>
Tensor widened(const Tensor& t) {
  if (!t.defined() || Policy::wide(t.dtype()) == t.dtype()) return t;
  Tensor wide =
      empty(TensorSpec{dense_geometry(t.sizes(), suggested_memory_format(t)), Policy::wide(t.dtype()), t.device()});
  detail::copy_into(wide, t);
  return wide;
}
template <class Policy = WideFloats>
std::optional<Tensor> widened(const std::optional<Tensor>& t) {
  return t ? std::optional<Tensor>(widened<Policy>(*t)) : t;
}
template <class Policy = WideFloats>
TensorList widened(const TensorList& ts) {
  TensorList out;
  for (const Tensor& t : ts) out.push_back(widened<Policy>(t));
  return out;
}
template <class Policy = WideFloats, class T>
requires is_plain_argument<T>
const T& widened(const T& v) { return v; }

/// Where a kernel writes instead of `out`; of the same layout.
template <class Policy = WideFloats>
Tensor wide_result(const Tensor& out) {
  if (Policy::wide(out.dtype()) == out.dtype()) return out;
  return empty(TensorSpec{out.impl()->geometry(), Policy::wide(out.dtype()), out.device()});
}
template <class Policy = WideFloats, std::size_t N>
std::array<Tensor, N> wide_result(const std::array<Tensor, N>& out) {
  std::array<Tensor, N> wide;
  for (std::size_t i = 0; i < N; ++i) wide[i] = wide_result<Policy>(out[i]);
  return wide;
}
inline void narrow_into(Tensor out, const Tensor& wide) {
  if (!out.is_same(wide)) detail::copy_into(out, wide);
}
template <std::size_t N>
void narrow_into(const std::array<Tensor, N>& out, const std::array<Tensor, N>& wide) {
  for (std::size_t i = 0; i < N; ++i) narrow_into(out[i], wide[i]);
}

template <class Kernel, class Policy>
struct Widening;
template <class R, class... Args, class Policy>
struct Widening<void (*)(R&, const Args&...), Policy> {
  template <void (*kernel)(R&, const Args&...)>
  static void run(R& out, const Args&... args) {
    bool any = false;
    const auto look = [&](const Tensor& t) {
      const DType d = t.impl()->dtype();
      any |= Policy::wide(d) != d;
    };
    (visit_tensors(look, args), ...);
    if (!any) [[likely]]
      return kernel(out, args...);
    R wide = wide_result<Policy>(out);
    kernel(wide, widened<Policy>(args)...);
    narrow_into(out, wide);
  }
};

/// The kernel, also for dtypes that it does not compute in. Not for kernels that write to their arguments.
template <auto kernel, class Policy = WideFloats>
inline constexpr auto widening = &Widening<decltype(kernel), Policy>::template run<kernel>;

}  // namespace taper::kernels
