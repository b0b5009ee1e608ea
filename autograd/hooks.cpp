#include <taper/autograd/autograd_meta.h>
#include <taper/autograd/hooks.h>

#include <algorithm>

namespace taper {

HookHandle register_hook(const Tensor& t, TensorHook hook) {
  const Edge edge = gradient_edge(t);
  check<AutogradError>(bool(edge), "register_hook: this tensor (", t.spec(),
                       ") does not require grad, so its gradient is never computed; call requires_grad_() first");
  static constinit std::atomic<std::uint64_t> ids{0};
  HookHandle handle;
  handle.node_ = edge.node;
  handle.id_ = ++ids;
  edge.node->ensure_hooks().entries.push_back({edge.slot, handle.id_, std::move(hook)});
  return handle;
}

void HookHandle::remove() {
  if (const IntrusivePtr<Node> node = node_.lock(); node && node->hooks())
    std::erase_if(node->hooks()->entries, [&](const NodeHooks::Entry& e) { return e.id == id_; });
  node_ = {};
}

void NodeHooks::run(const Node& node, Gradients& grads) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry entry = entries[i];  // a hook may remove itself
    Tensor& g = grads[entry.slot];
    if (!g.defined()) continue;
    Tensor replaced = entry.hook(g);
    if (!replaced.defined()) continue;
    const TensorSpec& want = node.output(entry.slot);
    check<AutogradError>(
        replaced.sizes() == want.sizes() && replaced.dtype() == want.dtype && replaced.device() == want.device,
        "hook: returned a gradient of ", replaced.spec(), " for a tensor of ", want,
        "; return one of the same shape and dtype, or nothing");
    g = std::move(replaced);
  }
  for (const Retained& r : retained)
    if (auto impl = r.tensor.lock(); impl && grads[r.slot].defined()) {
      const Tensor t{std::move(impl)};
      Tensor& kept = ensure_meta(t).grad;
      kept = kept.defined() ? kept.add(grads[r.slot]) : grads[r.slot];
    }
}

}  // namespace taper
