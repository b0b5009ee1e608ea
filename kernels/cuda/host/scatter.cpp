// A position for each element: gather, scatter, scatter_add, scatter_reduce.
#include <taper/operator.h>
#include <taper/ops/index.h>

#include "combine.h"
#include "elementwise.h"
#include "indexed.h"
#include "install.h"
#include "moves.h"
#include "positions.h"
#include "widened.h"
#include "written_copy.h"

namespace taper::cuda_kernels {
namespace {

using kernels::Indexed;
using kernels::strides_like;

void gather(Tensor& out, const Tensor& self, const std::int64_t& dim, const Tensor& index) {
  if (out.numel() == 0) return;
  const OnDevice on(out.device());
  const Indexed from(self, dim, index);
  const Walk<3> walk =
      walk_over<3>("gather", index.sizes(), {out.strides().vec(), from.strides, index.strides().vec()});
  take_elements(on, walk, positions_in(on, Watcher::gather, index, from.size, from.dim, false), from.step, out, self);
}

/// The last of the positions that meet at an element is the one that is written.
void replace_at(const Tensor& out, std::int64_t dim, const Tensor& index, const Tensor& src) {
  const OnDevice on(out.device());
  const Indexed into(out, dim, index);
  const Positions positions = positions_in(on, Watcher::scatter, index, into.size, into.dim, false);
  Owners owners{};
  Tensor owner;
  IntVec of_owner(std::size_t(index.dim()), 0);
  if (index.dim() > 0 && index.size(into.dim) > 1) {
    owner = empty(TensorSpec::contiguous(out.sizes(), int32, out.device()));
    fill_elements(owner, 0);
    const Indexed own(owner, dim, index);
    of_owner = own.strides;
    owners = {elements<std::int32_t>(owner), own.step, nullptr};
    claim(on.queue(), walk_over<2>("scatter", index.sizes(), {of_owner, index.strides().vec()}), positions, owners);
  }
  const Walk<5> walk = walk_over<5>(
      "scatter", index.sizes(),
      {into.strides, strides_like(src, index), index.strides().vec(), of_owner, dense_strides(index.sizes())});
  replace_elements(on, walk, positions, into.step, owners, out, src);
}

/// Lines of index along dim; those that are the same memory again are sorted once.
void combine_at(const char* op, Watcher watcher, const Tensor& out, std::int64_t dim, const Tensor& index,
                const Tensor& src, CombineOptions options) {
  const OnDevice on(out.device());
  const Indexed into(out, dim, index);
  const IntVec from = strides_like(src, index);
  std::int64_t n = 1, lines = 1;
  IntVec key_sizes, key_strides;                                             // of the lines that differ, dim last
  std::array<IntVec, 3> walked{into.strides, from, IntVec(from.size(), 0)};  // without dim
  IntVec sizes = index.sizes().vec();
  for (int d = index.dim() - 1; d >= 0; --d) {
    if (d == into.dim || index.stride(d) == 0 || index.size(d) == 1) continue;
    walked[2][std::size_t(d)] = lines;
    lines *= index.size(d);
    key_sizes.insert(key_sizes.begin(), index.size(d));
    key_strides.insert(key_strides.begin(), index.stride(d));
  }
  if (index.dim() > 0) {
    n = index.size(into.dim);
    options.from_step = from[std::size_t(into.dim)];
    key_sizes.push_back(n);
    key_strides.push_back(index.stride(into.dim));
    sizes.erase(sizes.begin() + into.dim);
    for (IntVec& v : walked) v.erase(v.begin() + into.dim);
  }
  options.to_step = into.step;
  const SortedLines sorted = sort_positions(on, op, positions_in(on, watcher, index, into.size, into.dim, false),
                                            key_sizes, key_strides, lines, n, into.size);
  combine_in_order(on, op, out, src, sizes, walked, sorted, options);
}
void add_at(const Tensor& out, std::int64_t dim, const Tensor& index, const Tensor& src) {
  combine_at("scatter_add", Watcher::scatter_add, out, dim, index, src, {});
}

template <auto& write>
void scatter(Tensor& out, const Tensor& self, const std::int64_t& dim, const Tensor& index, const Tensor& src) {
  // Before self is copied over them.
  const Tensor at = kernels::apart_from(out, index), from = kernels::apart_from(out, src);
  kernels::write_into_copy(out, self, [&](const Tensor& result) {
    if (at.numel() > 0) write(result, dim, at, from);
  });
}

void scatter_reduce(Tensor& out, const Tensor& self, const std::int64_t& dim, const Tensor& index, const Tensor& src,
                    const ScatterKind& kind, const bool& include_self) {
  copy_elements(out, self);
  if (index.numel() == 0) return;
  combine_at("scatter_reduce", Watcher::scatter_reduce, out, dim, index, src,
             {.kind = kind == ScatterKind::prod   ? Combining::multiply
                      : kind == ScatterKind::amax ? Combining::largest
                      : kind == ScatterKind::amin ? Combining::smallest
                                                  : Combining::add,
              .include_self = include_self,
              .mean = kind == ScatterKind::mean});
}

}  // namespace

void install_scatter() {
  constexpr DispatchKey key = DispatchKey::CUDA;
  ops::gather.set_kernel(key, gather);
  ops::scatter.set_kernel(key, scatter<replace_at>);
  ops::scatter_add.set_kernel(key, widened_numbers<scatter<add_at>>);
  ops::scatter_reduce.set_kernel(key, widened_numbers<scatter_reduce>);
}

}  // namespace taper::cuda_kernels
