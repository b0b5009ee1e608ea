#pragma once
// gather, scatter and their kin use only as much of src as index has elements: a corner of it.
#include <taper/ops/view.h>

namespace taper {

/// The corner of src that index reaches.
inline Tensor corner(const Tensor& src, const Tensor& index) {
  Tensor part = src;
  for (int d = 0; d < std::min(src.dim(), index.dim()); ++d) part = part.narrow(d, 0, index.size(d));
  return part;
}

/// g, of the corner's shape, with 0 for the rest of src.
inline Tensor grown(const Tensor& g, const TensorSpec& src) {
  if (g.sizes() == src.sizes()) return g;
  const TensorSpec whole = TensorSpec::contiguous(src.sizes(), g.dtype(), g.device());
  if (g.dim() != whole.dim()) return g.reshape(src.sizes());
  return ops::place_view(g, ViewPlacement{whole, SizesAndStrides(g.sizes(), whole.strides()), 0});
}

}  // namespace taper
