// Reading and writing at positions along some dims, x[..., i, j, ...]: index, index_put, embedding.
#include <taper/index_along.h>
#include <taper/operator.h>
#include <taper/ops/embedding.h>
#include <taper/ops/index.h>
#include <taper/ops/view.h>
#include <taper/promotion.h>

#include "combine.h"
#include "elementwise.h"
#include "install.h"
#include "moves.h"
#include "positions.h"
#include "widened.h"
#include "written_copy.h"

namespace taper::cuda_kernels {
namespace {

/// What is indexed: the dims in front of the indexed ones, the positions' own, and the dims behind. Indexed dims that
/// are no neighbours count as in front of all others.
struct Cut {
  IntVec sizes;      // of the indexed result
  IntVec self;       // strides of the indexed tensor over it, 0 where positions are
  int lead = 0;      // dims in front of the positions
  IntVec positions;  // their shape

  Cut(const Tensor& tensor, const TensorList& indices, IntSpan dims) {
    bool neighbours = true;
    for (std::size_t k = 1; k < dims.size(); ++k) neighbours &= dims[k] == dims[k - 1] + 1;
    lead = neighbours ? int(dims[0]) : 0;
    positions = indices[0].sizes().vec();
    for (std::size_t i = 1; i < indices.size(); ++i)
      positions = broadcast_sizes("index", positions, indices[i].sizes());
    std::size_t k = 0;
    const auto insert_positions = [&] {
      sizes.insert(sizes.end(), positions.begin(), positions.end());
      self.insert(self.end(), positions.size(), 0);
    };
    if (lead == 0) insert_positions();
    for (int d = 0; d < tensor.dim(); ++d) {
      if (k < dims.size() && dims[k] == d) {
        if (k++ == 0 && lead > 0) insert_positions();
        continue;
      }
      sizes.push_back(tensor.size(d));
      self.push_back(tensor.stride(d));
    }
  }
  /// Strides of the positions' dims in the place that they have in the result; 0 elsewhere.
  IntVec in_result(IntSpan of_positions) const {
    IntVec s(sizes.size(), 0);
    std::copy(of_positions.begin(), of_positions.end(), s.begin() + lead);
    return s;
  }
};

/// The positions of all indexed dims as one: an index tensor, or places that several were added up to.
struct Joined {
  Positions positions{};
  std::int64_t step = 1;  // from one position to the next in the indexed tensor
  std::int64_t targets_count = 0;
  IntVec strides;          // of the index, in the shape of the positions
  Tensor places, targets;  // where there are several

