#include <taper/memory_format.h>
#include <taper/tensor.h>

#include <algorithm>

namespace taper {
namespace {

/// Calls f(d) for the dimensions of [n, c, ...] from the innermost of the channels-last order to the outermost, while
/// it returns true; whether it always did.
template <class F>
bool all_channels_last(int rank, F&& f) {
  if (!f(std::size_t(1))) return false;
  for (int d = rank - 1; d >= 2; --d)
    if (!f(std::size_t(d))) return false;
  return f(std::size_t(0));
}

}  // namespace

SizesAndStrides dense_geometry(IntSpan sizes, MemoryFormat format) {
  if (format == MemoryFormat::contiguous) return SizesAndStrides::contiguous(sizes);
  SizesAndStrides g = SizesAndStrides::of_rank(int(sizes.size()));
  std::int64_t step = 1;
  all_channels_last(g.rank(), [&](std::size_t d) {
    g.set(int(d), sizes[d], step);
    step *= std::max<std::int64_t>(sizes[d], 1);
    return true;
  });
  return g;
}

MemoryFormat suggested_memory_format(const Tensor& t) {
  const IntSpan sizes = t.sizes(), strides = t.strides();
  if (t.dim() < 3) return MemoryFormat::contiguous;
  std::int64_t least = 0;
  const bool is_last = all_channels_last(t.dim(), [&](std::size_t d) {
    if (sizes[d] == 0 || strides[d] < least) return false;
    // All sizes 1 but the channels: [n, 1, 1, c] and [n, c, 1, 1] look the same, and row-major is the usual.
    if (d == 0 && least == strides[1]) return false;
    least = strides[d] * std::max<std::int64_t>(sizes[d], 1);
    return true;
  });
  return is_last ? MemoryFormat::channels_last : MemoryFormat::contiguous;
}

bool Tensor::is_contiguous(MemoryFormat format) const {
  if (format == MemoryFormat::contiguous) return is_contiguous();
  if (dim() < 3) return false;
  std::int64_t step = 1;
  return numel() == 0 || all_channels_last(dim(), [&](std::size_t d) {
           const bool fits = sizes()[d] == 1 || strides()[d] == step;
           step *= sizes()[d];
           return fits;
         });
}

Tensor Tensor::contiguous(MemoryFormat format) const {
  if (format == MemoryFormat::contiguous) return contiguous();
  check<ShapeError>(dim() >= 3, "contiguous: channels_last needs a shape [n, c, ...] of three dimensions or more, got ",
                    spec());
  if (is_contiguous(format)) return *this;
  // As a row-major tensor [n, ..., c], whose dimensions then go back to their places.
  IntVec there = {0}, back = {0, dim() - 1};
  for (std::int64_t d = 2; d < dim(); ++d) there.push_back(d), back.push_back(d - 1);
  there.push_back(1);
  return permute(there).contiguous().permute(back);
}

}  // namespace taper
