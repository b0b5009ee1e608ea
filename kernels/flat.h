#pragma once
#include <taper/tensor.h>

#include <array>

namespace taper::kernels {

/// Whether all show their elements in one order, without gaps: then memory is passed from end to end. The first is
/// written to, so that none of its elements share memory.
template <std::size_t N>
bool are_flat(const std::array<const Tensor*, N>& ts) {
  bool contiguous = true;
  for (const Tensor* t : ts) contiguous &= t->is_contiguous();
  if (contiguous) return true;
  std::int64_t extent = 1;
  const IntSpan sizes = ts[0]->sizes(), strides = ts[0]->strides();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] > 1) extent += (sizes[d] - 1) * strides[d];
  }
  for (const Tensor* t : ts)
    if (!(t->strides() == strides)) return false;
  // As many places as elements means that each is used once.
  return extent == ts[0]->numel();
}

}  // namespace taper::kernels
