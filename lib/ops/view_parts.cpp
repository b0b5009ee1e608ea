// Views of some of the elements: ranges, entries, windows, diagonals; one or several at a time.
#include <taper/operator.h>
#include <taper/ops/view.h>

#include <algorithm>

#include "wrap_dim.h"

namespace taper {
namespace {

/// A dim that a tensor really has; a 0-dim tensor has no entries to choose from.
std::int64_t dim_with_entries(const char* op, std::int64_t dim, const Tensor& self) {
  check<IndexError>(self.dim() > 0, op, ": cannot be applied to a 0-dim tensor (", self, ")");
  return wrap_dim(op, dim, self);
}

Geometry without_dim(const Tensor& self, std::int64_t dim, std::int64_t index) {
  Geometry g{SizesAndStrides::of_rank(self.dim() - 1), self.storage_offset() + index * self.stride(dim)};
  int out = 0;
  for (int d = 0; d < self.dim(); ++d)
    if (d != dim) g.shape.set(out++, self.sizes()[std::size_t(d)], self.strides()[std::size_t(d)]);
  return g;
}

/// stride * step. Where that overflows, there are not two entries to be `step` apart and the stride does not matter.
std::int64_t step_over(std::int64_t stride, std::int64_t step) {
  std::int64_t along = 0;
  return __builtin_mul_overflow(stride, step, &along) ? stride : along;
}

Geometry with_range(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length, std::int64_t step) {
  Geometry g{self.impl()->geometry(), self.storage_offset() + start * self.stride(dim)};
  g.shape.set(int(dim), length, step_over(self.stride(dim), step));
  return g;
}

void check_counted_dim(const char* op, std::int64_t dim, const Tensor& self) {
  check<IndexError>(dim >= 0 && dim < self.dim(), op, ": dim ", dim, " is out of range for ", self);
}

Geometry infer_select(const Tensor& self, const std::int64_t& dim, const std::int64_t& index) {
  check_counted_dim("select", dim, self);
  check<IndexError>(index >= 0 && index < self.size(dim), "select: index ", index, " is out of range for dim ", dim,
                    " of ", self);
  return without_dim(self, dim, index);
}

Geometry infer_slice(const Tensor& self, const std::int64_t& dim, const std::int64_t& start, const std::int64_t& length,
                     const std::int64_t& step) {
  check_counted_dim("slice", dim, self);
  const std::int64_t size = self.size(dim);
  check<IndexError>(start >= 0 && start <= size && length >= 0 && step >= 1 &&
                        (length == 0 || (start < size && length - 1 <= (size - 1 - start) / step)),
                    "slice: ", length, " entries from ", start, " with step ", step, " reach outside dim ", dim, " of ",
                    self);
  return with_range(self, dim, start, length, step);
}

Geometry infer_unfold(const Tensor& self, const std::int64_t& dim, const std::int64_t& size, const std::int64_t& step) {
  const int rank = self.dim();
  if (rank > 0) check_counted_dim("unfold", dim, self);
  const std::int64_t whole = rank == 0 ? 1 : self.size(dim), stride = rank == 0 ? 1 : self.stride(dim);
  check<ShapeError>(size >= 0 && size <= whole, "unfold: a window of ", size, " does not fit dim ", dim, " of ", self,
                    "; expected 0 to ", whole);
  check<ValueError>(step > 0, "unfold: step is ", step, ", expected 1 or more");
  Geometry g{SizesAndStrides::of_rank(rank + 1), self.storage_offset()};
  for (int d = 0; d < rank; ++d) g.shape.set(d, self.sizes()[std::size_t(d)], self.strides()[std::size_t(d)]);
  if (rank > 0) g.shape.set(int(dim), (whole - size) / step + 1, step_over(stride, step));
  g.shape.set(rank, size, stride);
  check_numel("unfold", g.shape.sizes());
  return g;
}

Geometry infer_diagonal(const Tensor& self, const std::int64_t& offset, const std::int64_t& dim1,
                        const std::int64_t& dim2) {
  check_counted_dim("diagonal", dim1, self);
  check_counted_dim("diagonal", dim2, self);
  check<ShapeError>(dim1 != dim2, "diagonal: dim1 and dim2 are both ", dim1, "; a diagonal needs two dims");
  const std::int64_t rows = self.size(dim1), columns = self.size(dim2);
  // Compared without adding, so that no offset overflows.
  const bool outside = offset >= 0 ? offset >= columns : offset <= -rows;
  const std::int64_t right = outside ? 0 : std::max<std::int64_t>(offset, 0);
  const std::int64_t down = outside ? 0 : std::max<std::int64_t>(-offset, 0);
  const std::int64_t length = outside ? 0 : std::min(rows - down, columns - right);
  Geometry g{SizesAndStrides::of_rank(self.dim() - 1), self.storage_offset()};
  if (length > 0) g.offset += down * self.stride(dim1) + right * self.stride(dim2);
  int out = 0;
  for (int d = 0; d < self.dim(); ++d)
    if (d != dim1 && d != dim2) g.shape.set(out++, self.sizes()[std::size_t(d)], self.strides()[std::size_t(d)]);
  g.shape.set(out, length, self.stride(dim1) + self.stride(dim2));
  return g;
}

std::vector<Geometry> infer_split_with_sizes(const Tensor& self, const IntSpan& sizes, const std::int64_t& dim) {
  check_counted_dim("split_with_sizes", dim, self);
  std::int64_t start = 0;
  std::vector<Geometry> parts;
  parts.reserve(sizes.size());
  for (const std::int64_t size : sizes) {
    check<ValueError>(size >= 0, "split_with_sizes: split_sizes ", sizes, " has a negative entry");
    check<ShapeError>(size <= self.size(dim) - start, "split_with_sizes: split_sizes ", sizes,
                      " add up to more than dim ", dim, " of ", self);
    parts.push_back(with_range(self, dim, start, size, 1));
    start += size;
  }
  check<ShapeError>(start == self.size(dim), "split_with_sizes: split_sizes ", sizes, " add up to ", start,
                    ", but dim ", dim, " of ", self, " is ", self.size(dim));
  return parts;
}

std::vector<Geometry> infer_unbind(const Tensor& self, const std::int64_t& dim) {
  check_counted_dim("unbind", dim, self);
  std::vector<Geometry> parts;
  for (std::int64_t i = 0; i < self.size(dim); ++i) parts.push_back(without_dim(self, dim, i));
  return parts;
}

}  // namespace

namespace ops {
constinit ViewOp<std::int64_t, std::int64_t> select{"select", "self, dim, index", infer_select};
constinit ViewOp<std::int64_t, std::int64_t, std::int64_t, std::int64_t> slice{
    "slice", "self, dim, start, length, step", infer_slice};
constinit ViewOp<std::int64_t, std::int64_t, std::int64_t> unfold{"unfold", "self, dimension, size, step",
                                                                  infer_unfold};
constinit ViewOp<std::int64_t, std::int64_t, std::int64_t> diagonal{"diagonal", "self, offset, dim1, dim2",
                                                                    infer_diagonal};
constinit MultiViewOp<IntSpan, std::int64_t> split_with_sizes{"split_with_sizes", "self, split_sizes, dim",
                                                              infer_split_with_sizes};
constinit MultiViewOp<std::int64_t> unbind{"unbind", "self, dim", infer_unbind};
}  // namespace ops

Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const std::int64_t d = dim_with_entries("narrow", dim, self), size = self.size(d);
  check<IndexError>(start >= -size && start <= size, "narrow: start ", start, " is out of range for dim ", dim, " of ",
                    self);
  const std::int64_t from = start < 0 ? start + size : start;
  check<IndexError>(length >= 0 && length <= size - from, "narrow: start ", start, " and length ", length,
                    " reach past the end of dim ", dim, " of ", self, ", which is ", size);
  return ops::slice(self, d, from, length, 1);
}

Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index) {
  const std::int64_t d = dim_with_entries("select", dim, self), size = self.size(d);
  check<IndexError>(index >= -size && index < size, "select: index ", index, " is out of range for dim ", dim, " of ",
                    self, ", which has size ", size);
  return ops::select(self, d, index < 0 ? index + size : index);
}

