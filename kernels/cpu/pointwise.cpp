#include "pointwise.h"

#include <taper/operator.h>

#include "copy.h"

namespace taper::cpu_kernels {
namespace {

constexpr std::int64_t kNoStep[StridedNest::kMaxOperands] = {};

/// Around a loop: operands that are not what it reads are converted piece by piece, and so is what it makes.
struct Converting {
  RowLoop loop;
  const void* functor;
  RowLoop cast[StridedNest::kMaxOperands] = {};       // null where nothing is to convert; [0] is for the result
  std::int64_t item[StridedNest::kMaxOperands] = {};  // bytes of what the loop reads or makes
  int count = 1;
  static constexpr std::int64_t kPiece = 256;  // elements

  static void rows(const void* self, char* const* p, const std::int64_t* step, const std::int64_t* row_step,
                   std::int64_t n, std::int64_t rows) {
    const auto& c = *static_cast<const Converting*>(self);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t i = 0; i < n; i += kPiece) {
        char* at[StridedNest::kMaxOperands];
        for (int k = 0; k < c.count; ++k) at[k] = p[k] + r * row_step[k] + i * step[k];
        c.piece(at, step, std::min(kPiece, n - i));
      }
  }

 private:
  void piece(char* const* p, const std::int64_t* step, std::int64_t n) const {
    alignas(64) char buffer[StridedNest::kMaxOperands][kPiece * 8];
    char* at[StridedNest::kMaxOperands];
    std::int64_t by[StridedNest::kMaxOperands];
    for (int k = 0; k < count; ++k) {
      at[k] = cast[k] ? buffer[k] : p[k];
      by[k] = cast[k] ? item[k] : step[k];
      if (k == 0 || !cast[k]) continue;
      if (step[k] == 0) by[k] = 0;
      char* const from[] = {buffer[k], p[k]};
      const std::int64_t steps[] = {item[k], step[k]};
      cast[k](nullptr, from, steps, kNoStep, step[k] == 0 ? 1 : n, 1);
    }
    loop(functor, at, by, kNoStep, n, 1);
    if (!cast[0]) return;
    char* const to[] = {p[0], buffer[0]};
    const std::int64_t steps[] = {step[0], item[0]};
    cast[0](nullptr, to, steps, kNoStep, n, 1);
  }
};

[[gnu::noinline]] void elementwise_general(const Tensor& out, DType result, std::initializer_list<Operand> operands,
                                           RowLoop loop, const void* functor, int cost) {
  Converting converting{loop, functor};
  bool converts = out.dtype() != result;
  if (converts) converting.cast[0] = cast_loop(out.dtype(), result);
  converting.item[0] = std::int64_t(itemsize(result));
  StridedNest nest(out.sizes());
  nest.add(out);
  for (const Operand& operand : operands) {
    const int k = converting.count++;
    const DType wanted = compute_dtype(operand.dtype);
    converting.item[k] = std::int64_t(itemsize(wanted));
    if (!operand.tensor) {
      nest.add(const_cast<void*>(operand.number), {}, {}, itemsize(wanted));
      continue;
    }
    nest.add(*operand.tensor);
    if (operand.tensor->dtype() == wanted) continue;
    converting.cast[k] = cast_loop(wanted, operand.tensor->dtype());
    converts = true;
  }
  nest.merge();
  if (converts)
    nest.run(Converting::rows, &converting, grain_for(cost + 2));
  else
    nest.run(loop, functor, grain_for(cost));
}

}  // namespace

void elementwise(const Tensor& out, DType made, std::initializer_list<Operand> operands, RowLoop loop,
                 const void* functor, int cost) {
  const DType result = compute_dtype(made);
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
      flat &= from.dtype() == compute_dtype(operand.dtype) && from.is_contiguous() &&
              (from.numel() == n || from.numel() == 1);
      p[count] = static_cast<char*>(from.data());
      step[count] = from.numel() == n ? std::int64_t(itemsize(from.dtype())) : 0;
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
