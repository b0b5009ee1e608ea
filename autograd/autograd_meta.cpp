#include <taper/autograd/autograd_meta.h>
#include <taper/autograd/hooks.h>
#include <taper/autograd/record.h>
#include <taper/memory_overlap.h>

#include <mutex>

#include "accumulate_grad.h"
#include "rules/from_argument.h"
#include "rules/rules.h"
#include "view_rebase.h"

namespace taper {

AutogradMeta::~AutogradMeta() {
  if (Node* a = accumulator.load(std::memory_order_acquire)) a->release();
}

AutogradMeta& ensure_meta(const Tensor& t) {
  if (AutogradMeta* m = meta_of(t)) return *m;
  return static_cast<AutogradMeta&>(t.impl()->add_autograd_meta(std::make_unique<AutogradMeta>()));
}

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : Node(kRunFirst), leaf_(leaf.impl_ptr()) {
  set_name("accumulate_grad");
  add_output(leaf.spec());
}

Tensor AccumulateGrad::leaf() const {
  auto impl = leaf_.lock();
  return impl ? Tensor(std::move(impl)) : Tensor();
}

namespace {
/// A leaf that changed since the graph used it, so that its gradient has no place any more.
[[noreturn, gnu::cold]] void refuse_leaf_of_before(const Tensor& leaf, const TensorSpec& used) {
  if (!leaf.is_leaf())
    raise<AutogradError>("backward: a leaf (", leaf.spec(), ") became the result of ", leaf.grad_fn()->name(),
                         "() after it was used, so its gradient has no place; use x.detach() for the new value");
  if (leaf.sizes() != used.sizes() || leaf.dtype() != used.dtype || leaf.device() != used.device)
    raise<AutogradError>("backward: a leaf that was ", used, " when it was used has since become ", leaf.spec(),
                         " by set_data(), so its gradient does not fit it; compute the result again after set_data()");
  raise<AutogradError>("backward: grad() of a leaf (", leaf.spec(), ") is still ", leaf.grad().spec(),
                       " from before set_data(), so no gradient can be added to it; drop it with zero_grad() first");
}
}  // namespace

Tensor as_own_value(const Tensor& g) {
  if (!g.requires_grad()) return g;
  auto node = make_intrusive<IdentityBackward>();
  node->set_name("gradient");
  node->connect(g);
  Tensor value(g.impl()->shallow_copy_and_detach(true));
  set_history(value, node);
  return value;
}

Gradients AccumulateGrad::apply(Gradients grads) {
  const Tensor target = leaf();
  if (!target.defined() || !target.requires_grad()) return {};
  const TensorSpec& used = output(0);
  const auto fits = [&](const Tensor& t) { return t.sizes() == used.sizes() && t.dtype() == used.dtype; };
  if (!target.is_leaf() || !fits(target) || target.device() != used.device) [[unlikely]]
    refuse_leaf_of_before(target, used);
  accumulate(target, std::move(grads[0]));
  if (hooks()) [[unlikely]]
    hooks()->see_accumulated(target);  // without the lock: a hook may start another pass
  return {};
}

void AccumulateGrad::accumulate(const Tensor& target, Tensor g) {
  const std::lock_guard lock(mutex_);
  Tensor& total = ensure_meta(target).grad;
  if (!total.defined()) {
    // Another leaf may have received the same tensor, and a shared or overlapping grad() would surprise whoever scales
    // it in place; recorded gradients keep their history.
    const bool ours = is_sole_owner(g) && g.is_contiguous();
    if (GradMode::is_enabled())
      total = ours ? as_own_value(g) : g.clone();
    else
      total = ours ? std::move(g) : g.detach().clone();
    return;
  }
  if (total.sizes() != g.sizes() || total.dtype() != g.dtype()) [[unlikely]]
    refuse_leaf_of_before(target, output(0));
  if (GradMode::is_enabled())
    total = total.add(g);
  else
    total.add_(g);  // whoever holds grad() sees it grow, as in PyTorch
}

Edge gradient_edge(const Tensor& t) {
  if (!t.impl()->keys().has(DispatchKey::Autograd)) return {};
  if (auto fn = t.grad_fn()) return {std::move(fn), meta_of(t)->slot};
  AutogradMeta* m = meta_of(t);
  if (!m || !m->requires_grad) {
    if (!t.requires_grad()) return {};
    m = &ensure_meta(t);  // a leaf of its own
  }
  if (Node* made = m->accumulator.load(std::memory_order_acquire)) return {IntrusivePtr<Node>(made), 0};
  IntrusivePtr<Node> fresh = make_intrusive<AccumulateGrad>(t);
  Node* expected = nullptr;
  if (m->accumulator.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel))
    fresh->retain();
  else
    fresh = IntrusivePtr<Node>(expected);
  return {std::move(fresh), 0};
}

void set_history(const Tensor& t, const IntrusivePtr<Node>& node) {
  const std::uint32_t slot = node->add_output(t.spec());
  if (!is_floating(t.dtype())) return;  // e.g. indices: a result without a gradient
  AutogradMeta& m = ensure_meta(t);
  m.grad_fn = node;
  m.slot = slot;
  m.view_version.store(t.version(), std::memory_order_release);
}