Tensor slice(const Tensor& self, std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end,
             std::int64_t step) {
  const std::int64_t d = dim_with_entries("slice", dim, self), size = self.size(d);
  check<ValueError>(step > 0, "slice: step is ", step, ", expected 1 or more; to read backwards, copy with flip()");
  const auto clamped = [size](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size); };
  const std::int64_t from = clamped(start.value_or(0)), to = std::max(from, clamped(end.value_or(size)));
  return ops::slice(self, d, from, to == from ? 0 : (to - from - 1) / step + 1, step);
}

Tensor unfold(const Tensor& self, std::int64_t dimension, std::int64_t size, std::int64_t step) {
  return ops::unfold(self, wrap_dim("unfold", dimension, self), size, step);
}

Tensor diagonal(const Tensor& self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const std::int64_t a = dim_with_entries("diagonal", dim1, self), b = dim_with_entries("diagonal", dim2, self);
  return ops::diagonal(self, offset, a, b);
}

TensorList split_with_sizes(const Tensor& self, IntSpan split_sizes, std::int64_t dim) {
  return ops::split_with_sizes(self, split_sizes, dim_with_entries("split_with_sizes", dim, self));
}

TensorList split(const Tensor& self, std::int64_t split_size, std::int64_t dim) {
  const std::int64_t d = dim_with_entries("split", dim, self), size = self.size(d);
  check<ValueError>(split_size > 0 || (split_size == 0 && size == 0), "split: split_size is ", split_size,
                    ", expected 1 or more");
  const std::int64_t n = split_size == 0 || size == 0 ? 1 : (size - 1) / split_size + 1;
  IntVec sizes(std::size_t(n), split_size);
  sizes.back() = size - split_size * (n - 1);
  return ops::split_with_sizes(self, sizes, d);
}

