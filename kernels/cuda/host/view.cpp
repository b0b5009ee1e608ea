// The two adjoint operators behind the gradients of views, and reshape where no view will do: by copies and sums of
// other views.
#include <taper/operator.h>
#include <taper/ops/fn.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include "elementwise.h"
#include "install.h"
#include "view_window.h"

namespace taper::cuda_kernels {
namespace {

using namespace view_window;

Tensor show(const Tensor& memory, const SizesAndStrides& geometry, std::int64_t offset) {
  return Tensor(make_intrusive<TensorImpl>(memory.storage(), memory.dtype(), geometry, offset));
}
Tensor zeros_of(std::int64_t n, const Tensor& like) {
  const Tensor t = empty(TensorSpec::contiguous({n}, like.dtype(), like.device()));
  fill_elements(t, 0);
  return t;
}
void add(const Tensor& to, const Tensor& from) {
  elementwise(to, to.dtype(), {{&to, to.dtype()}, {&from, to.dtype()}},
              pointwise::floating_loop<OnCuda, fn::Add, 2>(to.dtype()), nullptr);
}

Tensor without_dim(const Tensor& t, int dim, std::int64_t index) {
  SizesAndStrides g = SizesAndStrides::of_rank(t.dim() - 1);
  for (int d = 0, to = 0; d < t.dim(); ++d)
    if (d != dim) g.set(to++, t.sizes()[std::size_t(d)], t.strides()[std::size_t(d)]);
  return show(t, g, t.storage_offset() + index * t.strides()[std::size_t(dim)]);
}

/// to[i] += from[i], where elements of `to` may share memory: one at a time along as many dimensions as it takes for
/// none to, in a fixed order.
void accumulate(const Tensor& to, const Tensor& from) {
  if (from.numel() == 0) return;
  if (!may_overlap(to.impl()->geometry())) return add(to, from);
  int shortest = -1;
  for (int d = 0; d < to.dim(); ++d) {
    const std::size_t i = std::size_t(d);
    if (to.sizes()[i] == 1) continue;
    if (to.strides()[i] == 0)  // repeated: summed first
      return accumulate(without_dim(to, d, 0),
                        ops::sum.below_autograd(from, ops::Reduced{.dims = std::uint64_t(1) << d}));
    if (shortest < 0 || to.sizes()[i] < to.sizes()[std::size_t(shortest)]) shortest = d;
  }
  for (std::int64_t i = 0; i < to.sizes()[std::size_t(shortest)]; ++i)
    accumulate(without_dim(to, shortest, i), without_dim(from, shortest, i));
}

/// Divides each base element by the number of base elements at its memory.
void divide_by_sharers(const Tensor& x, const ViewPlacement& p) {
  const Tensor count = zeros_of(end_of(p) - begin_of(p), x);
  const Tensor ones = empty(TensorSpec::contiguous(p.base.geometry.sizes(), x.dtype(), x.device()));
  fill_elements(ones, 1);
  const Tensor shared = show(count, p.base.geometry, -begin_of(p));
  accumulate(shared, ones);
  elementwise(x, x.dtype(), {{&x, x.dtype()}, {&shared, x.dtype()}},
              pointwise::floating_loop<OnCuda, fn::Div, 2>(x.dtype()), nullptr);
}

void place_view(Tensor& out, const Tensor& grad, const ViewPlacement& p) {
  if (out.numel() == 0) return;
  if (grad.numel() == 0) return fill_elements(out, 0);
  if (base_is_window(p)) {
    fill_elements(out, 0);
    return accumulate(show(out, p.view, out.storage_offset() + p.shift), grad);
  }
  const Tensor window = zeros_of(end_of(p) - begin_of(p), out);
  accumulate(show(window, p.view, p.shift - begin_of(p)), grad);
  copy_elements(out, show(window, p.base.geometry, -begin_of(p)));
  if (may_overlap(p.base.geometry)) divide_by_sharers(out, p);
}

void read_view(Tensor& out, const Tensor& x, const ViewPlacement& p) {
  if (out.numel() == 0) return;
  if (base_is_window(p) && x.is_contiguous()) return copy_elements(out, show(x, p.view, x.storage_offset() + p.shift));
  const Tensor window = zeros_of(end_of(p) - begin_of(p), out);
  if (x.numel() > 0) {
    const Tensor share = empty(TensorSpec::contiguous(x.sizes(), x.dtype(), x.device()));
    copy_elements(share, x);
    if (may_overlap(p.base.geometry)) divide_by_sharers(share, p);
    accumulate(show(window, p.base.geometry, -begin_of(p)), share);
  }
  copy_elements(out, show(window, p.view, p.shift - begin_of(p)));
}

}  // namespace

void install_view() {
  constexpr DispatchKey key = DispatchKey::CUDA;
  ops::reshape_copy.set_kernel(key, reshape_copy);
  ops::place_view.set_kernel(key, place_view);
  ops::read_view.set_kernel(key, read_view);
}

}  // namespace taper::cuda_kernels
