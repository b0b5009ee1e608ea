#pragma once
#include "tests/ops/samples.h"

namespace op_table {

using namespace taper;
using samples::Operand;
using samples::OpSamples;
using samples::Sample;

/// How an operand lies in memory.
enum class Layout {
  contiguous,
  transposed,  ///< the last dim has the longest stride
  stepped,     ///< every second element of a row, with an offset
  expanded     ///< the first dim shows one memory again and again
};
inline constexpr Layout kLayouts[] = {Layout::contiguous, Layout::transposed, Layout::stepped, Layout::expanded};
const char* name_of(Layout layout);

/// The operands of one call. The same numbers in every layout but `expanded`. Floating ones get `dtype`.
TensorList operands_of(const Sample& sample, Layout layout = Layout::contiguous, DType dtype = float64);
/// Those that are real or flat now require grad; returns them.
TensorList track(const Sample& sample, TensorList& operands);

/// Whether a layout can be told from contiguous.
bool has_layout(const Sample& sample, Layout layout);
bool has(const Sample& sample, Operand::Kind kind);
/// Whether no result depends on an operand's element, because there is none.
bool is_empty(const OpSamples& op, const Sample& sample);

/// The results that have gradients.
TensorList differentiable(const OpSamples& op, const TensorList& results);

/// What the operator does with an operand that requires grad.
enum class Derivative { rule, none, refused };
inline Derivative derivative_of(const OpSamples& op) {
  if (op.op->is_declared_non_differentiable()) return Derivative::none;
  return op.op->filled().has(DispatchKey::Autograd) ? Derivative::rule : Derivative::refused;
}

/// t somewhere else in memory, in steps.
Tensor with_steps(const Tensor& t);

}  // namespace op_table
