#include <taper/autograd/autograd_meta.h>
#include <taper/autograd/hooks.h>

#include <algorithm>

#include "packed_tensor.h"
#include "untouched.h"
#include "view_rebase.h"

namespace taper {
namespace {

/// Calls f(hook, slot) for each entry that is there when its turn comes, in the order of ids: a hook may add and remove
/// hooks.
template <class List, class F>
void for_each(const List& list, F f) {
  const auto after = [&list](std::uint64_t id) {
    return std::upper_bound(list.begin(), list.end(), id, [](std::uint64_t i, const auto& e) { return i < e.id; });
  };
  for (auto at = list.begin(); at != list.end();) {
    const auto entry = *at;
    f(entry.hook, entry.slot);
    at = after(entry.id);
  }
}

void check_replacement(const Node& node, const Tensor& replaced, const TensorSpec& want, const char* kind) {
  check<AutogradError>(
      replaced.sizes() == want.sizes() && replaced.dtype() == want.dtype && replaced.device() == want.device, kind,
      " of ", node.name(), ": returned a gradient of ", replaced.spec(), " for a tensor of ", want,
      "; return one of the same shape and dtype, or nothing");
}

}  // namespace

NodeHooks::NodeHooks() = default;
NodeHooks::~NodeHooks() = default;

std::uint64_t NodeHooks::next_id() {
  static constinit std::atomic<std::uint64_t> ids{0};
  return ++ids;
}

void NodeHooks::remove(std::uint64_t id) {
  const auto remove_from = [id](auto& list) {
    std::erase_if(list, [id](const auto& entry) { return entry.id == id; });
  };
  remove_from(tensor_), remove_from(before_), remove_from(after_), remove_from(accumulated_);
}

void NodeHooks::release_resources() noexcept {
  tensor_.clear(), before_.clear(), after_.clear(), accumulated_.clear(), retained_.clear(), packed.clear();
}

const autograd::PackedTensor& NodeHooks::packed_for(const Saved& saved) const {
  std::size_t at = packed.size() - 1;  // the last, if it was saved twice
  while (packed[at].saved() != &saved) --at;
  return packed[at];
}

void NodeHooks::see_gradients(const Node& node, Gradients& grads) const {
  for_each(tensor_, [&](const TensorHook& hook, std::uint32_t slot) {
    if (!grads[slot].defined()) return;
    const std::uint32_t before = grads[slot].version();
    Tensor replaced = hook(grads[slot]);
    check_unwritten(grads[slot], before, "hook on a result", node);
    if (!replaced.defined()) return;
    check_replacement(node, replaced, node.output(slot), "hook on a result");
    grads[slot] = std::move(replaced);
  });
  for (const Retained& r : retained_) {
    auto impl = r.tensor.lock();
    if (!impl || !grads[r.slot].defined()) continue;
    const Tensor t{std::move(impl)};
    AutogradMeta& m = ensure_meta(t);
    {
      const std::lock_guard lock(rebuild_mutex(t.impl()));
      if (m.grad_fn.get() != &node || m.slot != r.slot) continue;  // written in place since: its new node does it
    }
    static std::mutex mutex;  // several backward passes may be here at once
    const std::lock_guard lock(mutex);
    if (m.grad.defined() && m.grad.sizes() != grads[r.slot].sizes())
      raise<AutogradError>(
          "backward: the gradient that ", t.spec(), " retains in grad() is still ", m.grad.spec(),
          " from before its shape changed, so none can be added to it; drop it with zero_grad() first");
    // The gradient goes on to the rule, and may be the caller's own: what is kept must be another.
    m.grad = m.grad.defined() ? m.grad.add(grads[r.slot]) : grads[r.slot].clone();
  }
}

Gradients NodeHooks::apply(Node& node, Gradients grads) const {
  for_each(before_, [&](const NodePreHook& hook, std::uint32_t) {
    const Untouched given(grads);
    Gradients replaced = hook(grads);
    given.check_after("pre-hook", node);
    if (replaced.empty()) return;
    check<AutogradError>(replaced.size() == grads.size(), "pre-hook of ", node.name(), ": returned ", replaced.size(),
                         " gradients for ", grads.size(), " outputs; return one for each, or none at all");
    for (std::size_t i = 0; i < replaced.size(); ++i)
      if (replaced[i].defined()) check_replacement(node, replaced[i], node.output(i), "pre-hook");
    grads = std::move(replaced);
  });
  if (after_.empty()) return node.apply(std::move(grads));

  const Gradients grad_outputs = grads;
  Gradients grad_inputs = node.apply(std::move(grads));
  for_each(after_, [&](const NodePostHook& hook, std::uint32_t) {
    const Untouched inputs(grad_inputs), outputs(grad_outputs);
    Gradients replaced = hook(grad_inputs, grad_outputs);
    inputs.check_after("post-hook", node);
    outputs.check_after("post-hook", node);
    if (replaced.empty()) return;
    check<AutogradError>(replaced.size() == grad_inputs.size(), "post-hook of ", node.name(), ": returned ",
                         replaced.size(), " gradients for ", grad_inputs.size(),
                         " inputs; return one for each, or none at all");
    grad_inputs = std::move(replaced);  // the engine checks them as it checks the rule's
  });
  return grad_inputs;
}

void NodeHooks::see_accumulated(const Tensor& leaf) const {
  for_each(accumulated_, [&](const PostAccumulateGradHook& hook, std::uint32_t) { hook(leaf); });
}

HookHandle register_hook(const Tensor& t, TensorHook hook) {
  const Edge edge = gradient_edge(t);
  check<AutogradError>(bool(edge), "register_hook: this tensor (", t.spec(),
                       ") does not require grad, so its gradient is never computed; call requires_grad_() first");
  const IntrusivePtr<NodeHooks>& hooks = edge.node->ensure_hooks();
  return {hooks, hooks->add(edge.slot, std::move(hook))};
}

HookHandle register_post_accumulate_grad_hook(const Tensor& t, PostAccumulateGradHook hook) {
  check<AutogradError>(t.requires_grad() && t.is_leaf(), "register_post_accumulate_grad_hook: this tensor (", t.spec(),
                       t.requires_grad() ? ") is the result of an operation; register_hook() sees its gradient"
                                         : ") does not require grad; call requires_grad_() first");
  const IntrusivePtr<NodeHooks>& hooks = gradient_edge(t).node->ensure_hooks();
  return {hooks, hooks->add(std::move(hook))};
}

HookHandle register_prehook(Node& node, NodePreHook hook) {
  const IntrusivePtr<NodeHooks>& hooks = node.ensure_hooks();
  return {hooks, hooks->add(std::move(hook))};
}

HookHandle register_hook(Node& node, NodePostHook hook) {
  const IntrusivePtr<NodeHooks>& hooks = node.ensure_hooks();
  return {hooks, hooks->add(std::move(hook))};
}

}  // namespace taper
