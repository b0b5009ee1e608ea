#pragma once
#include <taper/autograd/node.h>

#include <functional>

namespace taper {

/// Sees the gradient of a tensor, summed over all its uses; may return another in its place, or undefined to keep it.
using TensorHook = std::function<Tensor(const Tensor& grad)>;

/// Takes a hook off again. Dropping the handle leaves the hook in place.
class HookHandle {
 public:
  HookHandle() = default;
  void remove();

 private:
  friend HookHandle register_hook(const Tensor& t, TensorHook hook);
  WeakPtr<Node> node_;
  std::uint64_t id_ = 0;
};

/// Calls `hook` with t's gradient in every backward pass that computes it; hooks run in the order they came.
/// The hook should take what it needs from its argument: capturing t would keep the graph alive.
/// Throws AutogradError if t does not require grad.
HookHandle register_hook(const Tensor& t, TensorHook hook);

/// What hangs on one node: hooks on the gradients of its outputs, and the tensors that retain theirs.
struct NodeHooks {
  struct Entry {
    std::uint32_t slot;
    std::uint64_t id;
    TensorHook hook;
  };
  std::vector<Entry> entries;
  struct Retained {
    std::uint32_t slot;
    WeakPtr<TensorImpl> tensor;
  };
  std::vector<Retained> retained;

  /// Runs the hooks of each slot on its gradient, then stores what tensors retain.
  void run(const Node& node, Gradients& grads);
};

}  // namespace taper
