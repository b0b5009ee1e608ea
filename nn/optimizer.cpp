#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/grad_mode.h>
#include <taper/nn/optimizer.h>
#include <taper/ops/optim.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace taper::optim {

namespace {

std::string group_key(std::size_t group, const char* option) {
  return "param_groups." + std::to_string(group) + '.' + option;
}
std::string state_key(std::size_t index, const char* part) { return "state." + std::to_string(index) + '.' + part; }

class SaveOptions final : public OptionVisitor {
 public:
  SaveOptions(TensorDict& out, std::size_t group) : out_(out), group_(group) {}
  void operator()(const char* name, double& value) override {
    out_.insert(group_key(group_, name), full({}, value, float64));
  }
  void operator()(const char* name, bool& value) override {
    out_.insert(group_key(group_, name), full({}, value, bool_));
  }

 private:
  TensorDict& out_;
  std::size_t group_;
};

}  // namespace

/// Looks entries up and remembers which, so that what nobody asked for is noticed.
class detail::EntryReader {
 public:
  EntryReader(const char* optimizer, const TensorDict& dict) : optimizer_(optimizer), dict_(dict) {}
  const char* optimizer() const { return optimizer_; }
  const Tensor* find(const std::string& name) {
    const Tensor* t = dict_.find(name);
    if (t) {
      check<ValueError>(t->defined(), optimizer_, ".load_state_dict: '", name, "' is undefined");
      used_.insert(name);
    }
    return t;
  }
  const Tensor& at(const std::string& name) {
    const Tensor* t = find(name);
    if (!t)
      raise<ValueError>(optimizer_, ".load_state_dict: '", name,
                        "' is missing; is this the state of another optimizer?");
    return *t;
  }
  Scalar number(const std::string& name) {
    const Tensor& t = at(name);
    check<ShapeError>(t.numel() == 1, optimizer_, ".load_state_dict: '", name, "' must be one number, got ", t.spec());
    return t.scalar();
  }
  void check_all_used() const {
    for (const auto& [name, t] : dict_)
      check<ValueError>(used_.count(name) > 0, optimizer_, ".load_state_dict: unexpected '", name,
                        "'; is this the state of another optimizer or of other parameters?");
  }

 private:
  const char* optimizer_;
  const TensorDict& dict_;
  std::set<std::string> used_;
};

namespace {

using detail::EntryReader;

/// Collects the values of a group's options in the order in which they are shown.
class ReadOptions final : public OptionVisitor {
 public:
  ReadOptions(EntryReader& entries, std::size_t group, std::vector<double>& out)
      : entries_(entries), group_(group), out_(out) {}
  void operator()(const char* name, double&) override {
    out_.push_back(entries_.number(group_key(group_, name)).to<double>());
  }
  void operator()(const char* name, bool&) override {
    const double value = entries_.number(group_key(group_, name)).to<double>();
    check<ValueError>(value == 0 || value == 1, entries_.optimizer(), ".load_state_dict: '", group_key(group_, name),
                      "' must be true or false, got ", value);
    out_.push_back(value);
  }

 private:
  EntryReader& entries_;
  std::size_t group_;
  std::vector<double>& out_;
};
class GetOptions final : public OptionVisitor {
 public:
  std::vector<double> values;
  void operator()(const char*, double& value) override { values.push_back(value); }
  void operator()(const char*, bool& value) override { values.push_back(value); }
};
class SetOptions final : public OptionVisitor {
 public:
  explicit SetOptions(const std::vector<double>& values) : values_(values) {}
  void operator()(const char*, double& value) override { value = values_[next_++]; }
  void operator()(const char*, bool& value) override { value = values_[next_++] != 0; }

 private:
  const std::vector<double>& values_;
  std::size_t next_ = 0;
};

}  // namespace

struct Optimizer::LoadedState {
  std::vector<std::vector<Slot>> groups;
  std::vector<std::vector<double>> options;
};

