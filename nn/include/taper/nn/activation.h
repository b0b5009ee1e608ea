#pragma once
#include <taper/nn/module.h>

namespace taper::nn {

struct ReLUOptions {
  bool inplace = false;  ///< overwrites the input
};
/// The larger of x and 0, element by element.
class ReLU final : public Module {
 public:
  explicit ReLU(const ReLUOptions& options = {}) : inplace_(options.inplace) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override { return inplace_ ? "inplace=True" : ""; }
  ReLU clone() const { return clone_as(*this, ReLUOptions{inplace_}); }

 private:
  bool inplace_;
};

class Tanh final : public Module {
 public:
  Tensor forward(const Tensor& x) override { return x.tanh(); }
};

/// 1 / (1 + exp(-x)).
class Sigmoid final : public Module {
 public:
  Tensor forward(const Tensor& x) override { return x.sigmoid(); }
};

struct DropoutOptions {
  bool inplace = false;
};
/// While training, sets elements to 0 with probability p and scales the others by 1 / (1 - p); see dropout().
class Dropout final : public Module {
 public:
  /// Throws ValueError if p is not in [0, 1].
  explicit Dropout(double p = 0.5, const DropoutOptions& options = {});
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  Dropout clone() const { return clone_as(*this, p_, DropoutOptions{inplace_}); }

 private:
  double p_;
  bool inplace_;
};

}  // namespace taper::nn
