// Schedules that multiply rates by a factor of the epoch.
#include <taper/nn/lr_scheduler.h>

#include <algorithm>
#include <cmath>

namespace taper::optim {

namespace {

constexpr double kPi = 3.14159265358979323846;

void check_positive(const char* schedule, const char* option, std::int64_t value) {
  check<ValueError>(value > 0, schedule, ": ", option, " must be positive, got ", value);
}
void check_not_negative(const char* schedule, const char* option, double value) {
  check<ValueError>(value >= 0, schedule, ": ", option, " must not be negative, got ", value);
}
/// A factor that the schedule divides by later.
void check_factor(const char* schedule, const char* option, double value) {
  check<ValueError>(value > 0 && value <= 1, schedule, ": ", option, " must be in (0, 1], got ", value);
}

void check_functions(const char* schedule, const Optimizer& optimizer, const std::vector<EpochFunction>& functions) {
  check<ValueError>(functions.size() == optimizer.num_groups(), schedule, ": expected a function for each of ",
                    optimizer.num_groups(), " groups, got ", functions.size());
}
/// Groups added later have the last function.
double factor_of(const std::vector<EpochFunction>& functions, std::size_t group, std::int64_t epoch) {
  return functions[std::min(group, functions.size() - 1)](epoch);
}

/// From 1 down to 0 as share goes from 0 to 1.
double cosine(double share) { return (1 + std::cos(kPi * share)) / 2; }

}  // namespace

StepLR::StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  check_positive("StepLR", "step_size", step_size);
  check_not_negative("StepLR", "gamma", gamma);
}

double StepLR::next_lr(std::size_t group) const {
  const double lr = optimizer().lr(group);
  return last_epoch() > 0 && last_epoch() % step_size_ == 0 ? lr * gamma_ : lr;
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma)
    : LRScheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  for (const std::int64_t m : milestones_) check_positive("MultiStepLR", "milestones", m);
  check_not_negative("MultiStepLR", "gamma", gamma);
}

double MultiStepLR::next_lr(std::size_t group) const {
  const auto times = std::count(milestones_.begin(), milestones_.end(), last_epoch());
  return optimizer().lr(group) * std::pow(gamma_, double(times));
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma) : LRScheduler(optimizer), gamma_(gamma) {
  check_not_negative("ExponentialLR", "gamma", gamma);
}

double ExponentialLR::next_lr(std::size_t group) const {
  const double lr = optimizer().lr(group);
  return last_epoch() > 0 ? lr * gamma_ : lr;
}

LinearLR::LinearLR(Optimizer& optimizer, const LinearLROptions& options) : LRScheduler(optimizer), options_(options) {
  check_factor("LinearLR", "start_factor", options.start_factor);
  check<ValueError>(options.end_factor >= 0 && options.end_factor <= 1, "LinearLR: end_factor must be in [0, 1], got ",
                    options.end_factor);
  check_positive("LinearLR", "total_iters", options.total_iters);
  start();
}

double LinearLR::next_lr(std::size_t group) const {
  const LinearLROptions& o = options_;
  const double lr = optimizer().lr(group);
  if (last_epoch() == 0) return lr * o.start_factor;
  if (last_epoch() > o.total_iters) return lr;
  const double change = o.end_factor - o.start_factor;
  const double before = double(o.total_iters) * o.start_factor + double(last_epoch() - 1) * change;
  // Exact where the way ends at 0, which rounding could miss on the negative side.
  return last_epoch() == o.total_iters && o.end_factor == 0 ? 0 : lr * (1 + change / before);
}

ConstantLR::ConstantLR(Optimizer& optimizer, const ConstantLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  check_factor("ConstantLR", "factor", options.factor);
  check_positive("ConstantLR", "total_iters", options.total_iters);
  start();
}

double ConstantLR::next_lr(std::size_t group) const {
  const double lr = optimizer().lr(group);
  if (last_epoch() == 0) return lr * options_.factor;
  return last_epoch() == options_.total_iters ? lr / options_.factor : lr;
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, const PolynomialLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  check_positive("PolynomialLR", "total_iters", options.total_iters);
  check_not_negative("PolynomialLR", "power", options.power);
}

double PolynomialLR::next_lr(std::size_t group) const {
  const double lr = optimizer().lr(group);
  if (last_epoch() == 0 || last_epoch() > options_.total_iters) return lr;
  const double left = double(options_.total_iters - last_epoch());
  return lr * std::pow(left / (left + 1), options_.power);
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, std::int64_t t_max, double eta_min)
    : LRScheduler(optimizer), t_max_(t_max), eta_min_(eta_min) {
  check_positive("CosineAnnealingLR", "t_max", t_max);
  check_not_negative("CosineAnnealingLR", "eta_min", eta_min);
}

double CosineAnnealingLR::next_lr(std::size_t group) const {
  const double lr = optimizer().lr(group);
  if (last_epoch() == 0) return lr;
  const std::int64_t since_lowest = last_epoch() - 1 - t_max_;
  const auto at = [&](std::int64_t epoch) { return cosine(double(epoch) / double(t_max_)); };
  // At the lowest point there is no rate left to multiply.
  if (since_lowest % (2 * t_max_) == 0) return lr + (base_lr(group) - eta_min_) * (1 - at(1));
  return eta_min_ + (lr - eta_min_) * at(last_epoch()) / at(last_epoch() - 1);
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t t_0, std::int64_t t_mult,
                                                         double eta_min)
    : LRScheduler(optimizer), t_0_(t_0), t_mult_(t_mult), eta_min_(eta_min) {
  check_positive("CosineAnnealingWarmRestarts", "t_0", t_0);
  check_positive("CosineAnnealingWarmRestarts", "t_mult", t_mult);
  check_not_negative("CosineAnnealingWarmRestarts", "eta_min", eta_min);
  start();
}

double CosineAnnealingWarmRestarts::next_lr(std::size_t group) const {
  std::int64_t since = last_epoch(), length = t_0_;
  if (t_mult_ == 1) since %= length;
  for (; since >= length; length *= t_mult_) since -= length;
  return eta_min_ + (base_lr(group) - eta_min_) * cosine(double(since) / double(length));
}

LambdaLR::LambdaLR(Optimizer& optimizer, EpochFunction f) : LRScheduler(optimizer), functions_{std::move(f)} {
  start();
}
LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<EpochFunction> functions)
    : LRScheduler(optimizer), functions_(std::move(functions)) {
  check_functions("LambdaLR", optimizer, functions_);
  start();
}

double LambdaLR::next_lr(std::size_t group) const {
  return base_lr(group) * factor_of(functions_, group, last_epoch());
}

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, EpochFunction f)
    : LRScheduler(optimizer), functions_{std::move(f)} {}
MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, std::vector<EpochFunction> functions)
    : LRScheduler(optimizer), functions_(std::move(functions)) {
  check_functions("MultiplicativeLR", optimizer, functions_);
}

double MultiplicativeLR::next_lr(std::size_t group) const {
  const double lr = optimizer().lr(group);
  return last_epoch() > 0 ? lr * factor_of(functions_, group, last_epoch()) : lr;
}

}  // namespace taper::optim
