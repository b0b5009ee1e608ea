#pragma once
// How the host describes an elementwise kernel's work. No CUDA in here: .cu files and plain C++ read it.
#include <cstdint>

#include "cuda/fast_div.h"
#include "cuda/queue.h"

namespace taper::cuda_kernels {

/// The operands of one launch; 0 is written. Passed to the kernel by value.
struct Elements {
  static constexpr int kMaxOperands = 4, kMaxDims = 8;
  struct Dim {
    FastDiv size;
    std::int64_t step[kMaxOperands];  // bytes
  };

  std::uint32_t count;       // elements, below 2^31
  std::int32_t rank;         // -1: flat, every operand that steps is dense, in one order
  bool vectors;              // flat, and what is dense is aligned to 16 bytes
  bool steps[kMaxOperands];  // flat: whether the operand is dense; if not, its one element is repeated
  void* data[kMaxOperands];  // null: the operand is the number
  std::uint64_t number[kMaxOperands];
  Dim dim[kMaxDims];  // innermost first
};

/// Starts a kernel for one function; `functor` may be null for functions without state.
using ElementLoop = void (*)(const Queue& queue, const Elements& elements, const void* functor);

/// The ElementLoop of a function R f(A...). Defined in elementwise.cuh; the .cu files list the functions.
template <class F, class R, class... A>
void element_loop(const Queue& queue, const Elements& elements, const void* functor);

}  // namespace taper::cuda_kernels