/// A step in a captured graph. The host makes it again before each replay, with the gradients of the capture: that
/// counts it, and the device learns the numbers that it then has.
class Optimizer::CapturedStep final : public cuda::detail::AtReplay {
 public:
  explicit CapturedStep(Optimizer& o) : optimizer_(o.self_) {
    for (std::size_t g = 0; g < o.groups_.size(); ++g)
      for (std::size_t i = 0; i < o.groups_[g].size(); ++i)
        if (const Tensor grad = o.groups_[g][i].param.grad(); grad.defined()) updates_.push_back({g, i, grad});
  }

  void act() override {
    const auto self = optimizer_.lock();
    check<ValueError>(self != nullptr,
                      "Graph::replay: an optimizer whose step is in the graph is gone; keep it as long ",
                      "as the graph is replayed");
    Optimizer& o = **self;
    const NoGradGuard no_grad;
    for (std::size_t g = 0; g < o.groups_.size(); ++g) o.check_options(g);
    for (Update& u : updates_) u.steps_before = slot(o, u).steps;
    try {
      StepsTogether together;
      together.made_again_at_replay();
      for (const Update& u : updates_) o.update(slot(o, u), u.grad, u.group);
      together.finish();
    } catch (...) {
      undo();
      throw;
    }
  }
  void undo() noexcept override {
    if (const auto self = optimizer_.lock())
      for (const Update& u : updates_) slot(**self, u).steps = u.steps_before;
  }

 private:
  struct Update {
    std::size_t group, index;
    Tensor grad;
    std::int64_t steps_before = 0;
  };
  static Slot& slot(Optimizer& o, const Update& u) { return o.groups_[u.group][u.index]; }

  std::weak_ptr<Optimizer*> optimizer_;
  std::vector<Update> updates_;
};

void Optimizer::capture_step() {
  check<NotImplementedError>(steps_only(), name(),
                             ".step: cannot be captured into a graph, where its learning rate and ",
                             "its number of steps would stay the same; capture without it and call step() after each ",
                             "replay, or use SGD, Adam or AdamW");
  const Device device(DeviceType::CUDA, cuda::current_device());
  for (const std::vector<Slot>& group : groups_)
    for (const Slot& slot : group)
      check<DeviceError>(slot.param.device() == device || !slot.param.grad().defined(), name(), ".step: a graph of ",
                         device, " cannot hold the step of a parameter on ", slot.param.device());
  if (!self_) self_ = std::make_shared<Optimizer*>(this);
  const auto step = std::make_shared<CapturedStep>(*this);
  step->act();   // is recorded ...
  step->undo();  // ... and has not happened
  cuda::detail::at_replay(step);
}

void Optimizer::step() {
  const NoGradGuard no_grad;
  for (std::size_t g = 0; g < groups_.size(); ++g) check_options(g);
  if (cuda::is_current_stream_capturing()) return capture_step();
  std::optional<StepsTogether> together;
  if (steps_only()) together.emplace();
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (Slot& slot : groups_[g])
      if (const Tensor grad = slot.param.grad(); grad.defined()) update(slot, grad, g);
  if (together) together->finish();
}

void Optimizer::zero_grad(bool set_to_none) {
  for (std::vector<Slot>& group : groups_)
    for (Slot& slot : group) slot.param.zero_grad(set_to_none);
}

TensorList Optimizer::params(std::size_t group) const {
  if (group >= groups_.size()) raise_no_group(group);
  TensorList out;
  for (const Slot& slot : groups_[group]) out.push_back(slot.param);
  return out;
}

void Optimizer::raise_no_group(std::size_t group) const {
  raise<IndexError>(name(), ": there is no parameter group ", group, "; this optimizer has ", groups_.size(),
                    ", counted from 0");
}

void Optimizer::check_lr(double lr) const {
  check<ValueError>(lr >= 0, name(), ".set_lr: a learning rate must not be negative, got ", lr);
}

void Optimizer::check_any_group(std::size_t groups) const {
  check<ValueError>(groups > 0, name(), ": the list of parameter groups is empty");
}

void Optimizer::check_grad(const Tensor& param, const Tensor& grad) const {
  check<ShapeError>(grad.sizes() == param.sizes(), name(), ".step: the gradient must have the shape of its parameter, ",
                    param.sizes(), ", got ", grad.sizes());
  check<DTypeError>(grad.dtype() == param.dtype(), name(), ".step: the gradient must have the dtype of its parameter, ",
                    param.dtype(), ", got ", grad.dtype(), "; convert it with to()");
  check<DeviceError>(grad.device() == param.device(), name(), ".step: the gradient is on ", grad.device(),
                     " but its parameter is on ", param.device(), "; move it with to()");
}

