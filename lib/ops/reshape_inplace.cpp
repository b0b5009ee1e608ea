// Changes of a tensor's own shape: the same impl gets other sizes and strides.
#include <taper/operator.h>
#include <taper/ops/view.h>

namespace taper {
namespace detail {
void (*check_shape_change_hook)(const Tensor& self, const char* op) = nullptr;
void (*adopt_history_hook)(const Tensor& self, const Tensor& view) = nullptr;
}  // namespace detail

namespace {

/// Gives self the shape that the view operator would show it in, and the view's place in the graph.
template <class Op, class... Args>
Tensor& become_view(Tensor& self, const char* name, const Op& op, const Args&... args) {
  const bool tracked =
      self.key_set().has(DispatchKey::Autograd) && detail::requires_grad_hook && detail::requires_grad_hook(self);
  const bool recorded = tracked && GradMode::is_enabled() && !InferenceMode::is_enabled();
  check<AutogradError>(recorded || !tracked, name, ": ", self, " requires grad, but recording is off",
                       ", so its gradient would keep the old shape; use the form without the underscore");
  Geometry g = op.infer(self, args...);
  if (!recorded) {
    self.impl()->set_geometry(std::move(g.shape), g.offset);
    self.impl()->count_write(name);
    return self;
  }
  detail::check_shape_change_hook(self, name);
  const Tensor view = op(self, args...);
  self.impl()->set_geometry(std::move(g.shape), g.offset);
  self.impl()->count_write(name);
  detail::adopt_history_hook(self, view);
  return self;
}

}  // namespace

Tensor& Tensor::t_() {
  check<ShapeError>(dim() <= 2, "t_: ", *this, " has ", dim(), " dims, expected at most 2; use transpose_(-2, -1)");
  return become_view(*this, "t_", ops::transpose, std::int64_t(0), std::int64_t(dim() < 2 ? 0 : 1));
}
Tensor& Tensor::transpose_(std::int64_t dim0, std::int64_t dim1) {
  return become_view(*this, "transpose_", ops::transpose, dim0, dim1);
}
Tensor& Tensor::squeeze_() { return become_view(*this, "squeeze_", ops::squeeze, std::optional<std::int64_t>()); }
Tensor& Tensor::squeeze_(std::int64_t dim) {
  return become_view(*this, "squeeze_", ops::squeeze, std::optional<std::int64_t>(dim));
}
Tensor& Tensor::unsqueeze_(std::int64_t dim) { return become_view(*this, "unsqueeze_", ops::unsqueeze, dim); }
Tensor& Tensor::as_strided_(IntSpan sizes, IntSpan strides, std::optional<std::int64_t> storage_offset) {
  return become_view(*this, "as_strided_", ops::as_strided, sizes, strides, storage_offset);
}

Tensor& Tensor::resize_(IntSpan sizes) {
  check<AutogradError>(
      !(key_set().has(DispatchKey::Autograd) && detail::requires_grad_hook && detail::requires_grad_hook(*this)),
      "resize_: ", *this, " requires grad, and no gradient has two shapes; resize x.detach().clone()");
  std::int64_t bytes = 0, elements = 1;
  for (const std::int64_t s : sizes) {
    check<ValueError>(s >= 0, "resize_: size ", sizes, " has a negative entry");
    check<ValueError>(!__builtin_mul_overflow(elements, s, &elements), "resize_: size ", sizes,
                      " has too many elements");
  }
  const bool overflows = __builtin_add_overflow(elements, storage_offset(), &bytes) ||
                         __builtin_mul_overflow(bytes, std::int64_t(element_size()), &bytes);
  check<ValueError>(!overflows, "resize_: size ", sizes, " has too many elements");
  if (sizes == this->sizes()) return *this;
  check<AutogradError>(impl_->metadata_change_allowed(), "resize_: the shape of ", *this,
                       " is fixed because it came from detach() or data; resize a clone()");
  if (elements > 0 && std::size_t(bytes) > storage()->bytes()) impl_->storage()->resize(std::size_t(bytes));
  impl_->set_geometry(SizesAndStrides::contiguous(sizes), storage_offset());
  return *this;
}

}  // namespace taper
