#include <taper/nn/lr_scheduler.h>

#include <algorithm>

namespace taper::optim {

namespace {

/// What every metric is better than.
double worst(PlateauMode mode) {
  const double infinity = std::numeric_limits<double>::infinity();
  return mode == PlateauMode::min ? infinity : -infinity;
}

}  // namespace

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options)
    : LRScheduler(optimizer), options_(options), best_(worst(options.mode)) {
  const ReduceLROnPlateauOptions& o = options;
  check<ValueError>(o.factor >= 0 && o.factor < 1, "ReduceLROnPlateau: factor must be in [0, 1), got ", o.factor);
  check<ValueError>(o.patience >= 0, "ReduceLROnPlateau: patience must not be negative, got ", o.patience);
  check<ValueError>(o.cooldown >= 0, "ReduceLROnPlateau: cooldown must not be negative, got ", o.cooldown);
  check<ValueError>(o.min_lr.size() == 1 || o.min_lr.size() == optimizer.num_groups(),
                    "ReduceLROnPlateau: min_lr must be one number or one for each of ", optimizer.num_groups(),
                    " groups, got ", o.min_lr.size());
  for (std::size_t g = 0; g < o.min_lr.size(); ++g)
    check<ValueError>(o.min_lr[g] >= 0, "ReduceLROnPlateau: min_lr must not be negative, got ", o.min_lr[g]);
}

void ReduceLROnPlateau::step(double metric) {
  metric_ = metric;
  LRScheduler::step();
}

bool ReduceLROnPlateau::is_better(double metric) const {
  const bool relative = options_.threshold_mode == ThresholdMode::rel;
  const double t = options_.threshold;
  if (options_.mode == PlateauMode::min) return metric < (relative ? best_ * (1 - t) : best_ - t);
  return metric > (relative ? best_ * (1 + t) : best_ + t);
}

void ReduceLROnPlateau::advance() {
  check<ValueError>(metric_.has_value(), "ReduceLROnPlateau.step: the metric is missing; call step(metric), also ",
                    "where other schedules are stepped by another");
  const double metric = *metric_;
  metric_.reset();
  if (is_better(metric)) {
    best_ = metric;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_epochs_ = 0;
  }
  reduces_ = bad_epochs_ > double(options_.patience);
  if (reduces_) {
    cooldown_left_ = double(options_.cooldown);
    bad_epochs_ = 0;
  }
  LRScheduler::advance();
  reduces_ = false;
}

double ReduceLROnPlateau::next_lr(std::size_t group) const {
  const double lr = optimizer().lr(group);
  if (!reduces_) return lr;
  const double reduced = std::max(lr * options_.factor, options_.min_lr[group]);
  return lr - reduced > options_.eps ? reduced : lr;
}

std::vector<LRScheduler::Number> ReduceLROnPlateau::numbers() {
  return {{"best", &best_, false}, {"num_bad_epochs", &bad_epochs_, true}, {"cooldown_counter", &cooldown_left_, true}};
}

}  // namespace taper::optim