  Joined(const OnDevice& on, Watcher watcher, const Tensor& self, const TensorList& indices, IntSpan dims,
         IntSpan shape) {
    const bool from_end = watcher < Watcher::index_select;
    if (indices.size() == 1) {
      positions = positions_in(on, watcher, indices[0], self.size(dims[0]), dims[0], from_end);
      step = self.stride(dims[0]);
      targets_count = self.size(dims[0]);
      strides = indices[0].strides().vec();
      return;
    }
    places = empty(TensorSpec::contiguous(shape, int64, self.device()));
    targets = empty(TensorSpec::contiguous(shape, int64, self.device()));
    targets_count = 1;
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const Tensor index = ops::expand.below_autograd(indices[k], shape);
      add_positions(on.queue(), walk_over<1>("index", shape, {index.strides().vec()}),
                    positions_in(on, watcher, index, self.size(dims[k]), dims[k], from_end), k == 0,
                    self.stride(dims[k]), elements<std::int64_t>(places), elements<std::int64_t>(targets));
      targets_count *= self.size(dims[k]);
    }
    positions.index = elements<std::int64_t>(places);
    positions.size = std::numeric_limits<std::int64_t>::max();
    strides = places.strides().vec();
  }
};

/// Who has called index() or index_put().
Watcher caller(Watcher usual) { return IndexAlong::op() ? watcher_named(IndexAlong::op()) : usual; }

void read(Tensor& out, const Tensor& self, const TensorList& indices, IntSpan dims, Watcher watcher) {
  if (out.numel() == 0) return;
  const OnDevice on(out.device());
  const Cut cut(self, indices, dims);
  const Joined at(on, watcher, self, indices, dims, cut.positions);
  const Walk<3> walk = walk_over<3>("index", cut.sizes, {out.strides().vec(), cut.self, cut.in_result(at.strides)});
  take_elements(on, walk, at.positions, at.step, out, self);
}
void index(Tensor& out, const Tensor& self, const TensorList& indices, const IntSpan& dims) {
  read(out, self, indices, dims, caller(Watcher::index));
}
void embedding(Tensor& out, const Tensor& weight, const Tensor& indices, const std::optional<std::int64_t>&,
               const bool&) {
  read(out, weight, {indices}, IntSpan{0}, Watcher::embedding);
}

void replace_at(const OnDevice& on, const Tensor& out, const Cut& cut, const Joined& at, const Tensor& values) {
  Owners owners{};
  Tensor owner;
  const std::int64_t count = SizesAndStrides::contiguous(cut.positions).numel();
  if (count > 1) {
    owner = empty(TensorSpec::contiguous({at.targets_count}, int32, out.device()));
    fill_elements(owner, 0);
    owners = {elements<std::int32_t>(owner), 1,
              at.targets.defined() ? elements<const std::int64_t>(at.targets) : nullptr};
    claim(on.queue(), walk_over<2>("index_put", cut.positions, {IntVec(cut.positions.size(), 0), at.strides}),
          at.positions, owners);
  }
  const Walk<5> walk = walk_over<5>("index_put", cut.sizes,
                                    {cut.self, values.strides().vec(), cut.in_result(at.strides),
                                     IntVec(cut.sizes.size(), 0), cut.in_result(dense_strides(cut.positions))});
  replace_elements(on, walk, at.positions, at.step, owners, out, values);
}

/// One line of positions, which all elements of the blocks share.
void add_at(const OnDevice& on, const Tensor& out, const Cut& cut, const Joined& at, const Tensor& any_values) {
  // One stride leads from the values of one position to those of the next.
  Tensor values = any_values;
  const std::int64_t count = SizesAndStrides::contiguous(cut.positions).numel();
  std::int64_t step = 0, expected = 0;
  bool first = true, in_sequence = true;
  for (std::size_t d = cut.positions.size(); d-- > 0;) {
    const std::int64_t size = cut.positions[d], stride = values.stride(std::int64_t(d) + cut.lead);
    if (size == 1) continue;
    if (first)
      step = expected = stride;
    else
      in_sequence &= stride == expected;
    expected *= size;
    first = false;
  }
  if (!in_sequence) {
    values = empty(TensorSpec::contiguous(cut.sizes, values.dtype(), values.device()));
    copy_elements(values, any_values);
    step = 1;
    for (std::size_t d = std::size_t(cut.lead) + cut.positions.size(); d < cut.sizes.size(); ++d) step *= cut.sizes[d];
  }
  IntVec blocks = cut.sizes, from = values.strides().vec(), to = cut.self;
  const auto without_positions = [&](IntVec& v) {
    v.erase(v.begin() + cut.lead, v.begin() + cut.lead + std::ptrdiff_t(cut.positions.size()));
  };
  without_positions(blocks), without_positions(from), without_positions(to);
  const Positions as_targets =
      at.targets.defined() ? Positions{elements<const std::int64_t>(at.targets), false, false, at.targets_count, {}}
                           : at.positions;
  const SortedLines lines =
      sort_positions(on, "index_put", as_targets, cut.positions, at.strides, 1, count, at.targets_count);
  const IntVec line(blocks.size(), 0);
  combine_in_order(on, "index_put", out, values, blocks, {to, from, line}, lines,
                   {.to_step = at.step,
                    .from_step = step,
                    .places = at.places.defined() ? elements<const std::int64_t>(at.places) : nullptr,
                    .kind = Combining::add,
                    .include_self = true});
}

void put_into(const Tensor& out, const TensorList& indices, const Tensor& any_values, IntSpan dims, bool accumulate) {
  const Cut cut(out, indices, dims);
  if (SizesAndStrides::contiguous(cut.sizes).numel() == 0) return;
  const OnDevice on(out.device());
  const Tensor values = ops::expand.below_autograd(kernels::apart_from(out, any_values), cut.sizes);
  TensorList own_indices;
  for (const Tensor& index : indices) own_indices.push_back(kernels::apart_from(out, index));
  const Joined at(on, caller(Watcher::index_put), out, own_indices, dims, cut.positions);
  (accumulate ? add_at : replace_at)(on, out, cut, at, values);
}

void index_put(Tensor& out, const Tensor& self, const TensorList& indices, const Tensor& values, const IntSpan& dims,
               const bool& accumulate) {
  kernels::write_into_copy(out, self,
                           [&](const Tensor& result) { put_into(result, indices, values, dims, accumulate); });
}
/// Sums are rounded once.
void index_put_any(Tensor& out, const Tensor& self, const TensorList& indices, const Tensor& values,
                   const IntSpan& dims, const bool& accumulate) {
  (accumulate ? widened_numbers<index_put> : index_put)(out, self, indices, values, dims, accumulate);
}

}  // namespace

void install_index() {
  constexpr DispatchKey key = DispatchKey::CUDA;
  ops::index.set_kernel(key, index);
  ops::index_put.set_kernel(key, index_put_any);
  ops::embedding.set_kernel(key, embedding);
}

}  // namespace taper::cuda_kernels
