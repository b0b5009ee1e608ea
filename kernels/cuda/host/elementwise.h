#pragma once
// Elementwise kernels on CUDA devices: what cpu/pointwise.h is for the CPU.
#include <taper/device.h>

#include <initializer_list>

#include "cuda/elementwise.h"
#include "pointwise/operands.h"

namespace taper::cuda_kernels {

using pointwise::Number;
using pointwise::Operand;

/// out = loop(operands), where the loop makes elements of `result`. Operands are on out's device, or are 0-dim cpu
/// tensors.
void elementwise(const Tensor& out, DType result, std::initializer_list<Operand> operands, ElementLoop loop,
                 const void* functor);

/// What pointwise/operands.h asks of a device.
struct OnCuda {
  static constexpr DispatchKey key = DispatchKey::CUDA;
  using Loop = ElementLoop;
  template <class F, class R, class... A>
  static constexpr Loop loop = element_loop<F, R, A...>;
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
