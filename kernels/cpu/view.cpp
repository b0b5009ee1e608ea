// The two adjoint operators behind the gradients of views, and reshape where no view will do.
#include <taper/operator.h>
#include <taper/ops/view.h>

#include <algorithm>

#include "elements.h"
#include "strided_rows.h"
#include "view_window.h"
#include "widen.h"

namespace taper::cpu_kernels {
void install_view();
namespace {

using namespace view_window;

/// The memory that base and view look at together.
template <class T>
struct Window {
  explicit Window(const ViewPlacement& p) {
    const std::int64_t begin = begin_of(p), end = end_of(p);
    memory = empty(TensorSpec::contiguous({end - begin}, dtype_of<T>, cpu));
    std::fill_n(first_of<T>(memory), end - begin, T(0));
    base = first_of<T>(memory) - begin;
    view = base + p.shift;
  }
  Tensor memory;
  T *base, *view;  // first elements
};

/// to[place i] += from[i], with `to` laid out as `place`.
template <class T>
void add_into(T* to, const SizesAndStrides& place, const T* from, IntSpan from_strides) {
  const StridedRows<2> rows(place.sizes(), {place.strides(), from_strides});
  rows.for_each([&](const auto& at) { to[at[0]] += from[at[1]]; });
}
/// to[i] = from[place i], with `from` laid out as `place` and `to` row-major.
template <class T>
void read_from(T* to, const T* from, const SizesAndStrides& place) {
  const StridedRows<1> rows(place.sizes(), {place.strides()});
  const std::int64_t n = rows.row_length(), step = rows.steps()[0];
  rows.for_each_row(0, rows.rows(), [&](const auto& at) {
    const T* p = from + at[0];
    for (std::int64_t i = 0; i < n; ++i) to[i] = p[i * step];
    to += n;
  });
}

/// Divides each base element by the number of base elements at its memory.
template <class T>
void divide_by_sharers(T* x, const ViewPlacement& p) {
  Window<T> count(p);
  const StridedRows<1> rows(p.base.sizes(), {p.base.strides()});
  rows.for_each([&](const auto& at) { count.base[at[0]] += 1; });
  rows.for_each([&](const auto& at) { *x++ /= count.base[at[0]]; });
}

void place_view(Tensor& out, const Tensor& grad, const ViewPlacement& p) {
  dispatch_floating(out.dtype(), "place_view", [&]<class T>(Type<T>) {
    T* result = first_of<T>(out);
    std::fill_n(result, out.numel(), T(0));
    if (grad.numel() == 0 || out.numel() == 0) return;
    if (base_is_window(p)) return add_into(result + p.shift, p.view, first_of<const T>(grad), grad.strides());
    Window<T> window(p);
    add_into(window.view, p.view, first_of<const T>(grad), grad.strides());
    read_from<T>(result, window.base, p.base.geometry);
    if (may_overlap(p.base.geometry)) divide_by_sharers(result, p);
  });
}

void read_view(Tensor& out, const Tensor& x, const ViewPlacement& p) {
  dispatch_floating(out.dtype(), "read_view", [&]<class T>(Type<T>) {
    T* result = first_of<T>(out);
    if (out.numel() == 0) return;
    if (base_is_window(p) && x.is_contiguous()) return read_from<T>(result, first_of<const T>(x) + p.shift, p.view);
    Window<T> window(p);
    if (x.numel() > 0) {
      Tensor share = empty(TensorSpec::contiguous(x.sizes(), x.dtype(), cpu));
      read_from<T>(first_of<T>(share), first_of<const T>(x), x.impl()->geometry());
      if (may_overlap(p.base.geometry)) divide_by_sharers(first_of<T>(share), p);
      add_into<T>(window.base, p.base.geometry, first_of<const T>(share), share.strides());
    }
    read_from<T>(result, window.view, p.view);
  });
}

}  // namespace

void install_view() {
  ops::reshape_copy.set_kernel(DispatchKey::CPU, reshape_copy);
  ops::place_view.set_kernel(DispatchKey::CPU, kernels::widening<place_view>);
  ops::read_view.set_kernel(DispatchKey::CPU, kernels::widening<read_view>);
}

}  // namespace taper::cpu_kernels
