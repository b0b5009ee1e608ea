#pragma once
// What happens to the graph when memory that several tensors can see is written in place.
#include <taper/autograd/autograd_meta.h>
#include <taper/ops/view.h>

#include <mutex>

namespace taper {

/// Guards the histories of views while they are rebuilt: a const method may do so, on two threads at once.
std::mutex& rebuild_mutex(const TensorImpl* t);

/// How a view sits in its base, without keeping either alive.
ViewPlacement placement(const Tensor& base, const Tensor& view);

/// Replaces the base's history after a write through a view: outside the view gradients pass through, inside they go
/// through the operation that wrote, whose argument number `written` is the view.
class WriteThroughView final : public Node {
 public:
  WriteThroughView(const Tensor& base, const Tensor& view, IntrusivePtr<Node> writer, std::size_t written);
  Gradients apply(Gradients grads) override;
  void release_saved() noexcept override { writer_->release_saved(); }
  const Node* wrapped() const override { return writer_.get(); }

 private:
  ViewPlacement place_;
  IntrusivePtr<Node> writer_;
  std::size_t written_;
};

/// History of a view rebuilt from its base's after the memory was written.
class ViewOfBase final : public Node {
 public:
  ViewOfBase(const Tensor& base, const Tensor& view);
  Gradients apply(Gradients grads) override;

 private:
  ViewPlacement place_;
};

}  // namespace taper
