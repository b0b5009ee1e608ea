// Derivatives of views: each puts the gradient back where the view looked.
#include <taper/autograd/record.h>
#include <taper/factory.h>
#include <taper/memory_overlap.h>
#include <taper/ops/join.h>
#include <taper/ops/view.h>

#include <algorithm>

#include "from_argument.h"
#include "rules.h"

namespace taper {
namespace {

// ---- Views of all elements: another view undoes them ----

struct TransposeBackward final : Node {
  std::int64_t dim0 = 0, dim1 = 0;
  void save(const Tensor&, std::int64_t a, std::int64_t b) { dim0 = a, dim1 = b; }
  Gradients apply(Gradients g) override { return {transpose(g[0], dim0, dim1)}; }
};

struct PermuteBackward final : Node {
  SmallVector<std::int64_t, 5> inverse;
  void save(const Tensor&, IntSpan dims) {
    inverse.resize(dims.size());
    const std::int64_t rank = std::int64_t(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i)
      inverse[std::size_t(dims[i] < 0 ? dims[i] + rank : dims[i])] = std::int64_t(i);
  }
  Gradients apply(Gradients g) override { return {permute(g[0], IntSpan(inverse.data(), inverse.size()))}; }
};

/// view, reshape, squeeze, unsqueeze: the elements keep their order.
struct ReshapeBackward final : Node {
  SizesAndStrides shape;
  template <class... Args>
  void save(const Tensor& self, const Args&...) {
    shape = self.impl()->geometry();
  }
  Gradients apply(Gradients g) override { return {reshape(g[0], shape.sizes())}; }
};

// ---- Views of some elements ----
// Placed as if self were row-major: what a part is does not depend on how self lies in memory.

/// Sizes of self, and those sizes with row-major strides.
struct PartBackward : Node {
  ViewPlacement placement;
  std::int64_t stride(std::int64_t d) const { return placement.base.strides()[std::size_t(d)]; }
  Gradients apply(Gradients g) override { return {ops::place_view(g[0], placement)}; }

