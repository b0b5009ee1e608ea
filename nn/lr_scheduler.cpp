#include <taper/factory.h>
#include <taper/nn/lr_scheduler.h>

namespace taper::optim {

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) { base_lrs_ = base_lrs(); }

/// With those of groups that were added since.
std::vector<double> LRScheduler::base_lrs() const {
  std::vector<double> out = base_lrs_;
  for (std::size_t g = out.size(); g < optimizer_.num_groups(); ++g) out.push_back(optimizer_.lr(g));
  return out;
}

double LRScheduler::base_lr(std::size_t group) const {
  return group < base_lrs_.size() ? base_lrs_[group] : optimizer_.lr(group);
}

void LRScheduler::step() {
  base_lrs_ = base_lrs();
  ++last_epoch_;
  std::vector<double> rates;
  try {
    for (std::size_t g = 0; g < base_lrs_.size(); ++g) {
      rates.push_back(next_lr(g));
      check<ValueError>(rates[g] >= 0, "LRScheduler.step: the rate of group ", g, " would be ", rates[g],
                        "; it must not be negative");
    }
  } catch (...) {
    --last_epoch_;
    throw;
  }
  for (std::size_t g = 0; g < rates.size(); ++g) optimizer_.set_lr(g, rates[g]);
}

std::vector<double> LRScheduler::get_last_lr() const {
  std::vector<double> out;
  for (std::size_t g = 0; g < optimizer_.num_groups(); ++g) out.push_back(optimizer_.lr(g));
  return out;
}

TensorDict LRScheduler::state_dict() const {
  TensorDict out;
  out.insert("last_epoch", full({}, last_epoch_, int64));
  out.insert("base_lrs", from_vector(base_lrs()));
  return out;
}

void LRScheduler::check_state_dict(const TensorDict& state) const {
  const Tensor* epoch = state.find("last_epoch");
  const Tensor* rates = state.find("base_lrs");
  check<ValueError>(epoch && rates && state.size() == 2,
                    "LRScheduler.load_state_dict: expected the entries last_epoch ", "and base_lrs, got ", state.size(),
                    " entries");
  const std::size_t groups = optimizer_.num_groups();
  check<ValueError>(epoch->defined() && epoch->numel() == 1 && epoch->dtype() == int64 && rates->defined() &&
                        rates->dtype() == float64 && rates->numel() == std::int64_t(groups),
                    "LRScheduler.load_state_dict: expected last_epoch as one int64 number and base_lrs as ", groups,
                    " float64 numbers, got ", *epoch, " and ", *rates);
  check<ValueError>(epoch->item<std::int64_t>() >= 0, "LRScheduler.load_state_dict: last_epoch must not be negative, ",
                    "got ", epoch->item<std::int64_t>());
  for (const double rate : rates->to_vector<double>())
    check<ValueError>(rate >= 0, "LRScheduler.load_state_dict: base_lrs must not be negative, got ", rate);
}

void LRScheduler::load_state_dict(const TensorDict& state) {
  check_state_dict(state);
  std::vector<double> rates = state.at("base_lrs").to_vector<double>();
  last_epoch_ = state.at("last_epoch").item<std::int64_t>();
  base_lrs_ = std::move(rates);
}

StepLR::StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  check<ValueError>(step_size > 0, "StepLR: step_size must be positive, got ", step_size);
  check<ValueError>(gamma >= 0, "StepLR: gamma must not be negative, got ", gamma);
}

double StepLR::next_lr(std::size_t group) const {
  const double lr = optimizer().lr(group);
  return last_epoch() % step_size_ == 0 ? lr * gamma_ : lr;
}

}  // namespace taper::optim
