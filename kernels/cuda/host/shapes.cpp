// Elements in other places: cat, stack, flip, triangles, nonzero.
#include <taper/operator.h>
#include <taper/ops/diagonals.h>
#include <taper/ops/index.h>
#include <taper/ops/join.h>
#include <taper/ops/rearrange.h>
#include <taper/ops/scan.h>

#include <algorithm>

#include "cuda/index.h"
#include "device.h"
#include "elementwise.h"
#include "install.h"
#include "joined.h"
#include "walks.h"

namespace taper::cuda_kernels {
namespace {

std::int64_t wrapped(std::int64_t dim, const Tensor& t) { return dim < 0 ? dim + t.dim() : dim; }

void cat(Tensor& out, const TensorList& tensors, const std::int64_t& dim) {
  if (out.numel() == 0) return;
  const std::int64_t d = wrapped(dim, out);
  std::int64_t start = 0;
  for (const Tensor& t : tensors) {
    if (t.numel() == 0) continue;  // skipped, or nothing along dim
    copy_elements(joined::part_of(out, d, start, t.size(d)), t);
    start += t.size(d);
  }
}
void stack(Tensor& out, const TensorList& tensors, const std::int64_t& dim) {
  if (out.numel() == 0) return;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    copy_elements(joined::entry_of(out, wrapped(dim, out), std::int64_t(i)), tensors[i]);
}

/// A copy of self with negative strides.
void flip(Tensor& out, const Tensor& self, const IntSpan& dims) {
  if (out.numel() == 0) return;
  IntVec strides = self.strides().vec();
  std::int64_t first = self.storage_offset();
  for (const std::int64_t any : dims) {
    if (self.dim() == 0) break;
    const std::int64_t d = wrapped(any, self);
    first += (self.size(d) - 1) * self.stride(d);
    strides[std::size_t(d)] = -self.stride(d);
  }
  copy_elements(out, look_at(self, SizesAndStrides(self.sizes(), strides), first));
}

template <bool lower>
void triangle_of(Tensor& out, const Tensor& x, const std::int64_t& diagonal) {
  if (out.numel() == 0) return;
  const OnDevice on(out.device());
  const Walk<1> walk = walk_over<1>(lower ? "tril" : "triu", x.sizes(), {x.strides().vec()});
  const Triangle shape{FastDiv::by(std::uint32_t(x.size(-2))), FastDiv::by(std::uint32_t(x.size(-1))), diagonal, lower};
  dispatch_size(x.dtype(),
                [&]<class T>(Type<T>) { triangle(on.queue(), walk, shape, elements<const T>(x), elements<T>(out)); });
}

void nonzero(Tensor& out, const Tensor& self, const std::int64_t&) {
  if (out.numel() == 0) return;
  const OnDevice on(out.device());
  check<NotImplementedError>(self.numel() <= kMostCounted && self.dim() <= kMostCoordinates, "nonzero: ", self,
                             " has more elements or dims than kernels of cuda count; work on parts of it");
  const Tensor mask = empty(TensorSpec::contiguous({self.numel()}, bool_, self.device()));
  copy_elements(look_at(mask, SizesAndStrides::contiguous(self.sizes()), 0), self);
  const Tensor ends = ops::cumsum.below_autograd(mask, 0);
  Coordinates shape{};
  shape.count = std::uint32_t(self.numel());
  shape.rank = self.dim();
  for (int d = 0; d < shape.rank; ++d) shape.size[d] = FastDiv::by(std::uint32_t(self.size(shape.rank - 1 - d)));
  list_true(on.queue(), shape, elements<const bool>(mask), elements<const std::int64_t>(ends),
            elements<std::int64_t>(out));
}

}  // namespace

void install_shapes() {
  constexpr DispatchKey key = DispatchKey::CUDA;
  ops::cat.set_kernel(key, cat);
  ops::stack.set_kernel(key, stack);
  ops::flip.set_kernel(key, flip);
  ops::tril.set_kernel(key, triangle_of<true>);
  ops::triu.set_kernel(key, triangle_of<false>);
  ops::nonzero.set_kernel(key, nonzero);
}

}  // namespace taper::cuda_kernels
