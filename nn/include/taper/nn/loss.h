#pragma once
#include <taper/nn/module.h>
#include <taper/ops/loss.h>
#include <taper/ops/loss_elementwise.h>

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

/// The mean of |input - target|; see l1_loss().
class L1Loss final : public Module {
 public:
  explicit L1Loss(Reduction reduction = Reduction::mean) : reduction_(reduction) {}
  using Module::forward;
  Tensor forward(const Tensor& input, const Tensor& target) { return l1_loss(input, target, reduction_); }
  Tensor operator()(const Tensor& input, const Tensor& target) { return forward(input, target); }
  L1Loss clone() const { return clone_as(*this, reduction_); }

 private:
  Reduction reduction_;
};

/// The negative log-likelihood of classes, from log-probabilities; see nll_loss().
class NLLLoss final : public Module {
 public:
  explicit NLLLoss(const NllLossOptions& options = {});
  using Module::forward;
  /// input [n, classes, ...], target int64[n, ...].
  Tensor forward(const Tensor& input, const Tensor& target);
  Tensor operator()(const Tensor& input, const Tensor& target) { return forward(input, target); }
  void members(MemberVisitor& v) override { v("weight", weight); }
  NLLLoss clone() const { return clone_as(*this, options_with_weight()); }

  Buffer weight;  ///< [classes]; undefined: all classes count the same

 private:
  NllLossOptions options_with_weight() const;
  NllLossOptions options_;  // but for the weight
};

struct SmoothL1LossOptions {
  Reduction reduction = Reduction::mean;
  double beta = 1;
};
/// Squares near 0, distances elsewhere; see smooth_l1_loss().
class SmoothL1Loss final : public Module {
 public:
  explicit SmoothL1Loss(const SmoothL1LossOptions& options = {}) : options_(options) {}
  using Module::forward;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return smooth_l1_loss(input, target, options_.reduction, options_.beta);
  }
  Tensor operator()(const Tensor& input, const Tensor& target) { return forward(input, target); }
  SmoothL1Loss clone() const { return clone_as(*this, options_); }

 private:
  SmoothL1LossOptions options_;
};

struct HuberLossOptions {
  Reduction reduction = Reduction::mean;
  double delta = 1;
};
/// See huber_loss().
class HuberLoss final : public Module {
 public:
  explicit HuberLoss(const HuberLossOptions& options = {}) : options_(options) {}
  using Module::forward;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return huber_loss(input, target, options_.reduction, options_.delta);
  }
  Tensor operator()(const Tensor& input, const Tensor& target) { return forward(input, target); }
  HuberLoss clone() const { return clone_as(*this, options_); }

 private:
  HuberLossOptions options_;
};

struct BCELossOptions {
  Tensor weight = {};  ///< broadcasts to the input; undefined: 1
  Reduction reduction = Reduction::mean;
};
/// Of probabilities; see binary_cross_entropy().
class BCELoss final : public Module {
 public:
  explicit BCELoss(const BCELossOptions& options = {});
  using Module::forward;
  Tensor forward(const Tensor& input, const Tensor& target);
  Tensor operator()(const Tensor& input, const Tensor& target) { return forward(input, target); }
  void members(MemberVisitor& v) override { v("weight", weight); }
  BCELoss clone() const { return clone_as(*this, options_with_weight()); }

  Buffer weight;  ///< broadcasts to the input; undefined: 1

 private:
  BCELossOptions options_with_weight() const;
  BCELossOptions options_;  // but for the weight
};

struct BCEWithLogitsLossOptions {
  Tensor weight = {};
  Reduction reduction = Reduction::mean;
  Tensor pos_weight = {};  ///< what positive targets count
};
/// Of unbounded scores; see binary_cross_entropy_with_logits().
class BCEWithLogitsLoss final : public Module {
 public:
  explicit BCEWithLogitsLoss(const BCEWithLogitsLossOptions& options = {});
  using Module::forward;
  Tensor forward(const Tensor& input, const Tensor& target);
  Tensor operator()(const Tensor& input, const Tensor& target) { return forward(input, target); }
  void members(MemberVisitor& v) override;
  BCEWithLogitsLoss clone() const { return clone_as(*this, options_with_weights()); }

  Buffer weight;      ///< broadcasts to the input; undefined: 1
  Buffer pos_weight;  ///< what positive targets count; broadcasts to the input; undefined: 1

 private:
  BCEWithLogitsLossOptions options_with_weights() const;
  BCEWithLogitsLossOptions options_;  // but for the weights
};

struct KLDivLossOptions {
  KlReduction reduction = KlReduction::mean;
  bool log_target = false;
};
/// See kl_div().
class KLDivLoss final : public Module {
 public:
  explicit KLDivLoss(const KLDivLossOptions& options = {}) : options_(options) {}
  using Module::forward;
  /// input holds log-probabilities.
  Tensor forward(const Tensor& input, const Tensor& target) {
    return kl_div(input, target, options_.reduction, options_.log_target);
  }
  Tensor operator()(const Tensor& input, const Tensor& target) { return forward(input, target); }
  KLDivLoss clone() const { return clone_as(*this, options_); }

 private:
  KLDivLossOptions options_;
};

/// See gaussian_nll_loss().
class GaussianNLLLoss final : public Module {
 public:
  explicit GaussianNLLLoss(const GaussianNllOptions& options = {}) : options_(options) {}
  using Module::forward;
  Tensor forward(const Tensor& input, const Tensor& target, const Tensor& var) {
    return gaussian_nll_loss(input, target, var, options_);
  }
  Tensor operator()(const Tensor& input, const Tensor& target, const Tensor& var) {
    return forward(input, target, var);
  }
  GaussianNLLLoss clone() const { return clone_as(*this, options_); }

 private:
  GaussianNllOptions options_;
};

}  // namespace taper::nn
