#include <taper/factory.h>
#include <taper/nn/lr_scheduler_base.h>

#include <string>

namespace taper::optim {

namespace {

std::string part_prefix(std::size_t part) { return "schedulers." + std::to_string(part) + '.'; }

/// The entries of a part, under the names that it gave them.
TensorDict part_of(const TensorDict& state, std::size_t part) {
  TensorDict out;
  const std::string prefix = part_prefix(part);
  for (const auto& [name, t] : state)
    if (name.rfind(prefix, 0) == 0) out.insert(name.substr(prefix.size()), t);
  return out;
}

}  // namespace

/// Unless dismissed, brings a schedule, its parts and the optimizer back to where they were.
class LRScheduler::Rollback {
 public:
  explicit Rollback(LRScheduler& scheduler) : optimizer_(scheduler.optimizer_) {
    add(scheduler);
    for (std::size_t g = 0; g < optimizer_.num_groups(); ++g) {
      rates_.push_back(optimizer_.lr(g));
      momenta_.push_back(optimizer_.momentum(g).value_or(0));
    }
  }
  ~Rollback() {
    for (const Position& p : positions_) {
      p.scheduler->last_epoch_ = p.last_epoch;
      p.scheduler->base_lrs_.resize(p.groups);
    }
    for (std::size_t g = 0; g < rates_.size(); ++g) {
      *optimizer_.lr_option(g) = rates_[g];
      if (double* momentum = optimizer_.momentum_option(g)) *momentum = momenta_[g];
    }
  }
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;
  void dismiss() {
    positions_.clear();
    rates_.clear();
  }

