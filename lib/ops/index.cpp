// The two operators behind all indexing by positions, and the checks of positions.
#include <taper/operator.h>
#include <taper/ops/index.h>
#include <taper/ops/view.h>
#include <taper/promotion.h>

#include "positions.h"
#include "value_checks.h"
#include "write_out.h"

namespace taper {

void check_position_dtype(const char* op, const Tensor& index) {
  if (index.dtype() == int64 || index.dtype() == int32) return;
  raise<DTypeError>(
      op, ": index must be int64 or int32, got ", index,
      index.dtype() == uint8 ? "; for a mask convert with to(taper::bool_)" : "; convert with to(taper::int64)");
}

void check_positions(const char* op, const Tensor& index, std::int64_t size, std::int64_t dim, const Tensor& self,
                     Negative negative) {
  if (index.numel() == 0 || !looks_at_values(index)) return;
  if (index.device().is_cuda()) {
    const cuda::detail::SyncCause cause("check of positions");
    return check_positions(op, index.detach().to(cpu), size, dim, self, negative);
  }
  const Tensor dense = index.is_contiguous() ? index : index.detach().contiguous();
  const std::int64_t low = negative == Negative::from_end ? -size : 0;
  const auto scan = [&]<class T>(Type<T>) {
    const T* p = static_cast<const T*>(dense.impl()->data());
    const std::int64_t n = dense.numel();
    bool outside = false;
    for (std::int64_t i = 0; i < n; ++i) outside |= p[i] < low || p[i] >= size;
    for (std::int64_t i = 0; outside && i < n; ++i)
      check<IndexError>(
          p[i] >= low && p[i] < size, op, ": index ", p[i], " is out of range for dim ", dim, " of ", self,
          ", which has size ", size,
          p[i] < 0 && negative == Negative::refused ? "; negative positions do not count from the end here" : "");
  };
  if (dense.dtype() == int32)
    scan(Type<std::int32_t>{});
  else
    scan(Type<std::int64_t>{});
}

IntVec indexed_sizes(const Tensor& self, IntSpan dims, IntSpan broadcast) {
  bool neighbours = true;
  for (std::size_t k = 1; k < dims.size(); ++k) neighbours &= dims[k] == dims[k - 1] + 1;
  IntVec sizes;
  const auto insert = [&] { sizes.insert(sizes.end(), broadcast.begin(), broadcast.end()); };
  if (!neighbours) insert();
  std::size_t k = 0;
  for (int d = 0; d < self.dim(); ++d) {
    if (k < dims.size() && dims[k] == d) {
      if (k++ == 0 && neighbours) insert();
    } else {
      sizes.push_back(self.size(d));
    }
  }
  return sizes;
}

TensorList positions_of(const Tensor& mask) {
  const Tensor rows = nonzero(mask);
  TensorList columns;
  for (std::int64_t d = 0; d < mask.dim(); ++d) columns.push_back(rows.select(1, d));
  return columns;
}

void Positions::add(const Tensor& index, std::int64_t dim) {
  indices.push_back(index);
  dims.push_back(dim);
}

void Positions::add_mask(const char* op, const Tensor& mask, const Tensor& self, std::int64_t dim) {
  for (std::int64_t d = 0; d < mask.dim(); ++d)
    check<IndexError>(dim + d < self.dim() && mask.size(d) == self.size(dim + d), op, ": the mask ", mask,
                      " does not fit dims ", dim, " to ", dim + mask.dim() - 1, " of ", self, ": dim ", d,
                      " of the mask has size ", mask.size(d));
  const TensorList columns = positions_of(mask);
  for (std::size_t k = 0; k < columns.size(); ++k) add(columns[k], dim + std::int64_t(k));
}

Tensor prepared_values(const Tensor& self, const Tensor& value, std::size_t result_dims) {
  Tensor v = value;
  while (std::size_t(v.dim()) > result_dims && v.size(0) == 1) v = v.squeeze(0);
  return v.dim() == 0 ? v.to(self.device(), self.dtype()) : v;
}

namespace {

/// The broadcast shape of the positions. Throws if one of them is out of range.
IntVec check_indices(const char* op, const Tensor& self, const TensorList& indices, IntSpan dims) {
  check<ValueError>(!indices.empty() && indices.size() == dims.size(), op, ": got ", indices.size(),
                    " position tensors for ", dims.size(), " dims; expected one for each, and at least one");
  IntVec broadcast = indices[0].sizes().vec();
  for (std::size_t k = 0; k < dims.size(); ++k) {
    check<IndexError>(dims[k] >= (k ? dims[k - 1] + 1 : 0) && dims[k] < self.dim(), op, ": dims ", dims,
                      " must ascend and exist in ", self);
    check_position_dtype(op, indices[k]);
    if (k > 0) broadcast = broadcast_sizes(op, broadcast, indices[k].sizes());
    check_positions(op, indices[k], self.size(dims[k]), dims[k], self, Negative::from_end);
  }
  return broadcast;
}

TensorSpec infer_index(const Tensor& self, const TensorList& indices, const IntSpan& dims) {
  const IntVec broadcast = check_indices("index", self, indices, dims);
  return TensorSpec::contiguous(indexed_sizes(self, dims, broadcast), self.dtype(), self.device());
}

TensorSpec infer_index_put(const Tensor& self, const TensorList& indices, const Tensor& values, const IntSpan& dims,
                           const bool&) {
  const IntVec target = indexed_sizes(self, dims, check_indices("index_put", self, indices, dims));
  bool fits = std::size_t(values.dim()) <= target.size();
  for (std::size_t d = 1; fits && d <= std::size_t(values.dim()); ++d) {
    const std::int64_t n = values.size(-std::int64_t(d));
    fits = n == 1 || n == target[target.size() - d];
  }
  check<ShapeError>(fits, "index_put: values ", values,
                    " do not broadcast to the indexed part of self, which has shape ", IntSpan(target));
  check<DTypeError>(values.dtype() == self.dtype(), "index_put: values are ", values, " but self is ", self,
                    "; convert them with to(taper::", self.dtype(), ")");
  return TensorSpec::contiguous(self.sizes(), self.dtype(), self.device());
}

Positions positions_in(const char* op, const Tensor& self, const TensorList& indices) {
  Positions at;
  std::int64_t dim = 0;
  for (const Tensor& index : indices) {
    if (!index.defined()) {
      ++dim;
    } else if (index.dtype() == bool_ && index.dim() > 0) {
      at.add_mask(op, index, self, dim);
      dim += index.dim();
    } else {
      check<IndexError>(dim < self.dim(), op, ": more indices than dims of ", self);
      at.add(index, dim++);
    }
  }
  check<ValueError>(!at.indices.empty(), op, ": no index is given");
  return at;
}

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor, TensorList, IntSpan)> index{"index", "self, indices", infer_index};
constinit StructuredOp<Tensor(Tensor, TensorList, Tensor, IntSpan, bool)> index_put{
    "index_put", "self, indices, values", infer_index_put, "index_put_"};
}  // namespace ops

Tensor index_put(const Tensor& self, const TensorList& indices, const Tensor& values, bool accumulate) {
  const Positions at = positions_in("index_put", self, indices);
  return ops::index_put(self, at.indices, prepared_values(self, values, std::size_t(values.dim())), at.dims,
                        accumulate);
}
Tensor& index_put_out(Tensor& out, const Tensor& self, const TensorList& indices, const Tensor& values,
                      bool accumulate) {
  return write_out("index_put", out, index_put(self, indices, values, accumulate));
}
Tensor& index_put_(Tensor& self, const TensorList& indices, const Tensor& values, bool accumulate) {
  const Positions at = positions_in("index_put_", self, indices);
  return ops::index_put.inplace(self, self, at.indices, prepared_values(self, values, std::size_t(values.dim())),
                                at.dims, accumulate);
}

}  // namespace taper
