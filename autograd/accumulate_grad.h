#pragma once
#include <taper/autograd/node.h>

#include <mutex>

namespace taper {

/// The sink of the graph for one leaf. The leaf owns it; it only watches the leaf, so a leaf that died before the
/// backward pass is simply skipped.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  Gradients apply(Gradients grads) override;
  /// The leaf, or undefined once it is gone.
  Tensor leaf() const;

 private:
  void accumulate(const Tensor& target, Tensor g);

  WeakPtr<TensorImpl> leaf_;
  std::mutex mutex_;  // several backward passes may reach the leaf at once
};

/// A recorded gradient as a value of its own: further derivatives by it take in what is computed from it, and nothing
/// else that happens to be made of the same memory. g should be the only handle to it.
Tensor as_own_value(const Tensor& g);

}  // namespace taper
