#pragma once
#include <taper/nn/module.h>
#include <taper/ops/loss.h>

namespace taper::nn {

/// cross_entropy() with its options: the mean over the batch of -log softmax(input)[target].
class CrossEntropyLoss final : public Module {
 public:
  explicit CrossEntropyLoss(const CrossEntropyOptions& options = {});
  using Module::forward;
  /// input [n, classes, ...], target int64[n, ...] or probabilities of input's shape.
  Tensor forward(const Tensor& input, const Tensor& target);
  Tensor operator()(const Tensor& input, const Tensor& target) { return forward(input, target); }
  void members(MemberVisitor& v) override { v("weight", weight); }
  CrossEntropyLoss clone() const { return clone_as(*this, options_with_weight()); }

  Buffer weight;  ///< [classes]; undefined: all classes count the same

 private:
  CrossEntropyOptions options_with_weight() const;
  CrossEntropyOptions options_;  // but for the weight
};

struct MSELossOptions {
  Reduction reduction = Reduction::mean;
};
/// The mean of the squared differences; see mse_loss(), which refuses shapes that differ.
class MSELoss final : public Module {
 public:
  explicit MSELoss(const MSELossOptions& options = {}) : options_(options) {}
  using Module::forward;
  Tensor forward(const Tensor& input, const Tensor& target) { return mse_loss(input, target, options_.reduction); }
  Tensor operator()(const Tensor& input, const Tensor& target) { return forward(input, target); }
  MSELoss clone() const { return clone_as(*this, options_); }

 private:
  MSELossOptions options_;
};

}  // namespace taper::nn
