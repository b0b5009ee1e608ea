#include <taper/autograd/autograd_meta.h>
#include <taper/autograd/engine.h>
#include <taper/autograd/hooks.h>

#include "accumulate_grad.h"
#include "view_rebase.h"

namespace taper {
namespace {

/// Whether t is a view whose memory was written since its own history was recorded, or since it was made without one
/// while its base has one by now.
bool must_rebuild(const Tensor& t, const AutogradMeta* m) {
  const TensorImpl& impl = *t.impl();
  if (!impl.base() || impl.view_origin() == ViewOrigin::none) return false;
  // A history of its own is out of date after any write, even when the base was cut off by detach_() since.
  const std::uint32_t built_for = m ? m->view_version.load(std::memory_order_acquire) : 0;
  if (m && m->grad_fn) return impl.storage()->version() != built_for;
  const std::uint32_t known = std::max(impl.view_version(), built_for);
  return impl.storage()->version() != known && Tensor(impl.base()).requires_grad();
}

/// Whether t's history is that of its memory as it is. Nobody rebuilds it then, so it may be read without a lock.
bool is_up_to_date(const TensorImpl& t, const AutogradMeta* m) {
  return m && m->view_version.load(std::memory_order_acquire) == t.storage()->version() && m->grad_fn;
}

/// Of a view: also whether its base has a history by now that it would follow.
[[gnu::noinline]] bool view_requires_grad(const Tensor& t) {
  const TensorImpl& impl = *t.impl();
  const AutogradMeta* m = meta_of(t);
  std::unique_lock<std::mutex> lock;  // only where another thread may be rebuilding the history
  if (!m || m->view_version.load(std::memory_order_acquire) != impl.storage()->version())
    lock = std::unique_lock(rebuild_mutex(&impl));
  m = meta_of(t);
  if (m && (m->requires_grad || m->grad_fn)) return true;
  if (!is_floating(impl.dtype())) return false;
  // As in PyTorch, a view made under NoGradGuard is a leaf of its own, and requires grad as its base does.
  if (impl.view_origin() == ViewOrigin::no_grad) return Tensor(impl.base()).requires_grad();
  return must_rebuild(t, m);
}

/// Lets go of an accumulator that describes an old shape and dtype. Hooks are on the tensor, so its next accumulator
/// has them too.
void renew_accumulator(const Tensor& t, AutogradMeta& m) {
  Node* old = m.accumulator.exchange(nullptr, std::memory_order_acq_rel);
  if (!old) return;
  if (old->hooks()) {
    auto fresh = make_intrusive<AccumulateGrad>(t);
    fresh->share_hooks(*old);
    m.accumulator.store(fresh.detach(), std::memory_order_release);
  }
  old->release();
}

/// What a write to t, or to its views, has to look at: the memory is another tensor's too, which is no view of t.
void remember_lender(const Tensor& t, const Tensor& lender) {
  const IntrusivePtr<TensorImpl>& base = lender.impl()->base();
  const IntrusivePtr<TensorImpl>& owner = base ? base : lender.impl_ptr();
  if (owner != t.impl_ptr()) t.impl()->ensure_extra_meta().lender = owner;
}

}  // namespace

Tensor& Tensor::requires_grad_(bool on) {
  check<AutogradError>(!on || is_floating(dtype()),
                       "requires_grad_: only floating tensors have gradients, this one is ", spec(),
                       "; convert with x.to(taper::float32) first");
  if (!on && !is_leaf())
    raise<AutogradError>("requires_grad_: this tensor is the result of ", meta_of(*this)->grad_fn->name(),
                         " and cannot be told to stop requiring grad; use x.detach()");
  check<AutogradError>(!on || !is_inference() || InferenceMode::is_enabled(), "requires_grad_: this tensor (", spec(),
                       ") is an inference tensor, made in InferenceMode, and can have no gradient outside",
                       "; use a clone() of it");
  ensure_rules();  // the only door into autograd: no tensor needs a rule before some tensor passed here
  if (on) {
    AutogradMeta& m = ensure_meta(*this);
    m.requires_grad = true;
    // It may have been reshaped since it last required grad.
    if (const Node* sink = m.accumulator.load(std::memory_order_acquire))
      if (sink->output(0).sizes() != sizes()) renew_accumulator(*this, m);
  } else if (AutogradMeta* m = meta_of(*this))
    m->requires_grad = false;
  return *this;
}

bool Tensor::requires_grad() const {
  const TensorImpl& impl = get();
  if (!impl.keys().has(DispatchKey::Autograd)) return false;
  const AutogradMeta* m = meta_of(*this);
  if (!impl.base()) return m && (m->requires_grad || m->grad_fn);
  return is_up_to_date(impl, m) || view_requires_grad(*this);
}

IntrusivePtr<Node> Tensor::grad_fn() const {
  const TensorImpl& impl = get();
  AutogradMeta* m = meta_of(*this);
  if (!impl.base()) return m ? m->grad_fn : nullptr;
  if (is_up_to_date(impl, m)) return m->grad_fn;

  const std::lock_guard lock(rebuild_mutex(&impl));
  m = meta_of(*this);
  if (!must_rebuild(*this, m)) return m ? m->grad_fn : nullptr;
  check<AutogradError>(impl.view_origin() == ViewOrigin::grad_mode, "this view (", spec(), ") was made ",
                       impl.view_origin() == ViewOrigin::no_grad
                           ? "under NoGradGuard or InferenceMode or by a user's function"
                           : "as one of several results of one call",
                       ", and ", impl.storage()->last_writer(),
                       "() has since written to its memory through another "
                       "tensor, so its history cannot be told; make the view after the write");
  auto node = make_intrusive<ViewOfBase>(Tensor(impl.base()), *this);
  set_history(*this, node);
  keep_retaining(*this);
  return node;
}

std::uint32_t Tensor::output_nr() const {
  const AutogradMeta* m = meta_of(*this);
  return m ? m->slot : 0;
}

bool Tensor::is_leaf() const {
  if (!requires_grad()) return true;
  const AutogradMeta* m = meta_of(*this);
  if (get().base() && get().view_origin() != ViewOrigin::grad_mode) return !m || !m->grad_fn;  // never rebuilt
  return !grad_fn();
}

Tensor Tensor::grad() const {
  const AutogradMeta* m = static_cast<AutogradMeta*>(get().autograd_meta());
  return m ? m->grad : Tensor();
}

void Tensor::set_grad(const Tensor& g) {
  if (g.defined()) {
    check<AutogradError>(!g.is_same(*this), "set_grad: a tensor cannot be its own gradient; pass a copy");
    check<ShapeError>(g.sizes() == sizes(), "set_grad: the gradient is ", g.spec(), " but the tensor is ", spec());
    check<DTypeError>(g.dtype() == dtype(), "set_grad: the gradient is ", g.spec(), " but the tensor is ", spec());
    check<DeviceError>(g.device() == device(), "set_grad: the gradient is ", g.spec(), " but the tensor is ", spec());
    ensure_rules();
  } else if (!get().autograd_meta()) {
    return;
  }
  ensure_meta(*this).grad = g;
}

void Tensor::zero_grad(bool set_to_none) {
  AutogradMeta* m = static_cast<AutogradMeta*>(get().autograd_meta());
  if (!m || !m->grad.defined()) return;
  if (set_to_none) {
    m->grad = {};
    return;
  }
  if (m->grad.grad_fn()) m->grad = m->grad.detach();
  const NoGradGuard no_grad;
  m->grad.zero_();
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      const TensorList& inputs) const {
  autograd::backward({*this}, {gradient}, {retain_graph, create_graph, inputs});
}

void Tensor::retain_grad() const {
  check<AutogradError>(requires_grad(), "retain_grad: this tensor (", spec(), ") does not require grad");
  if (is_leaf() || meta_of(*this)->retains_grad) return;
  meta_of(*this)->retains_grad = true;
  keep_retaining(*this);
}

bool Tensor::retains_grad() const {
  const AutogradMeta* m = static_cast<AutogradMeta*>(get().autograd_meta());
  return m && m->retains_grad;
}

void Tensor::set_data(const Tensor& src) {
  AutogradMeta* m = meta_of(*this);
  check<DTypeError>(!(m && m->requires_grad) || is_floating(src.dtype()), "set_data: a tensor that requires grad (",
                    spec(), ") cannot take ", src.spec(), ": only floating tensors have gradients");
  check<AutogradError>(!(m && m->grad_fn) || (src.sizes() == sizes() && src.dtype() == dtype()), "set_data: ", *this,
                       " is the result of ", m && m->grad_fn ? m->grad_fn->name() : "", ", whose gradient ", src,
                       " does not fit; use a new tensor");
  if (src.is_same(*this)) return;
  impl_->shallow_copy_from(*src.impl());
  impl_->forget_base();
  remember_lender(*this, src);
  if (m) renew_accumulator(*this, *m);
}

Tensor& Tensor::set_(const Tensor& source) {
  check<DTypeError>(source.dtype() == dtype() && source.device() == device(), "set_: self is ", spec(),
                    " but source is ", source.spec(), "; convert source with to()");
  check<AutogradError>(impl_->metadata_change_allowed(), "set_: the memory of ", *this,
                       ", which came from detach(), cannot be changed; change that of the tensor it was made from");
  check<AutogradError>(!is_view(), "set_: ", *this, " is a view, and would leave its base");
  if (GradMode::is_enabled() && requires_grad()) check_inplace(*this, "set_");
  AutogradMeta* m = meta_of(*this);
  check<AutogradError>(!m || !m->grad_fn, "set_: ", *this,
                       " has a history, which its new memory has no part in; use a new tensor");
  if (source.is_same(*this)) return *this;
  check<AutogradError>(!source.requires_grad() || (!GradMode::is_enabled() && source.is_leaf()), "set_: source ",
                       source, " requires grad, which memory does not carry along; use source.detach()");
  impl_->shallow_copy_from(*source.impl());
  remember_lender(*this, source);
  if (m && m->requires_grad) renew_accumulator(*this, *m);
  return *this;
}

Tensor& Tensor::detach_() {
  check<AutogradError>(!is_view(), "detach_: a view (", spec(),
                       ") cannot be cut off in place, its base has a history "
                       "too; use x.detach()");
  if (AutogradMeta* m = meta_of(*this)) {
    m->grad_fn = nullptr;
    m->slot = 0;
    m->requires_grad = false;
    m->retains_grad = false;
  }
  return *this;
}

}  // namespace taper
