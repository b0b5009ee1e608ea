#pragma once
// Functions of the user's that the backward pass calls. What a node sees, in this order, once all its gradients have
// been added up:
//   1. the hooks of the tensors it made, in the order they were registered; each may replace its tensor's gradient
//   2. tensors that retain_grad() store theirs; autograd::grad() takes what it was asked for
//   3. the node's pre-hooks, its derivative rule, its post-hooks
//   4. if it is the sink of a leaf: the leaf's post-accumulate hooks, when grad() has its new value
#include <taper/autograd/callback.h>
#include <taper/autograd/node.h>

namespace taper {

namespace autograd {
class PackedTensor;
}

/// Sees the gradient of a tensor, summed over all its uses; may return another in its place, or nothing to keep it.
using TensorHook = Callback<Tensor(const Tensor& grad)>;
/// Runs after a leaf's grad() has been updated, recording off unless create_graph: the place to step an optimizer and
/// drop the gradient while the pass goes on.
using PostAccumulateGradHook = Callback<void(const Tensor& leaf)>;
/// Sees the gradients of a node's outputs before it runs (undefined: zero); may return as many in their place.
using NodePreHook = Callback<Gradients(const Gradients& grad_outputs)>;
/// Sees what a node returned, the gradients of its inputs; may return as many in their place.
using NodePostHook = Callback<Gradients(const Gradients& grad_inputs, const Gradients& grad_outputs)>;

/// What hangs on one node.
class NodeHooks : public RefCounted {
 public:
  NodeHooks();
  ~NodeHooks() override;

  /// Each returns the entry's id.
  std::uint64_t add(std::uint32_t slot, TensorHook hook) { return add_to(tensor_, slot, std::move(hook)); }
  std::uint64_t add(PostAccumulateGradHook hook) { return add_to(accumulated_, 0, std::move(hook)); }
  std::uint64_t add(NodePreHook hook) { return add_to(before_, 0, std::move(hook)); }
  std::uint64_t add(NodePostHook hook) { return add_to(after_, 0, std::move(hook)); }
  /// Output `slot` is this tensor, which retains its gradient.
  void keep_gradient(const Tensor& t, std::uint32_t slot) {
    retained_.push_back({slot, WeakPtr<TensorImpl>(t.impl_ptr())});
  }
  void remove(std::uint64_t id);

  /// Steps 1 and 2.
  void see_gradients(const Node& node, Gradients& grads) const;
  /// Step 3.
  Gradients apply(Node& node, Gradients grads) const;
  /// Step 4.
  void see_accumulated(const Tensor& leaf) const;

  /// Calls f(kind, hook) for each hook there is; kind: "tensor hook".
  template <class F>
  void visit(const F& f) const {
    const auto each = [&f](const char* kind, const auto& list) {
      for (const auto& entry : list) f(kind, entry.hook);
    };
    each("tensor hook", tensor_), each("post-accumulate-grad hook", accumulated_);
    each("pre-hook", before_), each("post-hook", after_);
  }

  /// Saved tensors of the node that went through SavedTensorHooks.
  std::vector<autograd::PackedTensor> packed;
  const autograd::PackedTensor& packed_for(const Saved& saved) const;

 private:
  template <class F>
  struct Entry {
    std::uint64_t id;
    std::uint32_t slot;
    F hook;
  };
  template <class F>
  using List = std::vector<Entry<F>>;  // ids ascend: whoever walks the list goes by them
  struct Retained {
    std::uint32_t slot;
    WeakPtr<TensorImpl> tensor;
  };
  template <class F>
  static std::uint64_t add_to(List<F>& list, std::uint32_t slot, F hook) {
    check<ValueError>(bool(hook), "register_hook: the function is empty");
    list.push_back({next_id(), slot, std::move(hook)});
    return list.back().id;
  }
  static std::uint64_t next_id();
  void release_resources() noexcept override;  // a handle must not keep what the hooks captured

  List<TensorHook> tensor_;
  List<NodePreHook> before_;
  List<NodePostHook> after_;
  List<PostAccumulateGradHook> accumulated_;
  std::vector<Retained> retained_;
};

/// Takes a hook off again. Dropping the handle leaves the hook in place.
class HookHandle {
 public:
  HookHandle() = default;
  HookHandle(const IntrusivePtr<NodeHooks>& hooks, std::uint64_t id) : hooks_(hooks), id_(id) {}
  /// From now on the hook is not called, also if that is within a backward pass. A second time does nothing.
  void remove() {
    if (const IntrusivePtr<NodeHooks> hooks = hooks_.lock()) hooks->remove(id_);
    hooks_ = {};
  }

 private:
  WeakPtr<NodeHooks> hooks_;
  std::uint64_t id_ = 0;
};

/// Calls `hook` with t's gradient in every backward pass that computes it.
///
/// A hook belongs to the value t has now: after a write in place it sees the gradient of the value before the write.
/// The hook should take what it needs from its argument: capturing t would keep the graph alive.
/// Throws AutogradError if t does not require grad.
HookHandle register_hook(const Tensor& t, TensorHook hook);
/// Calls `hook` with the leaf whenever a backward pass has added to its grad(). Throws AutogradError if t is no leaf
/// that requires grad.
HookHandle register_post_accumulate_grad_hook(const Tensor& t, PostAccumulateGradHook hook);
/// Calls `hook` before, or after, the node runs in a backward pass.
HookHandle register_prehook(Node& node, NodePreHook hook);
HookHandle register_hook(Node& node, NodePostHook hook);

template <class F>
HookHandle Tensor::register_hook(F hook) const {
  return taper::register_hook(*this, TensorHook(std::move(hook)));
}
template <class F>
HookHandle Tensor::register_post_accumulate_grad_hook(F hook) const {
  return taper::register_post_accumulate_grad_hook(*this, PostAccumulateGradHook(std::move(hook)));
}
template <class F>
HookHandle Node::register_prehook(F hook) {
  return taper::register_prehook(*this, NodePreHook(std::move(hook)));
}
template <class F>
HookHandle Node::register_hook(F hook) {
  return taper::register_hook(*this, NodePostHook(std::move(hook)));
}

}  // namespace taper
