#pragma once
// The kernels behind all elementwise operators: one for operands that are dense in one order, which moves 4 elements at
// a time, and one for operands of any strides.
//
// A .cu file lists functions, `template struct OnFloating<1, fn::Exp, fn::Log>;`, and with that has their kernels.
#include <taper/ops/fn.h>

#include <initializer_list>
#include <utility>

#include "elementwise.h"
#include "launch.cuh"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kElementThreads = 256, kVector = 4;

/// kVector elements that are loaded and stored at once.
template <class T>
struct alignas(sizeof(T) * kVector < 16 ? sizeof(T) * kVector : 16) Vector {
  T at[kVector];
};

template <class T>
__device__ __forceinline__ T number_of(const Elements& e, int k) {
  T value;
  memcpy(static_cast<void*>(&value), &e.number[k], sizeof value);
  return value;
}
/// Element i of a flat operand.
template <class T>
__device__ __forceinline__ T flat_value(const Elements& e, int k, std::uint32_t i) {
  if (e.data[k] == nullptr) return number_of<T>(e, k);
  return static_cast<const T*>(e.data[k])[e.steps[k] ? i : 0];
}
template <class T>
__device__ __forceinline__ Vector<T> flat_vector(const Elements& e, int k, std::uint32_t i) {
  if (e.steps[k]) return static_cast<const Vector<T>*>(e.data[k])[i];
  const T value = flat_value<T>(e, k, 0);
  Vector<T> all;
  for (unsigned j = 0; j < kVector; ++j) all.at[j] = value;
  return all;
}
template <class R, class F, class... A>
__device__ __forceinline__ Vector<R> apply_to_vectors(const F& f, const Vector<A>&... a) {
  Vector<R> out;
  for (unsigned j = 0; j < kVector; ++j) out.at[j] = f(a.at[j]...);
  return out;
}

template <class F, class R, class... A, std::size_t... I>
__device__ __forceinline__ void flat_loop(const Elements& e, const F& f, std::index_sequence<I...>) {
  const std::uint32_t first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  const std::uint32_t vectors = e.vectors ? e.count / kVector : 0;
  for (std::uint32_t i = first; i < vectors; i += step)
    static_cast<Vector<R>*>(e.data[0])[i] = apply_to_vectors<R>(f, flat_vector<A>(e, int(I) + 1, i)...);
  for (std::uint32_t i = vectors * kVector + first; i < e.count; i += step)
    static_cast<R*>(e.data[0])[i] = f(flat_value<A>(e, int(I) + 1, i)...);
}
template <class F, class R, class... A>
__global__ void flat_elements(const Elements e, const F f) {
  flat_loop<F, R, A...>(e, f, std::index_sequence_for<A...>{});
}

template <class T>
__device__ __forceinline__ T strided_value(const Elements& e, int k, std::int64_t offset) {
  if (e.data[k] == nullptr) return number_of<T>(e, k);
  return *reinterpret_cast<const T*>(static_cast<const char*>(e.data[k]) + offset);
}
template <class F, class R, class... A, std::size_t... I>
__device__ __forceinline__ void strided_loop(const Elements& e, const F& f, std::index_sequence<I...>) {
  constexpr int kOperands = 1 + int(sizeof...(A));
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < e.count; i += gridDim.x * blockDim.x) {
    std::int64_t offset[kOperands] = {};
    std::uint32_t rest = i;
    for (int d = 0; d < e.rank; ++d) {
      const std::uint32_t outer = e.dim[d].size.divide(rest);
      const std::int64_t at = rest - outer * e.dim[d].size.divisor;
      for (int k = 0; k < kOperands; ++k) offset[k] += at * e.dim[d].step[k];
      rest = outer;
    }
    *reinterpret_cast<R*>(static_cast<char*>(e.data[0]) + offset[0]) =
        f(strided_value<A>(e, int(I) + 1, offset[I + 1])...);
  }
}
template <class F, class R, class... A>
__global__ void strided_elements(const Elements e, const F f) {
  strided_loop<F, R, A...>(e, f, std::index_sequence_for<A...>{});
}

}  // namespace

template <class F, class R, class... A>
void element_loop(const Queue& queue, const Elements& elements, const void* functor) {
  static_assert(sizeof...(A) < Elements::kMaxOperands);
  const F f = [&] {
    if constexpr (std::is_empty_v<F>)
      return F{};
    else
      return *static_cast<const F*>(functor);
  }();
  const unsigned per_block = kElementThreads * (elements.vectors ? kVector : 1);
  launch(queue, "an elementwise kernel", blocks_for(queue, elements.count, per_block), kElementThreads, 0,
         elements.rank < 0 ? flat_elements<F, R, A...> : strided_elements<F, R, A...>, elements, f);
}

// ---- Lists: the kernels of every function for the dtypes it is used with --------------------------------------------
namespace detail {
template <int arity, class F, class R, class T>
constexpr ElementLoop loop_of() {
  if constexpr (arity == 1)
    return element_loop<F, R, T>;
  else if constexpr (arity == 2)
    return element_loop<F, R, T, T>;
  else
    return element_loop<F, R, T, T, T>;
}
// nvcc makes a kernel only where a function uses it: a list in a variable is not enough.
inline void use(std::initializer_list<ElementLoop>) {}
}  // namespace detail

/// T f(T), T f(T, T) or T f(T, T, T) for the types T.
template <int arity, class F, class... T>
struct Loops {
  static constexpr ElementLoop loops[] = {detail::loop_of<arity, F, T, T>()...};
  static void use() { detail::use({detail::loop_of<arity, F, T, T>()...}); }
};
/// bool f(T) or bool f(T, T).
template <int arity, class F, class... T>
struct MaskLoops {
  static constexpr ElementLoop loops[] = {detail::loop_of<arity, F, bool, T>()...};
  static void use() { detail::use({detail::loop_of<arity, F, bool, T>()...}); }
};

template <int arity, class... F>
struct OnFloating {
  static constexpr const ElementLoop* loops[] = {Loops<arity, F, float, double>::loops...};
  static void use() { (Loops<arity, F, float, double>::use(), ...); }
};
template <int arity, class... F>
struct OnNumbers {
  static constexpr const ElementLoop* loops[] = {
      Loops<arity, F, std::uint8_t, std::int32_t, std::int64_t, float, double>::loops...};
  static void use() { (Loops<arity, F, std::uint8_t, std::int32_t, std::int64_t, float, double>::use(), ...); }
};
template <int arity, class... F>
struct OnAll {
  static constexpr const ElementLoop* loops[] = {
      Loops<arity, F, bool, std::uint8_t, std::int32_t, std::int64_t, float, double>::loops...};
  static void use() { (Loops<arity, F, bool, std::uint8_t, std::int32_t, std::int64_t, float, double>::use(), ...); }
};
template <int arity, class... F>
struct MasksOnAll {
  static constexpr const ElementLoop* loops[] = {
      MaskLoops<arity, F, bool, std::uint8_t, std::int32_t, std::int64_t, float, double>::loops...};
  static void use() {
    (MaskLoops<arity, F, bool, std::uint8_t, std::int32_t, std::int64_t, float, double>::use(), ...);
  }
};

}  // namespace taper::cuda_kernels
