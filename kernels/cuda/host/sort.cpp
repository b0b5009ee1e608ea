#include "sort.h"

#include <taper/operator.h>
#include <taper/ops/sort.h>

#include "cuda/sort.h"
#include "elementwise.h"
#include "install.h"
#include "moves.h"
#include "positions.h"
#include "walks.h"
#include "widened.h"

namespace taper::cuda_kernels {
namespace {

/// Up to here counting what comes before each key is faster than sorting by digits.
constexpr std::int64_t kShort = 1024;

template <class F>
void dispatch_key(const Tensor& keys, F&& f) {
  if (keys.dtype() == int32)
    f(Type<std::uint32_t>{});
  else
    f(Type<std::uint64_t>{});
}

Tensor lines_of(std::int64_t lines, std::int64_t n, DType dtype, Device device) {
  return empty(TensorSpec::contiguous({lines, n}, dtype, device));
}

}  // namespace

SortedLines sort_lines(const OnDevice& on, Tensor keys, std::int64_t lines, std::int64_t n, int bits) {
  SortedLines sorted{lines_of(lines, n, keys.dtype(), keys.device()), lines_of(lines, n, int32, keys.device()), lines,
                     n};
  const FastDiv divisor = FastDiv::by(std::uint32_t(n));
  dispatch_key(keys, [&]<class Key>(Type<Key>) {
    if (n <= kShort)
      return sort_short(on.queue(), {std::uint32_t(lines * n), divisor}, elements<const Key>(keys),
                        elements<Key>(sorted.keys), elements<std::uint32_t>(sorted.order));
    const std::int64_t tiles = (n + DigitPass::kTile - 1) / DigitPass::kTile;
    check<NotImplementedError>(lines * tiles * DigitPass::kDigits <= kMostCounted, "sort: ", lines, " lines of ", n,
                               " elements are more than kernels of cuda count; sort them in parts");
    const Tensor counts = lines_of(lines, tiles * DigitPass::kDigits, int32, keys.device());
    Tensor spare_keys = keys, spare_order = lines_of(lines, n, int32, keys.device());
    DigitPass pass{std::uint32_t(lines), std::uint32_t(n), 0, FastDiv::by(std::uint32_t(tiles)),
                   elements<std::uint32_t>(counts)};
    for (bool first = true; first || int(pass.shift) < bits; pass.shift += DigitPass::kBits, first = false) {
      if (!first) std::swap(sorted.keys, spare_keys), std::swap(sorted.order, spare_order);
      sort_by_digit(on.queue(), pass, elements<const Key>(spare_keys),
                    first ? nullptr : elements<const std::uint32_t>(spare_order), elements<Key>(sorted.keys),
                    elements<std::uint32_t>(sorted.order));
    }
  });
  return sorted;
}

namespace {

/// A tensor's dims with dim last, and without it: what lines are counted by.
struct LineDims {
  int dim = 0;
  std::int64_t n = 1, lines = 1;
  LineDims(const Tensor& x, std::int64_t any_dim) {
    if (x.dim() == 0) return;
    dim = int(x.wrapped_dim(any_dim));
    n = x.size(dim);
    for (int d = 0; d < x.dim(); ++d)
      if (d != dim) lines *= x.size(d);
  }
  /// dim last.
  IntVec turned(IntSpan of) const {
    IntVec v = of.vec();
    if (v.empty()) return v;
    v.erase(v.begin() + dim);
    v.push_back(of[std::size_t(dim)]);
    return v;
  }
};

SortedLines sort_elements(const OnDevice& on, const Tensor& x, const LineDims& dims, bool descending) {
  const bool wide = itemsize(x.dtype()) == 8;
  const Tensor keys = lines_of(dims.lines, dims.n, wide ? int64 : int32, x.device());
  const Walk<1> walk = walk_over<1>("sort", dims.turned(x.sizes()), {dims.turned(x.strides())});
  dispatch_all(x.dtype(), [&]<class T>(Type<T>) {
    using Key = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    sort_keys(on.queue(), walk, elements<const T>(x), descending, elements<Key>(keys));
  });
  return sort_lines(on, keys, dims.lines, dims.n, wide ? 64 : 32);
}

/// out = the elements of x that `order` names, and where they are: order [lines, n] has them from `first` on.
void pick(const OnDevice& on, std::array<Tensor, 2>& out, const Tensor& x, const LineDims& dims, const Tensor& order,
          std::int64_t first) {
  IntVec source = x.strides().vec(), of_order(std::size_t(x.dim()), 0);
  std::int64_t step = 0;
  if (x.dim() > 0) {
    step = source[std::size_t(dims.dim)];
    source[std::size_t(dims.dim)] = 0;
    of_order[std::size_t(dims.dim)] = 1;
    std::int64_t stride = order.size(1);
    for (int d = x.dim() - 1; d >= 0; --d) {
      if (d == dims.dim) continue;
      of_order[std::size_t(d)] = stride;
      stride *= x.size(d);
    }
  }
  SizesAndStrides shown(out[0].sizes(), of_order);
  const Tensor places = look_at(order, shown, order.storage_offset() + first);
  copy_elements(out[1], places);
  const Walk<3> walk = walk_over<3>("sort", out[0].sizes(), {out[0].strides().vec(), source, of_order});
  take_elements(on, walk, trusted_positions(places), step, out[0], x);
}

void sort(std::array<Tensor, 2>& out, const Tensor& x, const std::int64_t& dim, const bool& descending) {
  if (out[0].numel() == 0) return;
  const OnDevice on(x.device());
  const LineDims dims(x, dim);
  pick(on, out, x, dims, sort_elements(on, x, dims, descending).order, 0);
}
void topk(std::array<Tensor, 2>& out, const Tensor& x, const std::int64_t& dim, const std::int64_t&,
          const bool& largest) {
  sort(out, x, dim, largest);
}
void kthvalue(std::array<Tensor, 2>& out, const Tensor& x, const std::int64_t& dim, const std::int64_t& k) {
  if (out[0].numel() == 0) return;
  const OnDevice on(x.device());
  const LineDims dims(x, dim);
  pick(on, out, x, dims, sort_elements(on, x, dims, false).order, k - 1);
}
/// The middle; but the first NaN, whose key is the highest, if there is one.
void median(std::array<Tensor, 2>& out, const Tensor& x, const std::int64_t& dim) {
  if (out[0].numel() == 0) return;
  const OnDevice on(x.device());
  const LineDims dims(x, dim);
  const SortedLines sorted = sort_elements(on, x, dims, false);
  const Tensor chosen = lines_of(dims.lines, 1, int32, x.device());
  dispatch_key(sorted.keys, [&]<class Key>(Type<Key>) {
    median_order(on.queue(), {std::uint32_t(dims.lines * dims.n), FastDiv::by(std::uint32_t(dims.n))},
                 std::uint32_t((dims.n - 1) / 2), is_floating(x.dtype()), elements<const Key>(sorted.keys),
                 elements<const std::uint32_t>(sorted.order), elements<std::uint32_t>(chosen));
  });
  pick(on, out, x, dims, chosen, 0);
}

void searchsorted(Tensor& out, const Tensor& sequence, const Tensor& values, const bool&, const bool& right) {
  if (out.numel() == 0) return;
  const OnDevice on(out.device());
  if (sequence.numel() == 0) return fill_elements(out, 0);
  const std::int64_t n = sequence.size(-1), step = sequence.stride(-1);
  check<NotImplementedError>(n <= kMostCounted, "searchsorted: a sequence of ", n,
                             " elements is longer than kernels of cuda count");
  IntVec strides(std::size_t(values.dim()), 0);
  if (sequence.dim() > 1)
    for (int d = 0; d + 1 < sequence.dim(); ++d) strides[std::size_t(d)] = sequence.stride(d);
  const Tensor places = out.dtype() == int64 ? out : empty(TensorSpec::contiguous(out.sizes(), int64, out.device()));
  const Walk<3> walk =
      walk_over<3>("searchsorted", values.sizes(), {places.strides().vec(), values.strides().vec(), strides});
  dispatch_all(values.dtype(), [&]<class T>(Type<T>) {
    if constexpr (sizeof(T) >= 4)  // the others have been widened
      search_sorted(on.queue(), walk, std::uint32_t(n), step, right, elements<const T>(sequence),
                    elements<const T>(values), elements<std::int64_t>(places));
  });
  copy_elements(out, places);
}

}  // namespace

void install_sort() {
  constexpr DispatchKey key = DispatchKey::CUDA;
  ops::sort.set_kernel(key, sort);
  ops::topk.set_kernel(key, topk);
  ops::kthvalue.set_kernel(key, kthvalue);
  ops::median.set_kernel(key, median);
  ops::searchsorted.set_kernel(key, widened_integers<searchsorted>);
}

}  // namespace taper::cuda_kernels
