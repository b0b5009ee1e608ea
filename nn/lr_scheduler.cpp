#include <taper/factory.h>
#include <taper/nn/lr_scheduler.h>

namespace taper::optim {

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (std::size_t g = 0; g < optimizer.num_groups(); ++g) base_lrs_.push_back(optimizer.lr(g));
}

void LRScheduler::step() {
  ++last_epoch_;
  for (std::size_t g = 0; g < base_lrs_.size(); ++g) optimizer_.set_lr(g, next_lr(g));
}

std::vector<double> LRScheduler::get_last_lr() const {
  std::vector<double> out;
  for (std::size_t g = 0; g < base_lrs_.size(); ++g) out.push_back(optimizer_.lr(g));
  return out;
}

TensorDict LRScheduler::state_dict() const {
  TensorDict out;
  out.insert("last_epoch", full({}, last_epoch_, int64));
  out.insert("base_lrs", from_vector(std::vector<double>(base_lrs_)));
  return out;
}

void LRScheduler::check_state_dict(const TensorDict& state) const {
  const Tensor* epoch = state.find("last_epoch");
  const Tensor* rates = state.find("base_lrs");
  check<ValueError>(epoch && rates && state.size() == 2,
                    "LRScheduler.load_state_dict: expected the entries last_epoch ", "and base_lrs, got ", state.size(),
                    " entries");
  check<ValueError>(epoch->defined() && epoch->numel() == 1 && rates->defined() && rates->dtype() == float64 &&
                        rates->numel() == std::int64_t(base_lrs_.size()),
                    "LRScheduler.load_state_dict: expected one epoch and ", base_lrs_.size(), " float64 rates, got ",
                    *epoch, " and ", *rates);
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
}

double StepLR::next_lr(std::size_t group) const {
  const double lr = optimizer().lr(group);
  return last_epoch() % step_size_ == 0 ? lr * gamma_ : lr;
}

}  // namespace taper::optim
