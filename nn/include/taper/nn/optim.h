#pragma once
#include <taper/serialize.h>
#include <taper/tensor.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace taper {
class OwnedTensors;
}

namespace taper::optim {

namespace detail {
class EntryReader;
}

/// Receives the options of a group by name, to save or to load them.
class OptionVisitor {
 public:
  virtual ~OptionVisitor() = default;
  virtual void operator()(const char* name, double& value) = 0;
  virtual void operator()(const char* name, bool& value) = 0;
};

/// Updates parameters by their gradients. Parameters come in groups, each with options of its own.
///
/// An optimizer stays where it is, for schedulers to refer to, and keeps the parameters it was given alive. State
/// (momentum, ...) is made at a parameter's first update: a parameter without a gradient has none, and is left alone by
/// step().
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates every parameter that has a gradient. Throws ValueError, before anything is written, if an option of a
  /// group has since been set to a value that the constructor would have refused.
  virtual void step();
  /// Drops the gradients, or fills them with zeros.
  void zero_grad(bool set_to_none = true);

  std::size_t num_groups() const { return groups_.size(); }
  // Where a group is asked for: IndexError if there is none of this number.
  TensorList params(std::size_t group = 0) const;
  virtual double lr(std::size_t group = 0) const = 0;
  /// Throws ValueError if the rate is negative.
  virtual void set_lr(std::size_t group, double lr) = 0;
  /// For all groups.
  void set_lr(double lr);

  /// Everything that the next step depends on beside the parameters: options by group, "param_groups.0.lr", and state
  /// by parameter, "state.0.momentum_buffer", parameters counted through all groups. Numbers are 0-dim tensors. The
  /// state shares the optimizer's memory.
  TensorDict state_dict() const;
  /// Copies a state_dict() of the same kind of optimizer with groups of the same sizes. Throws ValueError or ShapeError
  /// if it does not fit or lacks an entry, and has then changed nothing.
  void load_state_dict(const TensorDict& state);
  /// Throws as load_state_dict would, and changes nothing.
  void check_state_dict(const TensorDict& state) const;

 protected:
  static constexpr std::size_t kMaxState = 3;
  /// A parameter and what an optimizer remembers of it.
  struct Slot {
    Tensor param;
    std::array<Tensor, kMaxState> state = {};
    std::int64_t steps = 0;  ///< updates so far
  };

  Optimizer() = default;

  /// What messages call this optimizer.
  virtual const char* name() const = 0;
  /// Names of Slot::state, and whether Slot::steps matters.
  virtual std::array<const char*, kMaxState> state_names() const = 0;
  virtual bool counts_steps() const { return false; }
  /// Whether every parameter of the group that was updated has the state i, under the group's options. A state_dict()
  /// then has it, and one that lacks it is refused.
  virtual bool needs_state(std::size_t /*group*/, std::size_t /*i*/) const { return counts_steps(); }
  /// Shows the options of a group, which the visitor may change.
  virtual void visit_options(std::size_t group, OptionVisitor& v) = 0;
  /// Throws ValueError if an option of the group is out of its domain.
  virtual void check_options(std::size_t group) const = 0;
  virtual void update(Slot& slot, const Tensor& grad, std::size_t group) = 0;

  /// Throws if the parameters cannot form a group: none, not leaves, not floating, or in a group already.
  void add_slots(const TensorList& params);
  [[noreturn]] void raise_no_group(std::size_t group) const;
  void check_lr(double lr) const;
  /// The state tensor, made of zeros if there was none, and of the dtype and on the device that the parameter now has.
  static Tensor& state_of(Slot& slot, std::size_t i);

 private:
  friend void list_owned(const Optimizer& o, OwnedTensors& out);
  struct LoadedState;
  class OptionsForNow;
  Slot read_slot(detail::EntryReader& entries, const Tensor& param, std::size_t group, std::size_t index) const;
  LoadedState read(const TensorDict& state) const;

  std::vector<std::vector<Slot>> groups_;
};

/// Parameters and state by group, for who_holds() and the like: <taper/autograd/memory_view.h>.
void list_owned(const Optimizer& o, OwnedTensors& out);

/// Parameters with options of their own: `SGD({{backbone.parameters(), {.lr = 1e-3}}, {head.parameters(), {.lr =
/// 0.1}}})`. What the options do not name has its usual default.
template <class Options>
struct ParamGroup {
  TensorList params;
  Options options = {};
};

/// The part of an optimizer that knows the type of its options.
template <class O>
class OptimizerWith : public Optimizer {
 public:
  using Options = O;
  using Group = ParamGroup<O>;

  /// The options of a group; changes hold from the next step on.
  O& options(std::size_t group = 0) {
    if (group >= options_.size()) raise_no_group(group);
    return options_[group];
  }
  const O& options(std::size_t group = 0) const { return const_cast<OptimizerWith&>(*this).options(group); }
  double lr(std::size_t group = 0) const override { return options(group).lr; }
  void set_lr(std::size_t group, double lr) override {
    O& o = options(group);
    check_lr(lr);
    o.lr = lr;
  }
  using Optimizer::set_lr;

 protected:
  OptimizerWith() = default;
  /// To be called by the constructors of the final classes: checks are virtual.
  void add(const TensorList& params, const O& options) {
    options_.push_back(options);
    try {
      check_options(options_.size() - 1);
      add_slots(params);
    } catch (...) {
      options_.pop_back();
      throw;
    }
  }

 private:
  std::vector<O> options_;
};

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
  explicit SGD(const TensorList& params, const SGDOptions& options = {}) { add(params, options); }
  explicit SGD(const std::vector<Group>& groups);
  void add_param_group(const Group& group) { add(group.params, group.options); }

 protected:
  const char* name() const override { return "SGD"; }
  std::array<const char*, kMaxState> state_names() const override { return {"momentum_buffer"}; }
  void visit_options(std::size_t group, OptionVisitor& v) override;
  void check_options(std::size_t group) const override;
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
  explicit AdamFamily(const std::vector<Group>& groups);
  void add_param_group(const Group& group) { this->add(group.params, group.options); }

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