TensorList chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim) {
  const std::int64_t d = dim_with_entries("chunk", dim, self), size = self.size(d);
  check<ValueError>(chunks > 0, "chunk: chunks is ", chunks, ", expected 1 or more");
  // A dim without entries still gives the number of parts asked for.
  if (size == 0) return ops::split_with_sizes(self, IntVec(std::size_t(chunks), 0), d);
  return split(self, (size - 1) / chunks + 1, d);
}

TensorList tensor_split(const Tensor& self, std::int64_t sections, std::int64_t dim) {
  const std::int64_t d = dim_with_entries("tensor_split", dim, self), size = self.size(d);
  check<ValueError>(sections > 0, "tensor_split: sections is ", sections, ", expected 1 or more");
  TensorList parts;
  std::int64_t start = 0;
  for (std::int64_t i = 0; i < sections; ++i) {
    const std::int64_t length = size / sections + (i < size % sections);
    parts.push_back(ops::slice(self, d, start, length, 1));
    start += length;
  }
  return parts;
}

TensorList tensor_split(const Tensor& self, IntSpan indices, std::int64_t dim) {
  const std::int64_t d = dim_with_entries("tensor_split", dim, self);
  TensorList parts;
  std::int64_t start = 0;
  for (const std::int64_t end : indices) {
    parts.push_back(slice(self, d, start, end));
    start = end;
  }
  parts.push_back(slice(self, d, start));
  return parts;
}

TensorList unbind(const Tensor& self, std::int64_t dim) {
  return ops::unbind(self, dim_with_entries("unbind", dim, self));
}