 protected:
  void start(const Tensor& self) { placement.base = TensorSpec::contiguous(self.sizes(), self.dtype(), self.device()); }
  /// The dims of self, without `a` and `b`, then `extra` more dims; returns the place of the first of these.
  int keep_dims(int extra, std::int64_t a, std::int64_t b = -1) {
    const TensorSpec& base = placement.base;
    placement.view = SizesAndStrides::of_rank(base.dim() - (a >= 0) - (b >= 0) + extra);
    int out = 0;
    for (int d = 0; d < base.dim(); ++d)
      if (d != a && d != b) placement.view.set(out++, base.sizes()[std::size_t(d)], base.strides()[std::size_t(d)]);
    return out;
  }
};

struct SelectBackward final : PartBackward {
  void save(const Tensor& self, std::int64_t dim, std::int64_t index) {
    start(self);
    keep_dims(0, dim);
    placement.shift = index * stride(dim);
  }
};

struct SliceBackward final : PartBackward {
  void save(const Tensor& self, std::int64_t dim, std::int64_t first, std::int64_t length, std::int64_t step) {
    start(self);
    placement.view = placement.base.geometry;
    placement.view.set(int(dim), length, length > 1 ? stride(dim) * step : stride(dim));
    placement.shift = length > 0 ? first * stride(dim) : 0;
  }
};

struct UnfoldBackward final : PartBackward {
  void save(const Tensor& self, std::int64_t dim, std::int64_t size, std::int64_t step) {
    start(self);
    const bool scalar = self.dim() == 0;
    const int last = keep_dims(1, -1);
    if (!scalar) {
      const std::int64_t windows = (self.size(dim) - size) / step + 1;
      placement.view.set(int(dim), windows, windows > 1 ? stride(dim) * step : stride(dim));
    }
    placement.view.set(last, size, scalar ? 1 : stride(dim));
  }
};

struct DiagonalBackward final : PartBackward {
  void save(const Tensor& self, std::int64_t o, std::int64_t a, std::int64_t b) {
    start(self);
    const int last = keep_dims(1, a, b);
    const std::int64_t rows = self.size(a), columns = self.size(b);
    const bool outside = o >= 0 ? o >= columns : o <= -rows;
    const std::int64_t right = outside || o < 0 ? 0 : o, down = outside || o > 0 ? 0 : -o;
    const std::int64_t length = outside ? 0 : std::min(rows - down, columns - right);
    placement.view.set(last, length, stride(a) + stride(b));
    if (length > 0) placement.shift = down * stride(a) + right * stride(b);
  }
};

/// The one view whose elements can share memory in any way, so the place in memory decides.
struct AsStridedBackward final : PartBackward {
  void save(const Tensor& self, IntSpan sizes, IntSpan strides, const std::optional<std::int64_t>& storage_offset) {
    const std::int64_t own = self.storage_offset(), first = storage_offset.value_or(own);
    if (!covers(self, SizesAndStrides(sizes, strides), first))
      raise<AutogradError>(
          "as_strided: size ", sizes, " with stride ", strides, " and storage_offset ", first,
          " reaches elements that self (", self.spec(), ", strides ", self.strides(), ", offset ", own,
          ") does not have, and their gradients would be lost; call it on the tensor that has them, or "
          "on x.detach()");
    placement = {self.spec(), SizesAndStrides(sizes, strides), first - own};
  }
};

struct PlaceViewBackward final : Node {
  ViewPlacement placement;
  void save(const Tensor&, const ViewPlacement& p) { placement = p; }
  Gradients apply(Gradients g) override { return {ops::read_view(g[0], placement)}; }
};
struct ReadViewBackward final : Node {
  ViewPlacement placement;
  void save(const Tensor&, const ViewPlacement& p) { placement = p; }
  Gradients apply(Gradients g) override { return {ops::place_view(g[0], placement)}; }
};

// ---- Several parts at once ----

/// The gradients of all results; one that nobody used has gradient zero.
TensorList complete(const Node& node, const Gradients& g) {
  TensorList parts;
  for (std::size_t i = 0; i < node.num_outputs(); ++i) {
    const TensorSpec& spec = node.output(i);
    parts.push_back(g[i].defined() ? g[i] : zeros(spec.sizes(), spec.dtype, spec.device));
  }
  return parts;
}
struct SplitBackward final : Node {
  std::int64_t dim = 0;
  void save(const Tensor&, IntSpan, std::int64_t d) { dim = d; }
  Gradients apply(Gradients g) override { return {cat(complete(*this, g), dim)}; }
};
struct UnbindBackward final : Node {
  std::int64_t dim = 0;
  void save(const Tensor&, std::int64_t d) { dim = d; }
  Gradients apply(Gradients g) override { return {stack(complete(*this, g), dim)}; }
};

// ---- Changes of a tensor's own shape ----

void check_shape_change(const Tensor& self, const char* op) {
  check_inplace(self, op);
  check<AutogradError>(!self.is_view(), op, ": cannot change the shape of a view (", self.spec(),
                       ") whose gradient is recorded; use the form without the underscore");
}

void adopt_history(const Tensor& self, const Tensor& view) {
  const AutogradMeta& from = *meta_of(view);
  AutogradMeta& to = ensure_meta(self);
  to.grad_fn = from.grad_fn;
  to.slot = from.slot;
  keep_retaining(self);
}

}  // namespace

void install_view_rules() {
  differentiate<TransposeBackward, ops::transpose>();
  differentiate<PermuteBackward, ops::permute>();
  differentiate<ReshapeBackward, ops::view>();
  differentiate<ReshapeBackward, ops::reshape_copy>();
  differentiate<ReshapeBackward, ops::squeeze>();
  differentiate<ReshapeBackward, ops::unsqueeze>();
  differentiate<IdentityBackward, ops::expand>();
  differentiate<SelectBackward, ops::select>();
  differentiate<SliceBackward, ops::slice>();
  differentiate<UnfoldBackward, ops::unfold>();
  differentiate<DiagonalBackward, ops::diagonal>();
  differentiate<AsStridedBackward, ops::as_strided>();
  differentiate<PlaceViewBackward, ops::place_view>();
  differentiate<ReadViewBackward, ops::read_view>();
  differentiate<SplitBackward, ops::split_with_sizes>();
  differentiate<UnbindBackward, ops::unbind>();
  detail::check_shape_change_hook = check_shape_change;
  detail::adopt_history_hook = adopt_history;
}

}  // namespace taper
