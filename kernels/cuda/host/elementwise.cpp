#include "elementwise.h"

#include <taper/operator.h>

#include <cstring>

#include "cpu/strided.h"
#include "device.h"

namespace taper::cuda_kernels {
namespace {

constexpr std::int64_t kMostElements = (std::int64_t(1) << 31) - 1;  // kernels count in 32 bits
constexpr std::uintptr_t kVectorBytes = 16;

using Nest = cpu_kernels::StridedNest;

/// What is the same for every launch of one operator.
struct Work {
  ElementLoop loop;
  const void* functor;
  Queue queue;
  const std::size_t* item;  // bytes of an element of each operand
  int operands;
};

/// Flat if there is one dimension or none, and every operand is dense along it or does not move.
void describe_flat(Elements& e, const Nest::Dim* dims, std::size_t rank, const Work& work) {
  if (rank > 1) return;
  bool aligned = true;
  for (int k = 0; k < work.operands; ++k) {
    const std::int64_t step = rank == 0 ? 0 : dims[0].step[k];
    if (step != 0 && step != std::int64_t(work.item[k])) return;
    e.steps[k] = step != 0;
    aligned &= step == 0 || reinterpret_cast<std::uintptr_t>(e.data[k]) % kVectorBytes == 0;
  }
  e.rank = -1;
  e.vectors = aligned && e.steps[0];
}

/// Launches over `rank` dimensions. More than a kernel takes, or more elements than it counts, are cut along the
/// outermost one.
void run(Elements e, const Nest::Dim* dims, std::size_t rank, const Work& work) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < rank; ++d) count *= dims[d].size;
  if (count <= kMostElements && rank <= std::size_t(Elements::kMaxDims)) {
    e.count = std::uint32_t(count);
    e.rank = std::int32_t(rank);
    e.vectors = false;
    describe_flat(e, dims, rank, work);
    for (std::int32_t d = 0; d < e.rank; ++d) {
      e.dim[d].size = FastDiv::by(std::uint32_t(dims[d].size));
      for (int k = 0; k < work.operands; ++k) e.dim[d].step[k] = dims[d].step[k];
    }
    return work.loop(work.queue, e, work.functor);
  }
  const Nest::Dim& outer = dims[rank - 1];
  const std::int64_t inner = count / outer.size;
  const std::int64_t at_once =
      rank > std::size_t(Elements::kMaxDims) ? 1 : std::max<std::int64_t>(1, kMostElements / inner / 4 * 4);
  Nest::Dim part[64];
  std::copy(dims, dims + rank, part);
  for (std::int64_t i = 0; i < outer.size; i += at_once) {
    part[rank - 1].size = std::min(at_once, outer.size - i);
    Elements piece = e;
    for (int k = 0; k < work.operands; ++k)
      if (piece.data[k] != nullptr) piece.data[k] = static_cast<char*>(e.data[k]) + i * outer.step[k];
    run(piece, part, part[rank - 1].size == 1 ? rank - 1 : rank, work);
  }
}

/// The loop makes elements of `result`; operands are read as their dtypes, or in the dtypes they are computed in.
void launch(const Tensor& out, DType result, std::initializer_list<Operand> operands, ElementLoop loop,
            const void* functor, bool computes) {
  if (out.numel() == 0) return;
  if (out.dtype() != result) {
    const Tensor computed = empty(TensorSpec::contiguous(out.sizes(), result, out.device()));
    launch(computed, result, operands, loop, functor, computes);
    return copy_elements(out, computed);
  }
  const OnDevice on(out.device());
  Elements e{};
  std::size_t item[Elements::kMaxOperands];
  Tensor converted[Elements::kMaxOperands];
  Nest nest(out.sizes());
  nest.add(out);
  e.data[0] = nest.data(0);
  item[0] = itemsize(result);
  int k = 1;
  for (const Operand& operand : operands) {
    const DType wanted = computes ? compute_dtype(operand.dtype) : operand.dtype;
    item[k] = itemsize(wanted);
    const Tensor* t = operand.tensor;
    if (t == nullptr) {
      std::memcpy(&e.number[k], operand.number, item[k]);
    } else if (t->device().is_cpu()) {
      std::memcpy(&e.number[k], Number(t->scalar(), operand.dtype).bytes(), item[k]);
      t = nullptr;
    } else if (t->dtype() != wanted) {
      converted[k] = empty(TensorSpec::contiguous(t->sizes(), wanted, t->device()));
      copy_elements(converted[k], *t);
      t = &converted[k];
    }
    if (t != nullptr)
      nest.add(*t);
    else
      nest.add(nullptr, {}, {}, item[k]);
    e.data[k] = nest.data(k);
    ++k;
  }
  nest.merge();
  run(e, nest.dims().data(), nest.dims().size(), {loop, functor, on.queue(), item, k});
}

}  // namespace

void raise_not_served(const char* op, DType d) {
  raise<DTypeError>(op, ": CUDA devices have no kernel for ", d,
                    "; convert with x.to(taper::float32) or compute with x.cpu()");
}

void elementwise(const Tensor& out, DType made, std::initializer_list<Operand> operands, ElementLoop loop,
                 const void* functor) {
  if (loop == nullptr) raise_not_served("an elementwise function", operands.begin()->dtype);
  launch(out, compute_dtype(made), operands, loop, functor, true);
}

void move_elements(const Tensor& dst, const Tensor& src, ElementLoop loop) {
  if (loop == nullptr) raise_not_served("copy_", src.dtype());
  launch(dst, dst.dtype(), {{&src, src.dtype()}}, loop, nullptr, false);
}

}  // namespace taper::cuda_kernels
