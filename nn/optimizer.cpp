#include <taper/factory.h>
#include <taper/grad_mode.h>
#include <taper/nn/optim.h>

#include <algorithm>
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

/// Looks entries up and remembers which, so that what nobody asked for is noticed.
class EntryReader {
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

/// Collects the values of a group's options in the order in which they are shown.
class ReadOptions final : public OptionVisitor {
 public:
  ReadOptions(EntryReader& entries, std::size_t group, std::vector<double>& out)
      : entries_(entries), group_(group), out_(out) {}
  void operator()(const char* name, double&) override {
    out_.push_back(entries_.number(group_key(group_, name)).to<double>());
  }
  void operator()(const char* name, bool&) override {
    out_.push_back(entries_.number(group_key(group_, name)).to<double>());
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

void Optimizer::step() {
  const NoGradGuard no_grad;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (Slot& slot : groups_[g])
      if (const Tensor grad = slot.param.grad(); grad.defined()) update(slot, grad, g);
}

void Optimizer::zero_grad(bool set_to_none) {
  for (std::vector<Slot>& group : groups_)
    for (Slot& slot : group) slot.param.zero_grad(set_to_none);
}

TensorList Optimizer::params(std::size_t group) const {
  TensorList out;
  for (const Slot& slot : groups_.at(group)) out.push_back(slot.param);
  return out;
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

Tensor& Optimizer::state_of(Slot& slot, std::size_t i) {
  Tensor& state = slot.state[i];
  if (!state.defined())
    state = zeros_like(slot.param);
  else if (state.dtype() != slot.param.dtype() || state.device() != slot.param.device())
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
      for (std::size_t i = 0; i < kMaxState; ++i)
        if (slot.state[i].defined()) out.insert(state_key(index, names[i]), slot.state[i]);
      if (counts_steps() && slot.steps > 0) out.insert(state_key(index, "step"), full({}, slot.steps, int64));
      ++index;
    }
    out.insert(group_key(g, "params"), arange(first, std::int64_t(index)));
  }
  return out;
}

/// Throws if the options may not have these values, which is found by setting them for a moment.
void Optimizer::check_option_values(std::size_t group, const std::vector<double>& values) const {
  auto& self = const_cast<Optimizer&>(*this);
  GetOptions before;
  self.visit_options(group, before);
  SetOptions set(values), restore(before.values);
  self.visit_options(group, set);
  try {
    check_options(group);
  } catch (...) {
    self.visit_options(group, restore);
    throw;
  }
  self.visit_options(group, restore);
}

Optimizer::LoadedState Optimizer::read(const TensorDict& state) const {
  EntryReader entries(name(), state);
  LoadedState loaded;
  std::size_t index = 0;
  const auto names = state_names();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Tensor& members = entries.at(group_key(g, "params"));
    check<ValueError>(members.numel() == std::int64_t(groups_[g].size()), name(), ".load_state_dict: group ", g,
                      " has ", groups_[g].size(), " parameters, the state is for ", members.numel());
    ReadOptions read(entries, g, loaded.options.emplace_back());
    const_cast<Optimizer*>(this)->visit_options(g, read);
    check_option_values(g, loaded.options.back());
    std::vector<Slot>& slots = loaded.groups.emplace_back();
    for (const Slot& mine : groups_[g]) {
      Slot slot{mine.param};
      for (std::size_t i = 0; i < kMaxState && names[i]; ++i) {
        const std::string key = state_key(index, names[i]);
        const Tensor* t = entries.find(key);
        if (!t) continue;
        check<ShapeError>(t->sizes() == mine.param.sizes(), name(), ".load_state_dict: '", key, "' must have shape ",
                          mine.param.sizes(), ", as its parameter, got ", t->spec());
        // In the parameter's order of dimensions, as if this optimizer had made it.
        slot.state[i] = empty_like(mine.param);
        slot.state[i].copy_(t->to(mine.param.device()));
      }
      if (counts_steps() && state.contains(state_key(index, "step")))
        slot.steps = entries.number(state_key(index, "step")).to<std::int64_t>();
      check<ValueError>(!counts_steps() || (slot.steps > 0) == slot.state[0].defined(), name(),
                        ".load_state_dict: the state of parameter ", index, " is incomplete");
      slots.push_back(std::move(slot));
      ++index;
    }
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
}

}  // namespace taper::optim
