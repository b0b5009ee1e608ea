#pragma once
// Elementwise kernels on CUDA devices: what cpu/pointwise.h is for the CPU.
#include <taper/device.h>

#include <initializer_list>
#include <type_traits>

#include "cuda/elementwise.h"
#include "pointwise/operands.h"

namespace taper::cuda_kernels {

[[noreturn]] void raise_not_served(const char* op, DType d);

using pointwise::Number;
using pointwise::Operand;

/// int8 and int16 are computed in int32, whose low bits they are.
inline bool is_small_integer(DType d) { return d == int8 || d == int16; }
/// The element types that the .cu files list kernels for. float16 and bfloat16 are computed as float.
template <class T>
inline constexpr bool is_served =
    !std::is_same_v<T, std::int8_t> && !std::is_same_v<T, std::int16_t> && !is_16_bit_floating<T>;
/// As dispatch_all(), for the types that are served; others are errors that name the operator.
template <class F>
void dispatch_served(DType d, const char* op, F&& f) {
  dispatch_all(d, [&]<class T>(Type<T> type) {
    if constexpr (is_served<T>)
      f(type);
    else
      raise_not_served(op, d);
  });
}

/// out = loop(operands), where the loop makes elements of compute_dtype(result). Operands are on out's device, or are
/// 0-dim cpu tensors.
void elementwise(const Tensor& out, DType result, std::initializer_list<Operand> operands, ElementLoop loop,
                 const void* functor);

/// dst[...] = loop(src), the loop reading and making elements of just their dtypes.
void move_elements(const Tensor& dst, const Tensor& src, ElementLoop loop);

/// What pointwise/operands.h asks of a device.
struct OnCuda {
  static constexpr DispatchKey key = DispatchKey::CUDA;
  using Loop = ElementLoop;
  template <class F, class R, class... A>
  static constexpr Loop pick() {
    if constexpr (is_served<R> && (is_served<A> && ...))
      return element_loop<F, R, A...>;
    else
      return nullptr;  // refused by elementwise()
  }
  template <class F, class R, class... A>
  static constexpr Loop loop = pick<F, R, A...>();
  static DType wide(DType d) { return is_small_integer(d) ? int32 : d; }
  static void elementwise(const Tensor& out, DType result, std::initializer_list<Operand> operands, Loop loop,
                          const void* functor, int /*cost*/) {
    cuda_kernels::elementwise(out, result, operands, loop, functor);
  }
};

/// dst[...] = src broadcast to dst's shape and converted to its dtype, both on one device. The two must not share
/// memory, unless they are the same elements in the same order.
void copy_elements(const Tensor& dst, const Tensor& src);
/// dst[...] = value, converted.
void fill_elements(const Tensor& dst, Scalar value);

}  // namespace taper::cuda_kernels
