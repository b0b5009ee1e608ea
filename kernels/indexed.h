#pragma once
// What gather and scatter do to strides, on every device.
#include <taper/tensor.h>

namespace taper::kernels {

/// Strides in the shape of index of the tensor that the positions go into: none along dim, where the position decides.
struct Indexed {
  int dim = 0;
  std::int64_t size = 1, step = 1;
  IntVec strides;
  Indexed(const Tensor& t, std::int64_t any_dim, const Tensor& index) : strides(std::size_t(index.dim()), 0) {
    if (t.dim() == 0) return;
    dim = int(t.wrapped_dim(any_dim));
    size = t.size(dim);
    step = t.stride(dim);
    for (int d = 0; d < index.dim(); ++d)
      if (d != dim) strides[std::size_t(d)] = t.stride(d);
  }
};

/// Strides to read t in the shape of index, which may have a dim where t has none.
inline IntVec strides_like(const Tensor& t, const Tensor& index) {
  IntVec s = t.strides().vec();
  s.resize(std::size_t(index.dim()), 0);
  return s;
}

}  // namespace taper::kernels