std::optional<double> Optimizer::momentum(std::size_t group) const {
  if (group >= groups_.size()) raise_no_group(group);
  const double* value = const_cast<Optimizer*>(this)->momentum_option(group);
  return value ? std::optional<double>(*value) : std::nullopt;
}

void Optimizer::set_momentum(std::size_t group, double momentum) {
  if (group >= groups_.size()) raise_no_group(group);
  double* value = momentum_option(group);
  check<ValueError>(value, name(), ".set_momentum: this optimizer has neither momentum nor betas");
  const double before = *value;
  *value = momentum;
  try {
    check_options(group);
  } catch (...) {
    *value = before;
    throw;
  }
}

double Optimizer::initial_lr(std::size_t group) const {
  return group < initial_lrs_.size() ? initial_lrs_[group] : lr(group);
}

void Optimizer::keep_initial_lrs() {
  for (std::size_t g = initial_lrs_.size(); g < groups_.size(); ++g) initial_lrs_.push_back(lr(g));
}

void Optimizer::set_lr(double lr) {
  for (std::size_t g = 0; g < groups_.size(); ++g) set_lr(g, lr);
}

void Optimizer::add_slots(const TensorList& params) {
  check<ValueError>(!params.empty(), name(), ": the list of parameters is empty");
  std::set<const TensorImpl*> known;
  for (const std::vector<Slot>& group : groups_)
    for (const Slot& slot : group) known.insert(slot.param.impl());
  std::vector<Slot> slots;
  for (const Tensor& p : params) {
    check<ValueError>(p.defined(), name(), ": parameter ", slots.size(), " is undefined");
    check<DTypeError>(p.is_floating_point(), name(), ": parameter ", slots.size(), " must be floating, got ", p.spec());
    check<ValueError>(p.is_leaf(), name(), ": parameter ", slots.size(), ", ", p.spec(),
                      ", is the result of an operation, not a leaf; its gradient would not be kept");
    check<ValueError>(known.insert(p.impl()).second, name(), ": parameter ", slots.size(), ", ", p.spec(),
                      ", is given twice; each step would update it twice");
    slots.push_back({p});
  }
  groups_.push_back(std::move(slots));
}

Tensor& Optimizer::state_of(Slot& slot, std::size_t i, double start) {
  Tensor& state = slot.state[i];
  const bool is_ready = state.defined() && state.dtype() == slot.param.dtype() && state.device() == slot.param.device();
  check<ValueError>(
      is_ready || !cuda::is_current_stream_capturing(),
      "Optimizer::step: the first step of a parameter makes its state, which a captured graph would do in ",
      "every replay; make a step before the capture");
  if (!state.defined())
    state = start == 0 ? zeros_like(slot.param) : full_like(slot.param, start);
  else if (!is_ready)
    state = state.to(slot.param.device(), slot.param.dtype());  // the parameter was converted since
  return state;
}

TensorDict Optimizer::state_dict() const {
  TensorDict out;
  std::size_t index = 0;
  const auto names = state_names();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    SaveOptions save(out, g);
    const_cast<Optimizer*>(this)->visit_options(g, save);
    const std::int64_t first = std::int64_t(index);
    for (const Slot& slot : groups_[g]) {
      for (std::size_t i = 0; i < kMaxState && names[i]; ++i) {
        if (slot.state[i].defined())
          out.insert(state_key(index, names[i]), slot.state[i]);
        else if (slot.steps > 0 && needs_state(g, i))  // asked for since the last step, which would have made it so
          out.insert(state_key(index, names[i]), zeros_like(slot.param));
      }
      if (counts_steps() && slot.steps > 0) {
        out.insert(state_key(index, "step"), full({}, slot.steps, int64));
        if (number_name()) out.insert(state_key(index, number_name()), full({}, slot.number, float64));
      }
      ++index;
    }
    out.insert(group_key(g, "params"), arange(first, std::int64_t(index)));
  }
  return out;
}

