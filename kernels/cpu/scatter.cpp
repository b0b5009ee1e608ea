// A position for each element: gather, scatter, scatter_add, scatter_reduce.
#include <taper/operator.h>
#include <taper/ops/fn.h>
#include <taper/ops/index.h>

#include <algorithm>
#include <limits>

#include "copy.h"
#include "elements.h"
#include "indexed.h"
#include "parallel.h"
#include "strided_rows.h"
#include "widen.h"
#include "written_copy.h"

namespace taper::cpu_kernels {
void install_scatter();
namespace {

using kernels::Indexed;
using kernels::strides_like;

void gather(Tensor& out, const Tensor& self, const std::int64_t& dim, const Tensor& index) {
  if (out.numel() == 0) return;
  const Indexed from(self, dim, index);
  const StridedRows<3> rows(index.sizes(), {out.strides(), IntSpan(from.strides), index.strides()});
  const std::int64_t n = rows.row_length();
  const auto [to_step, from_step, index_step] = rows.steps();
  const std::int64_t* const positions = first_of<const std::int64_t>(index);
  dispatch_size(self.dtype(), [&, to_step = to_step, from_step = from_step, index_step = index_step]<class T>(Type<T>) {
    T* const to = first_of<T>(out);
    const T* const source = first_of<const T>(self);
    parallel_for(0, rows.rows(), grain_for(n), [&](std::int64_t begin, std::int64_t end) {
      rows.for_each_row(begin, end, [&](const auto& at) {
        for (std::int64_t i = 0; i < n; ++i)
          to[at[0] + i * to_step] = source[at[1] + i * from_step + positions[at[2] + i * index_step] * from.step];
      });
    });
  });
}

template <class T, class F>
void scatter_elements(const Tensor& out, std::int64_t dim, const Tensor& index, const Tensor& src, F f) {
  const Indexed into(out, dim, index);
  const IntVec src_strides = strides_like(src, index);
  const StridedRows<3> rows(index.sizes(), {IntSpan(into.strides), IntSpan(src_strides), index.strides()});
  T* const to = first_of<T>(out);
  const T* const from = first_of<const T>(src);
  const std::int64_t* const positions = first_of<const std::int64_t>(index);
  rows.for_each([&](const auto& at) {
    T& x = to[at[0] + positions[at[2]] * into.step];
    x = f(x, from[at[1]]);
  });
}

void replace(const Tensor& out, std::int64_t dim, const Tensor& index, const Tensor& src) {
  dispatch_size(out.dtype(),
                [&]<class T>(Type<T>) { scatter_elements<T>(out, dim, index, src, [](T, T value) { return value; }); });
}
void add(const Tensor& out, std::int64_t dim, const Tensor& index, const Tensor& src) {
  dispatch_computed(out.dtype(), [&]<class T>(Type<T>) {
    scatter_elements<T>(out, dim, index, src, [](T old, T value) {
      if constexpr (std::is_same_v<T, bool>)
        return old || value;
      else
        return T(old + value);
    });
  });
}

template <auto& write>
void scatter(Tensor& out, const Tensor& self, const std::int64_t& dim, const Tensor& index, const Tensor& src) {
  // Before self is copied over them.
  const Tensor at = kernels::apart_from(out, index), from = kernels::apart_from(out, src);
  kernels::write_into_copy(out, self, [&](const Tensor& result) {
    if (at.numel() > 0) write(result, dim, at, from);
  });
}

template <class T>
T identity_of(ScatterKind kind) {
  using Limits = std::numeric_limits<T>;
  switch (kind) {
    case ScatterKind::prod:
      return T(1);
    case ScatterKind::amax:
      return Limits::has_infinity ? T(-Limits::infinity()) : Limits::lowest();
    case ScatterKind::amin:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    default:
      return T(0);
  }
}
/// Each mean is rounded down for whole numbers.
template <class T>
T share_of(T sum, std::int64_t n) {
  if constexpr (std::is_floating_point_v<T>)
    return sum / T(n);
  else if constexpr (std::is_signed_v<T>)
    return T(std::int64_t(sum) / n - (std::int64_t(sum) % n < 0));
  else
    return T(std::uint64_t(sum) / std::uint64_t(n));
}

void scatter_reduce(Tensor& out, const Tensor& self, const std::int64_t& dim, const Tensor& index, const Tensor& src,
                    const ScatterKind& kind, const bool& include_self) {
  copy_elements(out, self);
  if (index.numel() == 0) return;
  dispatch_computed(out.dtype(), [&]<class T>(Type<T>) {
    if (!include_self)
      scatter_elements<T>(out, dim, index, src, [start = identity_of<T>(kind)](T, T) { return start; });
    switch (kind) {
      case ScatterKind::prod:
        return scatter_elements<T>(out, dim, index, src, fn::Mul{});
      case ScatterKind::amax:
        return scatter_elements<T>(out, dim, index, src, fn::Maximum{});
      case ScatterKind::amin:
        return scatter_elements<T>(out, dim, index, src, fn::Minimum{});
      default:
        scatter_elements<T>(out, dim, index, src, fn::Add{});
    }
    if (kind == ScatterKind::sum) return;
    const Tensor counts = empty(TensorSpec::contiguous(out.sizes(), int64, cpu));
    std::int64_t* const n = first_of<std::int64_t>(counts);
    std::fill_n(n, counts.numel(), include_self ? 1 : 0);
    scatter_elements<std::int64_t>(counts, dim, index, index, [](std::int64_t old, std::int64_t) { return old + 1; });
    T* const y = first_of<T>(out);  // contiguous, as counts are
    for (std::int64_t i = 0; i < out.numel(); ++i)
      if (n[i] > 1) y[i] = share_of(y[i], n[i]);
  });
}

}  // namespace

void install_scatter() {
  ops::gather.set_kernel(DispatchKey::CPU, gather);
  ops::scatter.set_kernel(DispatchKey::CPU, scatter<replace>);
  ops::scatter_add.set_kernel(DispatchKey::CPU, kernels::widening<scatter<add>>);
  ops::scatter_reduce.set_kernel(DispatchKey::CPU, kernels::widening<scatter_reduce>);
}

}  // namespace taper::cpu_kernels
