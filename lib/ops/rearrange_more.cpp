// Rearrangements made of views and copies.
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/copy.h>
#include <taper/ops/index.h>
#include <taper/ops/join.h>
#include <taper/ops/rearrange.h>
#include <taper/ops/reduce.h>
#include <taper/ops/scan.h>
#include <taper/ops/sort.h>
#include <taper/ops/view.h>
#include <taper/promotion.h>

#include "constant_on.h"
#include "wrap_dim.h"
#include "write_out.h"

namespace taper {

Tensor rot90(const Tensor& self, std::int64_t k, IntSpan dims) {
  check<ShapeError>(dims.size() == 2, "rot90: dims must be two, got ", dims);
  check<ShapeError>(self.dim() >= 2, "rot90: needs at least two dims, got ", self);
  const std::int64_t a = wrap_dim("rot90", dims[0], self), b = wrap_dim("rot90", dims[1], self);
  check<ShapeError>(a != b, "rot90: dims ", dims, " name dim ", a, " twice");
  switch ((k % 4 + 4) % 4) {
    case 1:
      return self.flip(IntSpan{b}).transpose(a, b).clone();
    case 2:
      return self.flip({a, b});
    case 3:
      return self.flip(IntSpan{a}).transpose(a, b).clone();
    default:
      return self.clone();
  }
}
Tensor& rot90_out(Tensor& out, const Tensor& self, std::int64_t k, IntSpan dims) {
  return write_out("rot90", out, rot90(self, k, dims));
}

Tensor repeat_interleave(const Tensor& self, std::int64_t repeats, std::optional<std::int64_t> dim) {
  check<ValueError>(repeats >= 0, "repeat_interleave: repeats is ", repeats, ", expected 0 or more");
  if (!dim) return repeat_interleave(self.reshape(-1), repeats, 0);
  const std::int64_t d = wrap_dim("repeat_interleave", *dim, self);
  if (self.dim() == 0) return repeat_interleave(self.reshape(-1), repeats, 0);
  IntVec shown = self.sizes().vec(), sizes = shown;
  shown.insert(shown.begin() + d + 1, repeats);
  sizes[std::size_t(d)] *= repeats;
  return self.unsqueeze(d + 1).expand(shown).clone().reshape(sizes);
}

Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<std::int64_t> dim) {
  if (!dim) return repeat_interleave(self.reshape(-1), repeats, 0);
  const std::int64_t d = wrap_dim("repeat_interleave", *dim, self);
  check<DTypeError>(repeats.dtype() == int64 || repeats.dtype() == int32,
                    "repeat_interleave: repeats must be int64 or int32, got ", repeats);
  const std::int64_t n = self.dim() == 0 ? 1 : self.size(d);
  check<ShapeError>(repeats.dim() <= 1 && (repeats.numel() == n || repeats.numel() == 1), "repeat_interleave: repeats ",
                    repeats, " must have one entry, or ", n, ", as dim ", d, " of ", self);
  const Tensor times = repeats.to(int64).reshape(-1).expand({n});
  check<ValueError>(n == 0 || times.min().item<std::int64_t>() >= 0, "repeat_interleave: repeats has a negative entry");
  const Tensor ends = cumsum(times, 0);
  const std::int64_t total = n == 0 ? 0 : ends.select(0, -1).item<std::int64_t>();
  // Entry j of the result is the entry whose run it falls into.
  const Tensor from = bucketize(arange(total, {.dtype = int64, .device = self.device()}), ends, false, true);
  return index_select(self.dim() == 0 ? self.reshape(-1) : self, d, from);
}
Tensor& repeat_interleave_out(Tensor& out, const Tensor& self, std::int64_t repeats, std::optional<std::int64_t> dim) {
  return write_out("repeat_interleave", out, repeat_interleave(self, repeats, dim));
}
Tensor& repeat_interleave_out(Tensor& out, const Tensor& self, const Tensor& repeats, std::optional<std::int64_t> dim) {
  return write_out("repeat_interleave", out, repeat_interleave(self, repeats, dim));
}

namespace {
Tensor with_part_replaced(const char* op, const Tensor& self, const Tensor& src, auto part) {
  Tensor out = self.clone();
  Tensor replaced = part(out);
  check<ShapeError>(replaced.sizes() == src.sizes(), op, ": src is ", src.sizes(), " but what it replaces is ",
                    replaced.sizes());
  replaced.copy_(src);
  return out;
}
}  // namespace

Tensor select_scatter(const Tensor& self, const Tensor& src, std::int64_t dim, std::int64_t index) {
  return with_part_replaced("select_scatter", self, src, [&](const Tensor& t) { return t.select(dim, index); });
}
Tensor& select_scatter_out(Tensor& out, const Tensor& self, const Tensor& src, std::int64_t dim, std::int64_t index) {
  return write_out("select_scatter", out, select_scatter(self, src, dim, index));
}
Tensor slice_scatter(const Tensor& self, const Tensor& src, std::int64_t dim, std::optional<std::int64_t> start,
                     std::optional<std::int64_t> end, std::int64_t step) {
  return with_part_replaced("slice_scatter", self, src,
                            [&](const Tensor& t) { return t.slice(dim, start, end, step); });
}
Tensor& slice_scatter_out(Tensor& out, const Tensor& self, const Tensor& src, std::int64_t dim,
                          std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step) {
  return write_out("slice_scatter", out, slice_scatter(self, src, dim, start, end, step));
}
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, std::int64_t offset, std::int64_t dim1,
                        std::int64_t dim2) {
  return with_part_replaced("diagonal_scatter", self, src,
                            [&](const Tensor& t) { return t.diagonal(offset, dim1, dim2); });
}
Tensor& diagonal_scatter_out(Tensor& out, const Tensor& self, const Tensor& src, std::int64_t offset, std::int64_t dim1,
                             std::int64_t dim2) {
  return write_out("diagonal_scatter", out, diagonal_scatter(self, src, offset, dim1, dim2));
}

