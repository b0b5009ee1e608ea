#include "pointwise.h"

#include <taper/operator.h>

#include "copy.h"

namespace taper::cpu_kernels {
namespace {

constexpr std::int64_t kNoStep[StridedNest::kMaxOperands] = {};

/// Operands that are not what the loop reads are converted; then the general walk.
[[gnu::noinline]] void elementwise_general(const Tensor& out, DType result, std::initializer_list<Operand> operands,
                                           RowLoop loop, const void* functor, int cost) {
  if (out.dtype() != result) {
    const Tensor computed = empty(TensorSpec::contiguous(out.sizes(), result, cpu));
    elementwise(computed, result, operands, loop, functor, cost);
    return copy_elements(out, computed);
  }
  StridedNest nest(out.sizes());
  nest.add(out);
  Tensor converted[StridedNest::kMaxOperands];
  std::uint64_t numbers[StridedNest::kMaxOperands];
  int k = 0;
  for (const Operand& operand : operands) {
    const void* number = operand.number;
    if (operand.tensor) {
      const Tensor& t = *operand.tensor;
      if (t.dtype() == operand.dtype) {
        nest.add(t);
      } else if (t.numel() == 1) {
        char* const p[] = {reinterpret_cast<char*>(&numbers[k]), static_cast<char*>(t.impl()->data())};
        cast_loop(operand.dtype, t.dtype())(nullptr, p, kNoStep, kNoStep, 1, 1);
        number = &numbers[k];
      } else {
        converted[k] = empty(TensorSpec::contiguous(t.sizes(), operand.dtype, cpu));
        copy_elements(converted[k], t);
        nest.add(converted[k]);
      }
    }
    if (number) nest.add(const_cast<void*>(number), {}, {}, itemsize(operand.dtype));
    ++k;
  }
  nest.merge();
  nest.run(loop, functor, grain_for(cost));
}

}  // namespace

void elementwise(const Tensor& out, DType result, std::initializer_list<Operand> operands, RowLoop loop,
                 const void* functor, int cost) {
  const TensorImpl& to = *out.impl();
  const std::int64_t n = to.numel();
  if (n == 0) return;
  char* p[StridedNest::kMaxOperands];
  std::int64_t step[StridedNest::kMaxOperands];
  bool flat = to.is_contiguous() && to.dtype() == result;
  p[0] = static_cast<char*>(to.data());
  step[0] = std::int64_t(itemsize(result));
  int count = 1;
  for (const Operand& operand : operands) {
    if (operand.tensor) {
      // Of as many elements as the result and contiguous: the same shape but for leading ones.
      const TensorImpl& from = *operand.tensor->impl();
      flat &= from.dtype() == operand.dtype && from.is_contiguous() && (from.numel() == n || from.numel() == 1);
      p[count] = static_cast<char*>(from.data());
      step[count] = from.numel() == n ? std::int64_t(itemsize(operand.dtype)) : 0;
    } else {
      p[count] = static_cast<char*>(const_cast<void*>(operand.number));
      step[count] = 0;
    }
    ++count;
  }
  if (!flat) return elementwise_general(out, result, operands, loop, functor, cost);
  if (n <= grain_for(cost)) return loop(functor, p, step, kNoStep, n, 1);
  parallel_for(0, n, grain_for(cost), [&](std::int64_t begin, std::int64_t end) {
    char* from[StridedNest::kMaxOperands];
    for (int k = 0; k < count; ++k) from[k] = p[k] + begin * step[k];
    loop(functor, from, step, kNoStep, end - begin, 1);
  });
}

}  // namespace taper::cpu_kernels