/// Lets a group have these options while it lives.
class Optimizer::OptionsForNow {
 public:
  OptionsForNow(const Optimizer& o, std::size_t group, const std::vector<double>& values)
      : optimizer_(const_cast<Optimizer&>(o)), group_(group) {
    optimizer_.visit_options(group_, before_);
    set(values);
  }
  ~OptionsForNow() { set(before_.values); }
  OptionsForNow(const OptionsForNow&) = delete;
  OptionsForNow& operator=(const OptionsForNow&) = delete;

 private:
  void set(const std::vector<double>& values) {
    SetOptions visitor(values);
    optimizer_.visit_options(group_, visitor);
  }
  Optimizer& optimizer_;
  std::size_t group_;
  GetOptions before_;
};

Optimizer::Slot Optimizer::read_slot(detail::EntryReader& entries, const Tensor& param, std::size_t group,
                                     std::size_t index) const {
  Slot slot{param};
  const auto names = state_names();
  std::string present, missing;  // a key each: one that says that the parameter was updated, one that then lacks
  for (std::size_t i = 0; i < kMaxState && names[i]; ++i) {
    const std::string key = state_key(index, names[i]);
    const Tensor* t = entries.find(key);
    if (!t) {
      if (missing.empty() && needs_state(group, i)) missing = key;
      continue;
    }
    check<ShapeError>(t->sizes() == param.sizes(), name(), ".load_state_dict: '", key, "' must have shape ",
                      param.sizes(), ", as its parameter, got ", t->spec());
    // In the parameter's order of dimensions, as if this optimizer had made it.
    slot.state[i] = empty_like(param);
    slot.state[i].copy_(t->to(param.device()));
    present = key;
  }
  if (!counts_steps()) return slot;
  const std::string step_key = state_key(index, "step");
  if (entries.find(step_key)) {
    constexpr double kMost = 9007199254740992;  // 2^53: up to here a double tells one whole number from the next
    const double steps = entries.number(step_key).to<double>();
    check<ValueError>(steps >= 1 && steps <= kMost && steps == std::floor(steps), name(), ".load_state_dict: '",
                      step_key, "' must be a number of updates, 1 or more, got ", steps);
    slot.steps = std::int64_t(steps);
    present = step_key;
  } else {
    missing = step_key;
  }
  if (number_name()) {
    const std::string key = state_key(index, number_name());
    if (entries.find(key)) {
      slot.number = entries.number(key).to<double>();
      present = key;
    } else {
      missing = key;
    }
  }
  check<ValueError>(present.empty() || missing.empty(), name(), ".load_state_dict: '", missing, "' is missing beside '",
                    present, "'; a parameter has all of its state or none");
  return slot;
}

Optimizer::LoadedState Optimizer::read(const TensorDict& state) const {
  detail::EntryReader entries(name(), state);
  LoadedState loaded;
  std::size_t index = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Tensor& members = entries.at(group_key(g, "params"));
    check<ValueError>(members.numel() == std::int64_t(groups_[g].size()), name(), ".load_state_dict: group ", g,
                      " has ", groups_[g].size(), " parameters, the state is for ", members.numel());
    ReadOptions read(entries, g, loaded.options.emplace_back());
    const_cast<Optimizer*>(this)->visit_options(g, read);
    const OptionsForNow options(*this, g, loaded.options.back());
    check_options(g);
    std::vector<Slot>& slots = loaded.groups.emplace_back();
    for (const Slot& mine : groups_[g]) slots.push_back(read_slot(entries, mine.param, g, index++));
  }
  entries.check_all_used();
  return loaded;
}

void Optimizer::check_state_dict(const TensorDict& state) const {
  const NoGradGuard no_grad;
  read(state);
}

void Optimizer::load_state_dict(const TensorDict& state) {
  const NoGradGuard no_grad;
  LoadedState loaded = read(state);
  // From here on nothing fails.
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    SetOptions set(loaded.options[g]);
    visit_options(g, set);
  }
  groups_ = std::move(loaded.groups);
  initial_lrs_.clear();
}

}  // namespace taper::optim
