#pragma once
// Elementwise kernels on the CPU: operands are brought to the dtype the loop wants, the result to the destination's,
// and contiguous operands reach the loop without a detour.
#include <taper/device.h>

#include <initializer_list>

#include "pointwise/operands.h"
#include "strided.h"
#include "usual_rows.h"

namespace taper::cpu_kernels {

using pointwise::Number;
using pointwise::Operand;

/// out = loop(operands), where the loop makes elements of compute_dtype(result). `cost` is the work per element, in
/// additions.
void elementwise(const Tensor& out, DType result, std::initializer_list<Operand> operands, RowLoop loop,
                 const void* functor, int cost);

/// What pointwise/operands.h asks of a device.
struct OnCpu {
  static constexpr DispatchKey key = DispatchKey::CPU;
  using Loop = RowLoop;
  template <class F, class R, class... A>
  static constexpr Loop loop_of() {
    if constexpr (HasUsualArguments<F, A...>)
      return usual_rows<F>;
    else
      return row_loop<F, R, A...>;
  }
  template <class F, class R, class... A>
  static constexpr Loop loop = loop_of<F, R, A...>();
  static DType wide(DType d) { return d; }
  static void elementwise(const Tensor& out, DType result, std::initializer_list<Operand> operands, Loop loop,
                          const void* functor, int cost) {
    cpu_kernels::elementwise(out, result, operands, loop, functor, cost);
  }
};

// For files that serve the CPU alone.
template <class F, int arity>
RowLoop any_loop(DType d) {
  return pointwise::any_loop<OnCpu, F, arity>(d);
}
template <class F, int arity>
RowLoop mask_loop(DType d) {
  return pointwise::mask_loop<OnCpu, F, arity>(d);
}
template <class F, int arity>
RowLoop number_loop(DType d, const char* op) {
  return pointwise::number_loop<OnCpu, F, arity>(d, op);
}
template <class F, int arity>
RowLoop floating_loop(DType d) {
  return pointwise::floating_loop<OnCpu, F, arity>(d);
}

}  // namespace taper::cpu_kernels
