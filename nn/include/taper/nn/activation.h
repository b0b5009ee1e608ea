#pragma once
#include <taper/nn/module.h>
#include <taper/ops/activation.h>
#include <taper/ops/softmax.h>

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

/// x sigmoid(x); see silu().
class SiLU final : public Module {
 public:
  Tensor forward(const Tensor& x) override { return silu(x); }
};

/// x tanh(softplus(x)); see mish().
class Mish final : public Module {
 public:
  Tensor forward(const Tensor& x) override { return mish(x); }
};

/// See hardswish().
class Hardswish final : public Module {
 public:
  Tensor forward(const Tensor& x) override { return hardswish(x); }
};

/// See hardsigmoid().
class Hardsigmoid final : public Module {
 public:
  Tensor forward(const Tensor& x) override { return hardsigmoid(x); }
};

/// min(max(x, 0), 6).
class ReLU6 final : public Module {
 public:
  Tensor forward(const Tensor& x) override { return relu6(x); }
};

/// See selu().
class SELU final : public Module {
 public:
  Tensor forward(const Tensor& x) override { return selu(x); }
};

/// x / (1 + |x|).
class Softsign final : public Module {
 public:
  Tensor forward(const Tensor& x) override { return softsign(x); }
};

/// log(sigmoid(x)), computed without overflow.
class LogSigmoid final : public Module {
 public:
  Tensor forward(const Tensor& x) override { return log_sigmoid(x); }
};

/// x - tanh(x).
class Tanhshrink final : public Module {
 public:
  Tensor forward(const Tensor& x) override { return tanhshrink(x); }
};

/// x, and alpha (exp(x) - 1) below 0; see elu().
class ELU final : public Module {
 public:
  explicit ELU(double alpha = 1) : alpha_(alpha) {}
  Tensor forward(const Tensor& x) override { return elu(x, alpha_); }
  std::string extra_repr() const override;
  ELU clone() const { return clone_as(*this, alpha_); }

 private:
  double alpha_;
};

/// See celu().
class CELU final : public Module {
 public:
  explicit CELU(double alpha = 1) : alpha_(alpha) {}
  Tensor forward(const Tensor& x) override { return celu(x, alpha_); }
  std::string extra_repr() const override;
  CELU clone() const { return clone_as(*this, alpha_); }

 private:
  double alpha_;
};

/// x, and negative_slope x below 0.
class LeakyReLU final : public Module {
 public:
  explicit LeakyReLU(double negative_slope = 0.01) : negative_slope_(negative_slope) {}
  Tensor forward(const Tensor& x) override { return leaky_relu(x, negative_slope_); }
  std::string extra_repr() const override;
  LeakyReLU clone() const { return clone_as(*this, negative_slope_); }

 private:
  double negative_slope_;
};

/// log(1 + exp(beta x)) / beta; see softplus().
class Softplus final : public Module {
 public:
  explicit Softplus(double beta = 1, double threshold = 20) : beta_(beta), threshold_(threshold) {}
  Tensor forward(const Tensor& x) override { return softplus(x, beta_, threshold_); }
  std::string extra_repr() const override;
  Softplus clone() const { return clone_as(*this, beta_, threshold_); }

 private:
  double beta_;
  double threshold_;
};

/// x, and 0 between -lambd and lambd.
class Hardshrink final : public Module {
 public:
  explicit Hardshrink(double lambd = 0.5) : lambd_(lambd) {}
  Tensor forward(const Tensor& x) override { return hardshrink(x, lambd_); }
  std::string extra_repr() const override;
  Hardshrink clone() const { return clone_as(*this, lambd_); }

 private:
  double lambd_;
};

/// x moved towards 0 by lambd; see softshrink().
class Softshrink final : public Module {
 public:
  explicit Softshrink(double lambd = 0.5) : lambd_(lambd) {}
  Tensor forward(const Tensor& x) override { return softshrink(x, lambd_); }
  std::string extra_repr() const override;
  Softshrink clone() const { return clone_as(*this, lambd_); }

 private:
  double lambd_;
};

/// x, cut off at min_val and max_val.
class Hardtanh final : public Module {
 public:
  explicit Hardtanh(double min_val = -1, double max_val = 1) : min_val_(min_val), max_val_(max_val) {}
  Tensor forward(const Tensor& x) override { return hardtanh(x, min_val_, max_val_); }
  std::string extra_repr() const override;
  Hardtanh clone() const { return clone_as(*this, min_val_, max_val_); }

 private:
  double min_val_;
  double max_val_;
};

/// x where it is above the threshold, else value.
class Threshold final : public Module {
 public:
  Threshold(double threshold, double value) : threshold_(threshold), value_(value) {}
  Tensor forward(const Tensor& x) override { return taper::threshold(x, threshold_, value_); }
  std::string extra_repr() const override;
  Threshold clone() const { return clone_as(*this, threshold_, value_); }

 private:
  double threshold_;
  double value_;
};

/// exp(x) / sum(exp(x)) along dim.
class Softmax final : public Module {
 public:
  explicit Softmax(std::int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& x) override { return softmax(x, dim_); }
  std::string extra_repr() const override;
  Softmax clone() const { return clone_as(*this, dim_); }

 private:
  std::int64_t dim_;
};

/// log(softmax(x)) along dim, computed without overflow.
class LogSoftmax final : public Module {
 public:
  explicit LogSoftmax(std::int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& x) override { return log_softmax(x, dim_); }
  std::string extra_repr() const override;
  LogSoftmax clone() const { return clone_as(*this, dim_); }

 private:
  std::int64_t dim_;
};

/// x times the probability that a normal number is below x; see gelu().
class GELU final : public Module {
 public:
  /// "none" is exact, "tanh" is an approximation.
  explicit GELU(std::string approximate = "none") : approximate_(std::move(approximate)) {}
  Tensor forward(const Tensor& x) override { return gelu(x, approximate_); }
  std::string extra_repr() const override;
  GELU clone() const { return clone_as(*this, approximate_); }

 private:
  std::string approximate_;
};

struct PReLUOptions {
  double init = 0.25;
  DType dtype = float32;
  Device device = default_device();
};
/// x, and weight x below 0, with a trained weight for all channels or for each; see prelu().
class PReLU final : public Module {
 public:
  explicit PReLU(std::int64_t num_parameters = 1, const PReLUOptions& options = {});
  Tensor forward(const Tensor& x) override { return prelu(x, weight); }
  void members(MemberVisitor& v) override { v("weight", weight); }
  std::string extra_repr() const override;
  PReLU clone() const { return clone_as(*this, num_parameters_, options_); }

  Parameter weight;  ///< [num_parameters]

 private:
  std::int64_t num_parameters_;
  PReLUOptions options_;
};

/// Returns x itself.
class Identity final : public Module {
 public:
  Tensor forward(const Tensor& x) override { return x; }
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
