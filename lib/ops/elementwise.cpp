#include "elementwise.h"

#include <taper/small_vector.h>

#include <algorithm>

namespace taper {
namespace {

[[noreturn]] void raise_no_broadcast(const char* op, const Tensor& a, const Tensor& b) {
  const IntSpan sa = a.sizes(), sb = b.sizes();
  const std::size_t rank = std::max(sa.size(), sb.size());
  std::size_t back = 1;  // dimension counted from the right
  while (sa[sa.size() - back] == sb[sb.size() - back] || sa[sa.size() - back] == 1 || sb[sb.size() - back] == 1) ++back;
  raise<ShapeError>(op, ": shapes ", sa, " and ", sb, " do not broadcast: dimension ", rank - back,
                    " of the result would be both ", sa[sa.size() - back], " and ", sb[sb.size() - back],
                    "; sizes must be equal or 1, counted from the right");
}

/// Whether the shape so far takes in t's; its rank is enough.
bool broadcast_into(SmallVector<std::int64_t, 8>& sizes, const Tensor& t) {
  const IntSpan s = t.sizes();
  const std::size_t lead = sizes.size() - s.size();
  for (std::size_t d = 0; d < s.size(); ++d) {
    std::int64_t& n = sizes[lead + d];
    if (n == 1)
      n = s[d];
    else if (s[d] != 1 && s[d] != n)
      return false;
  }
  return true;
}

/// An operand's step along dimension d of a result of this rank; 0 where it is repeated.
std::int64_t step_of(const Tensor& t, std::size_t d, std::size_t rank) {
  const std::size_t lead = rank - t.sizes().size();
  return d < lead || t.sizes()[d - lead] == 1 ? 0 : t.strides()[d - lead];
}

/// Above 0 if dimension a lies outside b in memory, below 0 if inside, 0 if the operands do not say.
/// The first operand that moves along both decides.
int compare_dims(std::initializer_list<const Tensor*> operands, const SmallVector<std::int64_t, 8>& sizes,
                 std::size_t a, std::size_t b) {
  for (const Tensor* t : operands) {
    const std::int64_t step_a = step_of(*t, a, sizes.size()), step_b = step_of(*t, b, sizes.size());
    if (step_a == 0 || step_b == 0) continue;
    if (step_a != step_b) return step_a > step_b ? 1 : -1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

}  // namespace

TensorSpec elementwise_spec(const char* op, DType dtype, std::initializer_list<const Tensor*> operands) {
  std::size_t rank = 0;
  Device device = (*operands.begin())->device();
  bool device_decided = false;
  for (const Tensor* t : operands) {
    rank = std::max(rank, t->sizes().size());
    if (!device_decided && !(t->device().is_cpu() && t->dim() == 0)) device = t->device(), device_decided = true;
  }
  SmallVector<std::int64_t, 8> sizes(rank);
  for (std::int64_t& n : sizes) n = 1;
  for (const Tensor* t : operands) {
    if (broadcast_into(sizes, *t)) continue;
    for (const Tensor* other : operands) {
      SmallVector<std::int64_t, 8> both(std::max(t->sizes().size(), other->sizes().size()));
      for (std::int64_t& n : both) n = 1;
      if (!(broadcast_into(both, *other) && broadcast_into(both, *t))) raise_no_broadcast(op, *other, *t);
    }
  }

  // Innermost first. Starting from row-major order and moving a dimension only past those it is known to be inside of.
  SmallVector<std::size_t, 8> order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  for (std::size_t i = 1; i < rank; ++i) {
    std::size_t moving = i;
    for (std::size_t j = i; j-- > 0;) {
      const int c = compare_dims(operands, sizes, order[j], order[moving]);
      if (c < 0) break;
      if (c > 0) std::swap(order[j], order[moving]), moving = j;
    }
  }

  TensorSpec spec{SizesAndStrides::of_rank(int(rank)), dtype, device};
  std::int64_t step = 1;
  for (std::size_t d : order) {
    spec.geometry.set(int(d), sizes[d], step);
    step *= std::max<std::int64_t>(sizes[d], 1);
  }

  // Operands laid out alike and densely: their strides, also where a size of 1 makes them arbitrary.
  const Tensor& first = **operands.begin();
  bool alike = !first.is_contiguous();
  for (const Tensor* t : operands) alike &= t->impl()->geometry() == first.impl()->geometry();
  for (std::size_t d = 0; alike && d < rank; ++d) alike = sizes[d] == 1 || first.strides()[d] == spec.strides()[d];
  if (alike) spec.geometry = first.impl()->geometry();
  return spec;
}

}  // namespace taper
