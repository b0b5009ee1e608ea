#pragma once
// The optimizers that give every element of a parameter a step size of its own, beside Adam: <taper/nn/optim.h>.
//
// As torch.optim has them, with these options in common: weight_decay times the parameter is added to the gradient g;
// `maximize` goes up instead of down; eps keeps divisors away from 0.
#include <taper/nn/optimizer.h>

#include <array>
#include <cstdint>
#include <vector>

namespace taper::optim {

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;  ///< how much of the mean square stays
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;  ///< the mean square without the square of the mean
  bool maximize = false;
};
/// s = alpha s + (1 - alpha) g^2; param -= lr * g / (sqrt(s) + eps), or, with momentum, lr * buffer, where
/// buffer = momentum * buffer + g / (sqrt(s) + eps). Centered, s is less the square of the mean gradient.
/// Tieleman and Hinton 2012, "Lecture 6.5"; centered: Graves 2013, "Generating sequences with recurrent neural
/// networks", eq. 38.
class RMSprop final : public OptimizerWith<RMSpropOptions> {
 public:
  explicit RMSprop(const TensorList& params, const RMSpropOptions& options = {});
  explicit RMSprop(const std::vector<Group>& groups);

 protected:
  const char* name() const override { return "RMSprop"; }
  std::array<const char*, kMaxState> state_names() const override {
    return {"square_avg", "momentum_buffer", "grad_avg"};
  }
  bool counts_steps() const override { return true; }
  bool needs_state(std::size_t group, std::size_t i) const override;
  void visit_options(std::size_t group, OptionVisitor& v) override;
  void check_options(std::size_t group) const override;
  void update(Slot& slot, const Tensor& grad, std::size_t group) override;
};

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;
  double weight_decay = 0;
  double initial_accumulator_value = 0;  ///< what the sum starts from
  double eps = 1e-10;
  bool maximize = false;
};
/// sum += g^2; param -= lr / (1 + (step - 1) lr_decay) * g / (sqrt(sum) + eps).
/// Duchi, Hazan and Singer 2011, "Adaptive subgradient methods for online learning and stochastic optimization".
class Adagrad final : public OptimizerWith<AdagradOptions> {
 public:
  explicit Adagrad(const TensorList& params, const AdagradOptions& options = {});
  explicit Adagrad(const std::vector<Group>& groups);

 protected:
  const char* name() const override { return "Adagrad"; }
  std::array<const char*, kMaxState> state_names() const override { return {"sum"}; }
  bool counts_steps() const override { return true; }
  void visit_options(std::size_t group, OptionVisitor& v) override;
  void check_options(std::size_t group) const override;
  void update(Slot& slot, const Tensor& grad, std::size_t group) override;
};

struct AdadeltaOptions {
  double lr = 1;
  double rho = 0.9;  ///< how much of the mean squares stays
  double eps = 1e-6;
  double weight_decay = 0;
  bool maximize = false;
};
/// s = rho s + (1 - rho) g^2; delta = sqrt(a + eps) / sqrt(s + eps) * g; a = rho a + (1 - rho) delta^2;
/// param -= lr * delta. Zeiler 2012, "ADADELTA: an adaptive learning rate method", algorithm 1.
class Adadelta final : public OptimizerWith<AdadeltaOptions> {
 public:
  explicit Adadelta(const TensorList& params, const AdadeltaOptions& options = {});
  explicit Adadelta(const std::vector<Group>& groups);

 protected:
  const char* name() const override { return "Adadelta"; }
  std::array<const char*, kMaxState> state_names() const override { return {"square_avg", "acc_delta"}; }
  bool counts_steps() const override { return true; }
  void visit_options(std::size_t group, OptionVisitor& v) override;
  void check_options(std::size_t group) const override;
  void update(Slot& slot, const Tensor& grad, std::size_t group) override;
};

struct AdamaxOptions {
  double lr = 2e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool maximize = false;
};
/// m = beta1 m + (1 - beta1) g; u = max(beta2 u, |g| + eps); param -= lr / (1 - beta1^step) * m / u.
/// Kingma and Ba 2014, "Adam", algorithm 2.
class Adamax final : public OptimizerWith<AdamaxOptions> {
 public:
  explicit Adamax(const TensorList& params, const AdamaxOptions& options = {});
  explicit Adamax(const std::vector<Group>& groups);