Tensor Tensor::narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const {
  return taper::narrow(*this, dim, start, length);
}
Tensor Tensor::select(std::int64_t dim, std::int64_t index) const { return taper::select(*this, dim, index); }
Tensor Tensor::slice(std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                     std::int64_t step) const {
  return taper::slice(*this, dim, start, end, step);
}
Tensor Tensor::unfold(std::int64_t dimension, std::int64_t size, std::int64_t step) const {
  return taper::unfold(*this, dimension, size, step);
}
Tensor Tensor::diagonal(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const {
  return taper::diagonal(*this, offset, dim1, dim2);
}
TensorList Tensor::split(std::int64_t split_size, std::int64_t dim) const {
  return taper::split(*this, split_size, dim);
}
TensorList Tensor::split_with_sizes(IntSpan split_sizes, std::int64_t dim) const {
  return taper::split_with_sizes(*this, split_sizes, dim);
}
TensorList Tensor::chunk(std::int64_t chunks, std::int64_t dim) const { return taper::chunk(*this, chunks, dim); }
TensorList Tensor::unbind(std::int64_t dim) const { return taper::unbind(*this, dim); }

namespace {
/// The dim that one of the splits is along, for a tensor of enough dims.
std::int64_t dim_to_split(const char* op, const Tensor& self, std::int64_t dim, int least) {
  check<ShapeError>(self.dim() >= least, op, ": needs at least ", least, " dims, got ", self);
  return dim;
}
TensorList split_equally(const char* op, const Tensor& self, std::int64_t sections, std::int64_t dim) {
  check<ValueError>(sections > 0, op, ": sections is ", sections, ", expected 1 or more");
  check<ShapeError>(self.size(dim) % sections == 0, op, ": dim ", dim, " of ", self, " does not divide into ", sections,
                    " equal parts; tensor_split() makes unequal ones");
  return tensor_split(self, sections, dim);
}
}  // namespace

TensorList hsplit(const Tensor& self, std::int64_t sections) {
  return split_equally("hsplit", self, sections, dim_to_split("hsplit", self, self.dim() > 1, 1));
}
TensorList hsplit(const Tensor& self, IntSpan indices) {
  return tensor_split(self, indices, dim_to_split("hsplit", self, self.dim() > 1, 1));
}
TensorList vsplit(const Tensor& self, std::int64_t sections) {
  return split_equally("vsplit", self, sections, dim_to_split("vsplit", self, 0, 2));
}
TensorList vsplit(const Tensor& self, IntSpan indices) {
  return tensor_split(self, indices, dim_to_split("vsplit", self, 0, 2));
}
TensorList dsplit(const Tensor& self, std::int64_t sections) {
  return split_equally("dsplit", self, sections, dim_to_split("dsplit", self, 2, 3));
}
TensorList dsplit(const Tensor& self, IntSpan indices) {
  return tensor_split(self, indices, dim_to_split("dsplit", self, 2, 3));
}

TensorList Tensor::tensor_split(std::int64_t sections, std::int64_t dim) const {
  return taper::tensor_split(*this, sections, dim);
}
TensorList Tensor::tensor_split(IntSpan indices, std::int64_t dim) const {
  return taper::tensor_split(*this, indices, dim);
}
TensorList Tensor::hsplit(std::int64_t sections) const { return taper::hsplit(*this, sections); }
TensorList Tensor::hsplit(IntSpan indices) const { return taper::hsplit(*this, indices); }
TensorList Tensor::vsplit(std::int64_t sections) const { return taper::vsplit(*this, sections); }
TensorList Tensor::vsplit(IntSpan indices) const { return taper::vsplit(*this, indices); }
TensorList Tensor::dsplit(std::int64_t sections) const { return taper::dsplit(*this, sections); }
TensorList Tensor::dsplit(IntSpan indices) const { return taper::dsplit(*this, indices); }
Tensor Tensor::unflatten(std::int64_t dim, IntSpan sizes) const { return taper::unflatten(*this, dim, sizes); }
Tensor Tensor::ravel() const { return taper::ravel(*this); }
Tensor Tensor::movedim(IntSpan source, IntSpan destination) const { return taper::movedim(*this, source, destination); }
Tensor Tensor::numpy_T() const { return taper::numpy_T(*this); }

}  // namespace taper
