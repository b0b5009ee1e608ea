#pragma once
// Where the operands of cat and stack go, on every device.
#include <taper/operator.h>

namespace taper::joined {

/// The entries [start, start + size) of `out` along `dim`.
inline Tensor part_of(const Tensor& out, std::int64_t dim, std::int64_t start, std::int64_t size) {
  SizesAndStrides g = out.impl()->geometry();
  const std::int64_t stride = out.stride(dim);
  g.set(int(dim), size, stride);
  return detail::make_view(out, {std::move(g), out.storage_offset() + start * stride}, false, "slice");
}

/// Entry i of `out` along `dim`, without the dim.
inline Tensor entry_of(const Tensor& out, std::int64_t dim, std::int64_t i) {
  SizesAndStrides g = SizesAndStrides::of_rank(out.dim() - 1);
  for (int d = 0, to = 0; d < out.dim(); ++d)
    if (d != dim) g.set(to++, out.size(d), out.stride(d));
  return detail::make_view(out, {std::move(g), out.storage_offset() + i * out.stride(dim)}, false, "select");
}

}  // namespace taper::joined