TensorList broadcast_tensors(const TensorList& tensors) {
  IntVec sizes;
  for (const Tensor& t : tensors) sizes = broadcast_sizes("broadcast_tensors", sizes, t.sizes());
  TensorList out;
  for (const Tensor& t : tensors) out.push_back(t.expand(sizes));
  return out;
}

TensorList meshgrid(const TensorList& tensors, std::string_view indexing) {
  check<ValueError>(indexing == "ij" || indexing == "xy", "meshgrid: indexing is '", indexing,
                    "', expected \"ij\" or \"xy\"");
  check<ValueError>(!tensors.empty(), "meshgrid: the list of tensors is empty");
  for (const Tensor& t : tensors) {
    check<ShapeError>(t.dim() <= 1, "meshgrid: needs vectors, got ", t);
    check<DTypeError>(t.dtype() == tensors[0].dtype(), "meshgrid: tensors of ", tensors[0].dtype(), " and ", t.dtype(),
                      "; convert one of them with to()");
  }
  IntVec sizes;
  for (const Tensor& t : tensors) sizes.push_back(t.numel());
  const std::size_t rank = sizes.size();
  const bool swap = indexing == "xy" && rank >= 2;
  TensorList out;
  for (std::size_t k = 0; k < rank; ++k) {
    IntVec own(rank, 1);
    own[k] = sizes[k];
    const Tensor grid = tensors[k].reshape(own).expand(sizes);
    out.push_back(swap ? grid.transpose(0, 1) : grid);
  }
  return out;
}

Tensor cartesian_prod(const TensorList& tensors) {
  for (const Tensor& t : tensors) check<ShapeError>(t.dim() == 1, "cartesian_prod: needs vectors, got ", t);
  if (tensors.size() == 1) return tensors[0].clone();
  TensorList columns;
  for (const Tensor& grid : meshgrid(tensors)) columns.push_back(grid.reshape(-1));
  return stack(columns, 1);
}

Tensor block_diag(const TensorList& tensors) {
  check<ValueError>(!tensors.empty(), "block_diag: the list of tensors is empty");
  std::int64_t rows = 0, columns = 0;
  TensorList blocks;
  for (const Tensor& t : tensors) {
    check<ShapeError>(t.dim() <= 2, "block_diag: needs matrices, got ", t);
    blocks.push_back(t.dim() == 2 ? t : t.reshape({1, t.numel()}));
    rows += blocks.back().size(0), columns += blocks.back().size(1);
  }
  Tensor out = zeros({rows, columns}, result_type(tensors), tensors[0].device());
  std::int64_t r = 0, c = 0;
  for (const Tensor& b : blocks) {
    out.narrow(0, r, b.size(0)).narrow(1, c, b.size(1)).copy_(b);
    r += b.size(0), c += b.size(1);
  }
  return out;
}
Tensor& block_diag_out(Tensor& out, const TensorList& tensors) {
  return write_out("block_diag", out, block_diag(tensors));
}

Tensor combinations(const Tensor& self, std::int64_t r, bool with_replacement) {
  check<ShapeError>(self.dim() == 1, "combinations: needs a vector, got ", self);
  check<ValueError>(r >= 0, "combinations: r is ", r, ", expected 0 or more");
  if (r == 0) return empty({0}, {.dtype = self.dtype(), .device = self.device()});
  const std::int64_t n = self.size(0);
  std::vector<std::int64_t> rows, choice(std::size_t(r), 0);  // positions, ascending
  if (!with_replacement)
    for (std::int64_t i = 0; i < r; ++i) choice[std::size_t(i)] = i;
  for (bool more = n > 0 && choice.back() < n; more;) {
    rows.insert(rows.end(), choice.begin(), choice.end());
    more = false;
    for (std::int64_t i = r; !more && i-- > 0;) {
      const std::int64_t most = with_replacement ? n - 1 : n - r + i;
      if (choice[std::size_t(i)] >= most) continue;
      more = true;
      std::int64_t next = ++choice[std::size_t(i)];
      for (std::int64_t k = i + 1; k < r; ++k) choice[std::size_t(k)] = with_replacement ? next : ++next;
    }
  }
  const std::int64_t count = std::int64_t(rows.size()) / r;
  return self.take(constant_on(self.device(), from_vector(std::move(rows), IntVec{count, r})));
}

Tensor Tensor::rot90(std::int64_t k, IntSpan dims) const { return taper::rot90(*this, k, dims); }
Tensor Tensor::repeat_interleave(std::int64_t repeats, std::optional<std::int64_t> dim) const {
  return taper::repeat_interleave(*this, repeats, dim);
}
Tensor Tensor::repeat_interleave(const Tensor& repeats, std::optional<std::int64_t> dim) const {
  return taper::repeat_interleave(*this, repeats, dim);
}

Tensor Tensor::select_scatter(const Tensor& src, std::int64_t dim, std::int64_t index) const {
  return taper::select_scatter(*this, src, dim, index);
}
Tensor Tensor::slice_scatter(const Tensor& src, std::int64_t dim, std::optional<std::int64_t> start,
                             std::optional<std::int64_t> end, std::int64_t step) const {
  return taper::slice_scatter(*this, src, dim, start, end, step);
}
Tensor Tensor::diagonal_scatter(const Tensor& src, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const {
  return taper::diagonal_scatter(*this, src, offset, dim1, dim2);
}

}  // namespace taper
