#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/copy.h>
#include <taper/ops/diagonals.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include <algorithm>

#include "op_names.h"
#include "wrap_dim.h"
#include "write_out.h"

namespace taper {
namespace {

template <OpName op>
TensorSpec infer_triangle(const Tensor& self, const std::int64_t&) {
  check<ShapeError>(self.dim() >= 2, op.text, ": needs a matrix or a batch of them, got ", self);
  return TensorSpec::contiguous(self.sizes(), self.dtype(), self.device());
}

/// The positions that `holds(row, column)` chooses.
template <class F>
Tensor chosen_indices(const char* op, std::int64_t rows, std::int64_t columns, F holds) {
  check<ValueError>(rows >= 0 && columns >= 0, op, ": there are ", rows, " rows and ", columns,
                    " columns, expected 0 or more");
  std::vector<std::int64_t> at[2];
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      if (holds(r, c)) at[0].push_back(r), at[1].push_back(c);
  const std::int64_t count = std::int64_t(at[0].size());
  at[0].insert(at[0].end(), at[1].begin(), at[1].end());
  return from_vector(std::move(at[0]), IntVec{2, count});
}

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor, std::int64_t)> tril{"tril", "self, diagonal", infer_triangle<"tril">, "tril_",
                                                          OpKind::structured};
constinit StructuredOp<Tensor(Tensor, std::int64_t)> triu{"triu", "self, diagonal", infer_triangle<"triu">, "triu_",
                                                          OpKind::structured};
}  // namespace ops

Tensor tril(const Tensor& self, std::int64_t diagonal) { return ops::tril(self, diagonal); }
Tensor& tril_out(Tensor& out, const Tensor& self, std::int64_t diagonal) { return ops::tril.out(out, self, diagonal); }
Tensor triu(const Tensor& self, std::int64_t diagonal) { return ops::triu(self, diagonal); }
Tensor& triu_out(Tensor& out, const Tensor& self, std::int64_t diagonal) { return ops::triu.out(out, self, diagonal); }

Tensor diag(const Tensor& self, std::int64_t diagonal) {
  check<ShapeError>(self.dim() == 1 || self.dim() == 2, "diag: needs a vector or a matrix, got ", self);
  return self.dim() == 1 ? diag_embed(self, diagonal, 0, 1) : self.diagonal(diagonal).clone();
}
Tensor& diag_out(Tensor& out, const Tensor& self, std::int64_t diagonal) {
  return write_out("diag", out, diag(self, diagonal));
}

Tensor diag_embed(const Tensor& self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  check<ShapeError>(self.dim() > 0, "diag_embed: needs at least one dim, got ", self);
  const std::int64_t rank = self.dim() + 1;
  const std::int64_t a = wrap_dim("diag_embed", dim1, rank, "the result"),
                     b = wrap_dim("diag_embed", dim2, rank, "the result");
  check<ShapeError>(a != b, "diag_embed: dim1 and dim2 are both ", dim1, "; a diagonal needs two dims");
  constexpr std::int64_t kFar = std::int64_t(1) << 40;
  check<ValueError>(offset > -kFar && offset < kFar, "diag_embed: offset ", offset, " is too far from the diagonal");
  const std::int64_t n = self.size(-1) + (offset < 0 ? -offset : offset);
  IntVec sizes;
  int next = 0;
  for (std::int64_t d = 0; d < rank; ++d) sizes.push_back(d == a || d == b ? n : self.size(next++));
  Tensor out = zeros(sizes, self.dtype(), self.device());
  // offset leads to the right from row dim1 to column dim2, also where dim2 comes first.
  out.diagonal(offset, a, b).copy_(self);
  return out;
}
Tensor& diag_embed_out(Tensor& out, const Tensor& self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  return write_out("diag_embed", out, diag_embed(self, offset, dim1, dim2));
}

Tensor diagflat(const Tensor& self, std::int64_t offset) { return diag_embed(self.reshape(-1), offset, 0, 1); }

Tensor trace(const Tensor& self) {
  check<ShapeError>(self.dim() == 2, "trace: needs a matrix, got ", self);
  return self.diagonal().sum();
}
Tensor& trace_out(Tensor& out, const Tensor& self) { return write_out("trace", out, trace(self)); }

Tensor tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  return chosen_indices("tril_indices", rows, columns, [&](auto r, auto c) { return c - r <= offset; });
}
Tensor triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  return chosen_indices("triu_indices", rows, columns, [&](auto r, auto c) { return c - r >= offset; });
}

Tensor Tensor::tril(std::int64_t diagonal) const { return ops::tril(*this, diagonal); }
Tensor& Tensor::tril_(std::int64_t diagonal) { return ops::tril.inplace(*this, *this, diagonal); }
Tensor Tensor::triu(std::int64_t diagonal) const { return ops::triu(*this, diagonal); }
Tensor& Tensor::triu_(std::int64_t diagonal) { return ops::triu.inplace(*this, *this, diagonal); }
Tensor Tensor::diag(std::int64_t diagonal) const { return taper::diag(*this, diagonal); }
Tensor Tensor::diag_embed(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const {
  return taper::diag_embed(*this, offset, dim1, dim2);
}
Tensor Tensor::diagflat(std::int64_t offset) const { return taper::diagflat(*this, offset); }
Tensor Tensor::trace() const { return taper::trace(*this); }

}  // namespace taper
