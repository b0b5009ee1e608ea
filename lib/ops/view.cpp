// Views of all elements: dims in another order, with dims of size 1 more or less, or repeated.
#include <taper/operator.h>
#include <taper/ops/view.h>

#include <utility>

#include "wrap_dim.h"

namespace taper {
namespace {

Geometry infer_transpose(const Tensor& self, const std::int64_t& dim0, const std::int64_t& dim1) {
  Geometry g{self.impl()->geometry(), self.storage_offset()};
  const std::int64_t a = wrap_dim("transpose", dim0, self), b = wrap_dim("transpose", dim1, self);
  if (a == b) return g;
  const IntSpan sizes = self.sizes(), strides = self.strides();
  g.shape.set(int(a), sizes[std::size_t(b)], strides[std::size_t(b)]);
  g.shape.set(int(b), sizes[std::size_t(a)], strides[std::size_t(a)]);
  return g;
}

Geometry infer_permute(const Tensor& self, const IntSpan& dims) {
  check<ShapeError>(int(dims.size()) == self.dim(), "permute: dims ", dims, " names ", dims.size(), " dims but ", self,
                    " has ", self.dim());
  Geometry g{SizesAndStrides::of_rank(self.dim()), self.storage_offset()};
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t d = std::size_t(wrap_dim("permute", dims[i], self));
    for (std::size_t k = 0; k < i; ++k)
      check<ShapeError>(wrap_dim("permute", dims[k], self) != std::int64_t(d), "permute: dims ", dims, " names dim ", d,
                        " twice");
    g.shape.set(int(i), self.sizes()[d], self.strides()[d]);
  }
  return g;
}

Geometry infer_unsqueeze(const Tensor& self, const std::int64_t& dim) {
  const int rank = self.dim();
  check<IndexError>(dim >= -rank - 1 && dim <= rank, "unsqueeze: dim ", dim, " is out of range for ", self,
                    ", which takes ", -rank - 1, " to ", rank);
  const int at = int(dim < 0 ? dim + rank + 1 : dim);
  const IntSpan sizes = self.sizes(), strides = self.strides();
  Geometry g{SizesAndStrides::of_rank(rank + 1), self.storage_offset()};
  for (int d = 0; d < at; ++d) g.shape.set(d, sizes[std::size_t(d)], strides[std::size_t(d)]);
  g.shape.set(at, 1, at < rank ? sizes[std::size_t(at)] * strides[std::size_t(at)] : 1);
  for (int d = at; d < rank; ++d) g.shape.set(d + 1, sizes[std::size_t(d)], strides[std::size_t(d)]);
  return g;
}

Geometry infer_squeeze(const Tensor& self, const std::optional<std::int64_t>& dim) {
  const IntSpan sizes = self.sizes(), strides = self.strides();
  const std::int64_t only = dim ? wrap_dim("squeeze", *dim, self) : -1;
  const auto drops = [&](std::size_t d) { return sizes[d] == 1 && (only < 0 || std::int64_t(d) == only); };
  int rank = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) rank += !drops(d);
  Geometry g{SizesAndStrides::of_rank(rank), self.storage_offset()};
  int out = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (!drops(d)) g.shape.set(out++, sizes[d], strides[d]);
  return g;
}

Geometry infer_expand(const Tensor& self, const IntSpan& sizes) {
  const int rank = int(sizes.size()), lead = rank - self.dim();
  check<ShapeError>(lead >= 0, "expand: size ", sizes, " has fewer dims than ", self);
  Geometry g{SizesAndStrides::of_rank(rank), self.storage_offset()};
  for (int d = rank - 1; d >= 0; --d) {
    const std::int64_t target = sizes[std::size_t(d)];
    check<ShapeError>(target >= (d < lead ? 0 : -1), "expand: size ", sizes, " has ", target, " at dim ", d,
                      d < lead ? ", a dim that self lacks; expected 0 or more" : ", expected 0 or more, or -1 to keep");
    if (d < lead) {
      // A new dim of size 1 gets the stride that unsqueeze would give it.
      const bool last = d + 1 == rank;
      const std::int64_t whole = last ? 1 : g.shape.sizes()[std::size_t(d + 1)] * g.shape.strides()[std::size_t(d + 1)];
      g.shape.set(d, target, target == 1 ? whole : 0);
      continue;
    }
    const std::int64_t size = self.sizes()[std::size_t(d - lead)], stride = self.strides()[std::size_t(d - lead)];
    const bool keeps = target == -1 || target == size;
    check<ShapeError>(keeps || size == 1, "expand: ", self, " does not expand to ", sizes, ": dim ", d - lead, " is ",
                      size, ", and only a dim of size 1 can become ", target);
    g.shape.set(d, keeps ? size : target, keeps ? stride : 0);
  }
  check_numel("expand", g.shape.sizes());
  return g;
}

}  // namespace