 private:
  struct Position {
    LRScheduler* scheduler;
    std::int64_t last_epoch;
    std::size_t groups;
  };
  void add(LRScheduler& s) {
    positions_.push_back({&s, s.last_epoch_, s.base_lrs_.size()});
    for (LRScheduler* part : s.parts_) add(*part);
  }
  Optimizer& optimizer_;
  std::vector<Position> positions_;
  std::vector<double> rates_, momenta_;
};

LRScheduler::LRScheduler(Optimizer& optimizer, std::vector<LRScheduler*> parts)
    : optimizer_(optimizer), parts_(std::move(parts)) {
  for (const LRScheduler* part : parts_)
    check<ValueError>(part && &part->optimizer_ == &optimizer,
                      "LRScheduler: schedulers that are combined must all be of the same optimizer");
  base_lrs_ = base_lrs();
}

namespace {

LRScheduler& first_of(const std::vector<LRScheduler*>& parts) {
  check<ValueError>(!parts.empty() && parts.front(), "LRScheduler: the list of schedulers is empty");
  return *parts.front();
}

}  // namespace

LRScheduler::LRScheduler(std::vector<LRScheduler*> parts) : LRScheduler(first_of(parts).optimizer_, parts) {}

/// With those of groups that were added since.
std::vector<double> LRScheduler::base_lrs() const {
  std::vector<double> out = base_lrs_;
  for (std::size_t g = out.size(); g < optimizer_.num_groups(); ++g) out.push_back(optimizer_.initial_lr(g));
  return out;
}

double LRScheduler::base_lr(std::size_t group) const {
  return group < base_lrs_.size() ? base_lrs_[group] : optimizer_.initial_lr(group);
}

void LRScheduler::step() {
  Rollback before(*this);
  advance();
  before.dismiss();
}

void LRScheduler::start() {
  Rollback before(*this);
  begin();
  before.dismiss();
}

void LRScheduler::advance() {
  ++last_epoch_;
  apply();
}

void LRScheduler::begin() {
  last_epoch_ = 0;
  apply();
}

void LRScheduler::begin_part_anew(LRScheduler& part) {
  if (part.begins_from_base()) part.set_base_lrs();
  part.begin();
}

void LRScheduler::set_base_lrs() {
  for (std::size_t g = 0; g < optimizer_.num_groups(); ++g) optimizer_.set_lr(g, base_lr(g));
}

/// Gives the optimizer the rates of last_epoch().
void LRScheduler::apply() {
  base_lrs_ = base_lrs();
  std::vector<double> rates;
  for (std::size_t g = 0; g < base_lrs_.size(); ++g) {
    rates.push_back(next_lr(g));
    check<ValueError>(rates[g] >= 0, "LRScheduler.step: the rate of group ", g, " would be ", rates[g],
                      "; it must not be negative");
  }
  optimizer_.keep_initial_lrs();
  for (std::size_t g = 0; g < rates.size(); ++g) {
    optimizer_.set_lr(g, rates[g]);
    if (const std::optional<double> momentum = next_momentum(g)) optimizer_.set_momentum(g, *momentum);
  }
}

void LRScheduler::check_has_momentum(const char* name) const {
  check<ValueError>(optimizer_.momentum().has_value(), name, ": the optimizer has neither momentum nor betas; ",
                    "set cycle_momentum to false");
}

std::vector<double> LRScheduler::get_last_lr() const {
  std::vector<double> out;
  for (std::size_t g = 0; g < optimizer_.num_groups(); ++g) out.push_back(optimizer_.lr(g));
  return out;
}

/// The state without that of the parts.
std::vector<std::pair<const char*, Tensor>> LRScheduler::entries() const {
  std::vector<std::pair<const char*, Tensor>> out{{"last_epoch", full({}, last_epoch_, int64)},
                                                  {"base_lrs", from_vector(base_lrs())}};
  for (const Number& n : const_cast<LRScheduler*>(this)->numbers())
    out.emplace_back(n.name, n.counts ? full({}, std::int64_t(*n.value), int64) : full({}, *n.value, float64));
  return out;
}

TensorDict LRScheduler::state_dict() const {
  TensorDict out;
  for (const auto& [name, t] : entries()) out.insert(name, t);
  for (std::size_t i = 0; i < parts_.size(); ++i)
    for (const auto& [name, t] : parts_[i]->state_dict()) out.insert(part_prefix(i) + name, t);
  return out;
}

void LRScheduler::check_state_dict(const TensorDict& state) const {
  std::size_t known = 0;
  std::string names;
  bool complete = true;
  for (const auto& [name, mine] : entries()) {
    const Tensor* t = state.find(name);
    names += (known++ > 0 ? ", " : "") + std::string(name);
    complete &= t != nullptr;
    if (!t) continue;
    check<ValueError>(t->defined() && t->dtype() == mine.dtype() && t->numel() == mine.numel(),
                      "LRScheduler.load_state_dict: expected ", name, " as ", mine.numel(), " numbers, ", mine.dtype(),
                      ", got ", *t);
    // What is counted, and rates.
    const bool is_number = mine.dim() == 0 && mine.dtype() == float64;
    for (const double value : t->to(float64).to_vector<double>())
      check<ValueError>(is_number || value >= 0, "LRScheduler.load_state_dict: ", name, " must not be negative, got ",
                        value);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const TensorDict part = part_of(state, i);
    parts_[i]->check_state_dict(part);
    known += part.size();
  }
  check<ValueError>(complete && state.size() == known, "LRScheduler.load_state_dict: expected the entries ", names,
                    parts_.empty() ? "" : " and those of each of the schedulers", ", got ", state.size(), " entries");
}

void LRScheduler::load_state_dict(const TensorDict& state) {
  check_state_dict(state);
  std::vector<double> rates = state.at("base_lrs").to_vector<double>();
  std::vector<double> values;
  const std::vector<Number> targets = numbers();
  for (const Number& n : targets) values.push_back(state.at(n.name).item<double>());
  for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i]->load_state_dict(part_of(state, i));
  last_epoch_ = state.at("last_epoch").item<std::int64_t>();
  base_lrs_ = std::move(rates);
  for (std::size_t i = 0; i < targets.size(); ++i) *targets[i].value = values[i];
}

}  // namespace taper::optim