void keep_retaining(const Tensor& t) {
  const AutogradMeta* m = meta_of(t);
  if (m && m->retains_grad && m->grad_fn) m->grad_fn->ensure_hooks()->keep_gradient(t, m->slot);
}

void rebase_history(const Tensor& self, const IntrusivePtr<Node>& node, std::size_t written) {
  const IntrusivePtr<TensorImpl>& base_impl = self.impl()->base();
  if (!base_impl) {
    set_history(self, node);
    return keep_retaining(self);
  }
  const Tensor base(base_impl);
  node->add_output(self.spec());
  // The base forgets its older history, which lives on behind the new: the wrapper has an edge to it, for the gradient
  // of what the write left alone.
  set_history(base, make_intrusive<WriteThroughView>(base, self, node, written));
  keep_retaining(base);
  self.grad_fn();  // the view's own history is rebuilt from the base's new one
}

Tensor with_history(Tensor t, const Edge& edge) {
  AutogradMeta& m = ensure_meta(t);
  m.grad_fn = edge.node;
  m.slot = edge.slot;
  m.view_version.store(t.version(), std::memory_order_release);
  return t;
}

Tensor copy_with_history(const Tensor& t) {
  const Edge edge = gradient_edge(t);
  Tensor copy = t.detach().clone();
  return edge ? with_history(std::move(copy), edge) : copy;
}

namespace {
[[noreturn]] void refuse_leaf(const char* op, const char* what, const TensorSpec& leaf) {
  raise<AutogradError>(op, ": cannot write into ", what, "a leaf that requires grad (", leaf,
                       "): the value its gradient refers to would be lost; wrap the update in NoGradGuard, or use the "
                       "form without the underscore to get a new tensor");
}

/// Throws if another tensor, which is neither self nor its base, shows the memory and would not hear of the write.
[[gnu::cold]] void check_not_lent(const TensorImpl& owner, const Tensor& self, const char* op) {
  const IntrusivePtr<TensorImpl> lender = owner.extra_meta()->lender.lock();
  if (!lender || lender->storage() != owner.storage()) return;
  raise<AutogradError>(op, ": the memory of ", self.spec(), " was made that of another tensor (", Tensor(lender).spec(),
                       ") by set_() or set_data(), whose history could not tell of the write",
                       "; write to a clone(), or make it a view of that tensor");
}
}  // namespace

void check_untracked_inplace(const Tensor& self, const char* op) {
  // Views that were made before the leaf was told to require grad.
  const Tensor root(self.impl()->base());
  if (root.requires_grad() && root.is_leaf()) refuse_leaf(op, "a view of ", root.spec());
}

void check_inplace(const Tensor& self, const char* op) {
  const IntrusivePtr<TensorImpl>& base = self.impl()->base();
  if (base) {
    switch (self.impl()->view_origin()) {
      case ViewOrigin::no_grad:
        raise<AutogradError>(
            op, ": this view (", self.spec(),
            ") was made under NoGradGuard or InferenceMode or returned by a user's function, so its base ",
            "cannot be told about the write; make the view and write to it both inside or both outside ",
            "of it, or clone() it first");
      case ViewOrigin::multi_output:
        raise<AutogradError>(op, ": this view (", self.spec(),
                             ") is one of several results of one call (split, chunk, "
                             "unbind), which may not be written in place; use narrow() or select() to take one view");
      default:
        break;
    }
    const Tensor root(base);
    if (root.is_leaf() && root.requires_grad()) refuse_leaf(op, "a view of ", root.spec());
    // Looked at without is_leaf(), which would bring its history up to date: what is refused changes nothing.
    if (const AutogradMeta* m = meta_of(self); root.is_leaf() && m && m->grad_fn)
      raise<AutogradError>(
          op, ": this view (", self.spec(), ") has a history, but the tensor it views (", root.spec(),
          ") was cut off from its own by detach_(), so no history can tell of the write; write to the ",
          "tensor itself, or to a clone() of the view");
    if (!covers(root, self.impl()->geometry(), self.storage_offset()))
      raise<AutogradError>(
          op, ": this view (", self.spec(), ") reaches outside the tensor it views (", root.spec(),
          "), so no history can tell of the write; make the view from the tensor that owns the memory");
    if (overlaps_itself(root))
      raise<ShapeError>(op, ": the tensor that is viewed (", root.spec(), " with strides ", root.strides(),
                        ") shows one memory location as several elements; clone() it before viewing it");
  }
  if (self.requires_grad() && self.is_leaf()) refuse_leaf(op, "", self.spec());
  const TensorImpl& owner = base ? *base : *self.impl();
  if (owner.extra_meta()) [[unlikely]]
    check_not_lent(owner, self, op);
}

void ensure_rules() {
  static std::once_flag once;
  std::call_once(once, [] {
    detail::requires_grad_hook = [](const Tensor& t) { return t.requires_grad(); };
    detail::describe_gradient_hook = [](const Tensor& t) -> std::string {
      if (const auto fn = t.grad_fn()) return std::string(", grad_fn=<") + fn->name() + ">";
      return t.requires_grad() ? ", requires_grad=True" : "";
    };
    install_rules();
  });
}

}  // namespace taper