namespace ops {
constinit ViewOp<std::int64_t, std::int64_t> transpose{"transpose", "self, dim0, dim1", infer_transpose};
constinit ViewOp<IntSpan> permute{"permute", "self, dims", infer_permute};
constinit ViewOp<std::int64_t> unsqueeze{"unsqueeze", "self, dim", infer_unsqueeze};
constinit ViewOp<std::optional<std::int64_t>> squeeze{"squeeze", "self, dim", infer_squeeze};
constinit ViewOp<IntSpan> expand{"expand", "self, size", infer_expand};
}  // namespace ops

Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1) { return ops::transpose(self, dim0, dim1); }
Tensor permute(const Tensor& self, IntSpan dims) { return ops::permute(self, dims); }
Tensor unsqueeze(const Tensor& self, std::int64_t dim) { return ops::unsqueeze(self, dim); }
Tensor squeeze(const Tensor& self) { return ops::squeeze(self, std::nullopt); }
Tensor squeeze(const Tensor& self, std::int64_t dim) { return ops::squeeze(self, dim); }
Tensor expand(const Tensor& self, IntSpan sizes) { return ops::expand(self, sizes); }
Tensor expand_as(const Tensor& self, const Tensor& other) { return ops::expand(self, other.sizes()); }
Tensor broadcast_to(const Tensor& self, IntSpan sizes) { return ops::expand(self, sizes); }

bool same_layout(const Tensor& a, const Tensor& b) { return a.impl()->geometry() == b.impl()->geometry(); }

Tensor t(const Tensor& self) {
  check<ShapeError>(self.dim() <= 2, "t: ", self, " has ", self.dim(),
                    " dims, expected at most 2; for a batch of matrices use transpose(-2, -1)");
  return ops::transpose(self, 0, self.dim() < 2 ? 0 : 1);
}

Tensor numpy_T(const Tensor& self) {
  IntVec reversed;
  for (std::int64_t d = self.dim(); d-- > 0;) reversed.push_back(d);
  return ops::permute(self, reversed);
}

Tensor mT(const Tensor& self) {
  check<ShapeError>(self.dim() >= 2, "mT: ", self, " has ", self.dim(), " dims, expected a matrix or a batch of them");
  return ops::transpose(self, -2, -1);
}

Tensor movedim(const Tensor& self, IntSpan source, IntSpan destination) {
  check<ShapeError>(source.size() == destination.size(), "movedim: source ", source, " and destination ", destination,
                    " differ in length");
  const std::size_t rank = std::size_t(self.dim());
  IntVec from(rank, -1);  // dim of self that goes to each place
  std::vector<bool> moved(rank, false);
  for (std::size_t i = 0; rank > 0 && i < source.size(); ++i) {
    const std::size_t s = std::size_t(wrap_dim("movedim", source[i], self));
    const std::size_t d = std::size_t(wrap_dim("movedim", destination[i], self));
    check<ShapeError>(!moved[s], "movedim: source ", source, " names dim ", s, " twice");
    check<ShapeError>(from[d] < 0, "movedim: destination ", destination, " names dim ", d, " twice");
    from[d] = std::int64_t(s), moved[s] = true;
  }
  std::int64_t next = 0;
  for (std::int64_t& f : from) {
    if (f >= 0) continue;
    while (moved[std::size_t(next)]) ++next;
    f = next++;
  }
  return ops::permute(self, from);
}

Tensor Tensor::transpose(std::int64_t dim0, std::int64_t dim1) const { return ops::transpose(*this, dim0, dim1); }
Tensor Tensor::permute(IntSpan dims) const { return ops::permute(*this, dims); }
Tensor Tensor::t() const { return taper::t(*this); }
Tensor Tensor::mT() const { return taper::mT(*this); }
Tensor Tensor::unsqueeze(std::int64_t dim) const { return ops::unsqueeze(*this, dim); }
Tensor Tensor::squeeze() const { return ops::squeeze(*this, std::nullopt); }
Tensor Tensor::squeeze(std::int64_t dim) const { return ops::squeeze(*this, dim); }
Tensor Tensor::expand(IntSpan sizes) const { return ops::expand(*this, sizes); }
Tensor Tensor::expand_as(const Tensor& other) const { return ops::expand(*this, other.sizes()); }

}  // namespace taper