 protected:
  const char* name() const override { return "Adamax"; }
  std::array<const char*, kMaxState> state_names() const override { return {"exp_avg", "exp_inf"}; }
  bool counts_steps() const override { return true; }
  void visit_options(std::size_t group, OptionVisitor& v) override;
  void check_options(std::size_t group) const override;
  void update(Slot& slot, const Tensor& grad, std::size_t group) override;
};

struct NAdamOptions {
  double lr = 2e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum_decay = 4e-3;
  bool maximize = false;
};
/// Adam that looks ahead, as Nesterov's momentum does. With m and v as Adam's, mu_t = beta1 (1 - 0.96^(t
/// momentum_decay) / 2) and p_t = mu_1 ... mu_t, the mean in Adam's step is mu_(t+1) m / (1 - p_t mu_t mu_(t+1)) +
/// (1 - mu_t) g / (1 - p_t). Dozat 2016, "Incorporating Nesterov momentum into Adam", has p_(t+1), without the second
/// mu_t; this is the step of PyTorch 1.13, which also keeps p_t in float32.
class NAdam final : public OptimizerWith<NAdamOptions> {
 public:
  explicit NAdam(const TensorList& params, const NAdamOptions& options = {});
  explicit NAdam(const std::vector<Group>& groups);

 protected:
  const char* name() const override { return "NAdam"; }
  std::array<const char*, kMaxState> state_names() const override { return {"exp_avg", "exp_avg_sq"}; }
  bool counts_steps() const override { return true; }
  const char* number_name() const override { return "mu_product"; }
  void visit_options(std::size_t group, OptionVisitor& v) override;
  void check_options(std::size_t group) const override;
  void update(Slot& slot, const Tensor& grad, std::size_t group) override;
};

struct RAdamOptions {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool maximize = false;
};
/// Adam that starts as gradient descent with momentum, until the mean square rests on more than five gradients, and
/// whose steps then grow to their size as its variance falls. Liu and others 2019, "On the variance of the adaptive
/// learning rate and beyond", algorithm 2.
class RAdam final : public OptimizerWith<RAdamOptions> {
 public:
  explicit RAdam(const TensorList& params, const RAdamOptions& options = {});
  explicit RAdam(const std::vector<Group>& groups);

 protected:
  const char* name() const override { return "RAdam"; }
  std::array<const char*, kMaxState> state_names() const override { return {"exp_avg", "exp_avg_sq"}; }
  bool counts_steps() const override { return true; }
  void visit_options(std::size_t group, OptionVisitor& v) override;
  void check_options(std::size_t group) const override;
  void update(Slot& slot, const Tensor& grad, std::size_t group) override;
};

struct RpropOptions {
  double lr = 1e-2;                         ///< the first step size
  std::array<double, 2> etas = {0.5, 1.2};  ///< what a step size is multiplied by where the sign changes, or stays
  std::array<double, 2> step_sizes = {1e-6, 50};  ///< the least and the greatest
  bool maximize = false;
};
/// Steps by the sign of the gradient alone. An element's step size grows while the sign stays, and shrinks where it
/// changes, where that step is left out. For gradients of all the data: the noise of batches changes signs.
/// Riedmiller and Braun 1993, "A direct adaptive method for faster backpropagation learning: the RPROP algorithm".
class Rprop final : public OptimizerWith<RpropOptions> {
 public:
  explicit Rprop(const TensorList& params, const RpropOptions& options = {});
  explicit Rprop(const std::vector<Group>& groups);

 protected:
  const char* name() const override { return "Rprop"; }
  std::array<const char*, kMaxState> state_names() const override { return {"prev", "step_size"}; }
  bool counts_steps() const override { return true; }
  void visit_options(std::size_t group, OptionVisitor& v) override;
  void check_options(std::size_t group) const override;
  void update(Slot& slot, const Tensor& grad, std::size_t group) override;
};

}  // namespace taper::optim
