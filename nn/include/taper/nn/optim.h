#pragma once
// Stochastic gradient descent and Adam; the other optimizers are in <taper/nn/optim_adaptive.h>.
#include <taper/nn/optim_adaptive.h>
#include <taper/nn/optimizer.h>

#include <array>
#include <vector>

namespace taper::optim {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;
};

/// Stochastic gradient descent with momentum, as torch.optim.SGD: see sgd_step_() for the formula.
/// Nesterov's form is that of Sutskever, Martens, Dahl and Hinton 2013, "On the importance of initialization and
/// momentum in deep learning"; it needs a momentum and no dampening.
class SGD final : public OptimizerWith<SGDOptions> {
 public:
  explicit SGD(const TensorList& params, const SGDOptions& options = {});
  explicit SGD(const std::vector<Group>& groups);

 protected:
  const char* name() const override { return "SGD"; }
  std::array<const char*, kMaxState> state_names() const override { return {"momentum_buffer"}; }
  void visit_options(std::size_t group, OptionVisitor& v) override;
  void check_options(std::size_t group) const override;
  bool steps_only() const override { return true; }
  void update(Slot& slot, const Tensor& grad, std::size_t group) override;
};

struct AdamOptions {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  bool maximize = false;
};
struct AdamWOptions {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool amsgrad = false;
  bool maximize = false;
};

/// Adam and AdamW, which differ in what weight_decay means.
template <class O, bool decoupled>
class AdamFamily : public OptimizerWith<O> {
 public:
  using typename OptimizerWith<O>::Group;
  explicit AdamFamily(const TensorList& params, const O& options = {}) { this->add(params, options); }
  explicit AdamFamily(const std::vector<Group>& groups) { this->add(groups); }

 protected:
  using typename Optimizer::Slot;
  const char* name() const override { return decoupled ? "AdamW" : "Adam"; }
  std::array<const char*, Optimizer::kMaxState> state_names() const override {
    return {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  }
  bool counts_steps() const override { return true; }
  bool needs_state(std::size_t group, std::size_t i) const override;
  void visit_options(std::size_t group, OptionVisitor& v) override;
  void check_options(std::size_t group) const override;
  bool steps_only() const override { return true; }
  void update(Slot& slot, const Tensor& grad, std::size_t group) override;
};
extern template class AdamFamily<AdamOptions, false>;
extern template class AdamFamily<AdamWOptions, true>;

/// Adam, as torch.optim.Adam: see adam_step_() for the formula. weight_decay is added to the gradient.
class Adam final : public AdamFamily<AdamOptions, false> {
 public:
  using AdamFamily::AdamFamily;
};
/// Adam with weight decay that shrinks the parameter itself, as torch.optim.AdamW.
class AdamW final : public AdamFamily<AdamWOptions, true> {
 public:
  using AdamFamily::AdamFamily;
};

}  // namespace taper::optim
