#pragma once
#include <taper/serialize.h>
#include <taper/tensor.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
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
  /// Captured into a cuda::Graph, it is a step of its own in each replay: it counts, and takes the options that the
  /// groups then have. SGD, Adam and AdamW can be captured, after a first step that makes their state.
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
  /// What schedules take for the momentum: the option of this name or the first of betas, if there is one.
  std::optional<double> momentum(std::size_t group = 0) const;
  /// Throws ValueError if the optimizer has no momentum, or not of this value.
  void set_momentum(std::size_t group, double momentum);

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
    double number = 1;       ///< see number_name()
  };

  Optimizer() = default;

  /// What messages call this optimizer.
  virtual const char* name() const = 0;
  /// Names of Slot::state, and whether Slot::steps matters.
  virtual std::array<const char*, kMaxState> state_names() const = 0;
  virtual bool counts_steps() const { return false; }
  /// The name of Slot::number, a product over the updates that is then part of the state beside the steps.
  virtual const char* number_name() const { return nullptr; }
  /// Whether every parameter of the group that was updated has the state i, under the group's options. A state_dict()
  /// then has it, and one that lacks it is refused.
  virtual bool needs_state(std::size_t /*group*/, std::size_t /*i*/) const { return counts_steps(); }
  /// Shows the options of a group, which the visitor may change.
  virtual void visit_options(std::size_t group, OptionVisitor& v) = 0;
  /// Throws ValueError if an option of the group is out of its domain.
  virtual void check_options(std::size_t group) const = 0;
  /// Whether update() touches a parameter and its state by sgd_step_ and adam_step_ alone, so that a device may make
  /// the steps of many parameters at once.
  virtual bool steps_only() const { return false; }
  virtual void update(Slot& slot, const Tensor& grad, std::size_t group) = 0;

  /// Throws if the parameters cannot form a group: none, not leaves, not floating, or in a group already.
  void add_slots(const TensorList& params);
  [[noreturn]] void raise_no_group(std::size_t group) const;
  void check_lr(double lr) const;
  void check_any_group(std::size_t groups) const;
  /// Throws unless the gradient has the shape, the dtype and the device of the parameter.
  void check_grad(const Tensor& param, const Tensor& grad) const;
  /// Where the group keeps its rate, and what momentum() returns; null if nowhere.
  virtual double* lr_option(std::size_t group) = 0;
  virtual double* momentum_option(std::size_t group) = 0;
  /// The state tensor, filled with `start` if there was none, and of the dtype and on the device that the parameter now
  /// has.
  static Tensor& state_of(Slot& slot, std::size_t i, double start = 0);

 private:
  friend class LRScheduler;
  /// The group's rate before a schedule first changed it.
  double initial_lr(std::size_t group) const;
  void keep_initial_lrs();

  friend void list_owned(const Optimizer& o, OwnedTensors& out);
  struct LoadedState;
  class OptionsForNow;
  class CapturedStep;
  void capture_step();
  Slot read_slot(detail::EntryReader& entries, const Tensor& param, std::size_t group, std::size_t index) const;
  LoadedState read(const TensorDict& state) const;

  std::vector<std::vector<Slot>> groups_;
  std::vector<double> initial_lrs_;   // of the groups that a schedule has changed
  std::shared_ptr<Optimizer*> self_;  // for graphs that hold a step; gone when the optimizer is
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
  /// One more group; throws as the constructor does, and has then changed nothing.
  void add_param_group(const Group& group) { add(group.params, group.options); }

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
  void add(const std::vector<Group>& groups) {
    check_any_group(groups.size());
    for (const Group& group : groups) add(group.params, group.options);
  }
  double* lr_option(std::size_t group) override { return &options(group).lr; }
  double* momentum_option(std::size_t group) override {
    if constexpr (requires(O & o) { o.momentum; })
      return &options(group).momentum;
    else if constexpr (requires(O & o) { o.betas; })
      return &options(group).betas[0];
    else
      return nullptr;
  }

 private:
  std::vector<O> options_;
};

}  // namespace taper::optim
