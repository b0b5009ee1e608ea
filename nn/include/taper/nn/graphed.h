#pragma once
// Training steps as graphs of CUDA devices; not part of <taper/taper.h>.
#include <taper/cuda.h>
#include <taper/tensor.h>

#include <utility>

namespace taper::nn {

/// See make_graphed().
template <class Step>
class Graphed {
 public:
  Graphed(Step step, int warm_up) : step_(std::move(step)), left_(warm_up) {
    check<ValueError>(warm_up >= 1,
                      "make_graphed: a step has to run before it is captured: warm_up must be at least 1, ", "got ",
                      warm_up);
  }

  Tensor operator()() {
    if (left_ > 0 || !result_.device().is_cuda()) {
      result_ = step_();
      if (left_ > 0) --left_;
      return result_;
    }
    if (!graph_.is_captured()) graph_.capture([&] { result_ = step_(); });
    graph_.replay();
    return result_;
  }
  /// The next call captures again: something that the graph holds has been replaced.
  void reset() { graph_.reset(); }
  bool is_captured() const noexcept { return graph_.is_captured(); }

 private:
  Step step_;
  int left_;
  Tensor result_;
  cuda::Graph graph_;
};

/// Makes a training step cheap to launch: `step`, which takes nothing and returns a tensor, the loss for instance, is
/// called a few times, then captured into a cuda::Graph, and from then on replayed. It reads its batch from tensors
/// that the caller fills, and drops the gradients itself. What it returns is overwritten by the next call. Steps whose
/// result is on the cpu are simply called.
///
///     auto step = nn::make_graphed([&] {
///       optimizer.zero_grad();
///       const Tensor loss = cross_entropy(model(images), labels);
///       loss.backward();
///       optimizer.step();
///       return loss.detach();
///     });
///     for (const auto& batch : loader) { images.copy_(batch.images); labels.copy_(batch.labels); step(); }
template <class Step>
Graphed<Step> make_graphed(Step step, int warm_up = 3) {
  return {std::move(step), warm_up};
}

}  // namespace taper::nn
