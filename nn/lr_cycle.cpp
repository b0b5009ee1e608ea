// Schedules that go up and down, and may take the momentum the other way.
#include <taper/nn/lr_scheduler.h>

#include <algorithm>
#include <cmath>

namespace taper::optim {

namespace {

constexpr double kPi = 3.14159265358979323846;

void check_values(const char* schedule, const char* option, const PerGroup& values, const Optimizer& optimizer,
                  double below) {
  check<ValueError>(values.size() == 1 || values.size() == optimizer.num_groups(), schedule, ": ", option,
                    " must be one number or one for each of ", optimizer.num_groups(), " groups, got ", values.size());
  for (std::size_t g = 0; g < values.size(); ++g)
    check<ValueError>(values[g] >= 0 && values[g] < below, schedule, ": ", option, " must be ",
                      below == 1 ? "in [0, 1)" : "finite and not negative", ", got ", values[g]);
}

template <class Options>
void check_momenta(const char* schedule, const Options& o, const Optimizer& optimizer) {
  check_values(schedule, "base_momentum", o.base_momentum, optimizer, 1);
  check_values(schedule, "max_momentum", o.max_momentum, optimizer, 1);
}

}  // namespace

CyclicLR::CyclicLR(Optimizer& optimizer, PerGroup base_lr, PerGroup max_lr, const CyclicLROptions& options)
    : LRScheduler(optimizer), base_lr_(std::move(base_lr)), max_lr_(std::move(max_lr)), options_(options) {
  const double infinity = std::numeric_limits<double>::infinity();
  check_values("CyclicLR", "base_lr", base_lr_, optimizer, infinity);
  check_values("CyclicLR", "max_lr", max_lr_, optimizer, infinity);
  check<ValueError>(options.step_size_up > 0, "CyclicLR: step_size_up must be positive, got ", options.step_size_up);
  check<ValueError>(options.step_size_down.value_or(1) > 0, "CyclicLR: step_size_down must be positive, got ",
                    options.step_size_down.value_or(1));
  check<ValueError>(options.gamma >= 0, "CyclicLR: gamma must not be negative, got ", options.gamma);
  if (options.cycle_momentum) {
    check_momenta("CyclicLR", options, optimizer);
    check_has_momentum("CyclicLR");
  }
  start();
}

/// Where the step is between the base, 0, and the maximum, 1.
double CyclicLR::height() const {
  const std::int64_t up = options_.step_size_up, down = options_.step_size_down.value_or(up);
  const std::int64_t cycle = last_epoch() / (up + down), at = last_epoch() % (up + down);
  const double share = at <= up ? double(at) / double(up) : double(up + down - at) / double(down);
  switch (options_.mode) {
    case CyclicMode::triangular:
      return share;
    case CyclicMode::triangular2:
      return share * std::pow(0.5, double(cycle));
    default:
      return share * std::pow(options_.gamma, double(last_epoch()));
  }
}

double CyclicLR::next_lr(std::size_t group) const {
  return base_lr_[group] + (max_lr_[group] - base_lr_[group]) * height();
}

std::optional<double> CyclicLR::next_momentum(std::size_t group) const {
  if (!options_.cycle_momentum) return {};
  const double most = options_.max_momentum[group];
  return most - (most - options_.base_momentum[group]) * height();
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, PerGroup max_lr, const OneCycleLROptions& options)
    : LRScheduler(optimizer), max_lr_(std::move(max_lr)), options_(options) {
  const OneCycleLROptions& o = options;
  check_values("OneCycleLR", "max_lr", max_lr_, optimizer, std::numeric_limits<double>::infinity());
  if (o.total_steps == 0) {
    check<ValueError>(o.epochs > 0 && o.steps_per_epoch > 0, "OneCycleLR: total_steps, or epochs and steps_per_epoch, ",
                      "must be positive, got ", o.total_steps, ", ", o.epochs, " and ", o.steps_per_epoch);
    options_.total_steps = o.epochs * o.steps_per_epoch;
  }
  check<ValueError>(options_.total_steps > 0, "OneCycleLR: total_steps must be positive, got ", o.total_steps);
  check<ValueError>(o.pct_start >= 0 && o.pct_start <= 1, "OneCycleLR: pct_start must be in [0, 1], got ", o.pct_start);
  check<ValueError>(o.div_factor > 0, "OneCycleLR: div_factor must be positive, got ", o.div_factor);
  check<ValueError>(o.final_div_factor > 0, "OneCycleLR: final_div_factor must be positive, got ", o.final_div_factor);
  if (o.cycle_momentum) {
    check_momenta("OneCycleLR", o, optimizer);
    check_has_momentum("OneCycleLR");
  }
  start();
}

/// From level to level, 0 for the first rate, 1 for the highest, 2 for the last, and how much of the way.
struct OneCycleLR::Place {
  int from, to;
  double share;
};

OneCycleLR::Place OneCycleLR::place() const {
  const double total = double(options_.total_steps), step = double(last_epoch());
  check<ValueError>(last_epoch() <= options_.total_steps, "OneCycleLR.step: this schedule ends after ",
                    options_.total_steps, " steps");
  const auto within = [&](int from, int to, double begin, double end) {
    return Place{from, to, end > begin ? std::min((step - begin) / (end - begin), 1.) : 1.};
  };
  const double up = options_.pct_start * total - 1;
  if (step <= up) return within(0, 1, 0, up);
  if (!options_.three_phase) return within(1, 2, up, total - 1);
  const double down = 2 * options_.pct_start * total - 2;
  return step <= down ? within(1, 0, up, down) : within(0, 2, down, total - 1);
}

double OneCycleLR::between(double from, double to, double share) const {
  if (options_.anneal_strategy == AnnealStrategy::linear) return from + (to - from) * share;
  return to + (from - to) / 2 * (1 + std::cos(kPi * share));
}

double OneCycleLR::next_lr(std::size_t group) const {
  const Place p = place();
  const double first = max_lr_[group] / options_.div_factor;
  const double levels[] = {first, max_lr_[group], first / options_.final_div_factor};
  return between(levels[p.from], levels[p.to], p.share);
}

std::optional<double> OneCycleLR::next_momentum(std::size_t group) const {
  if (!options_.cycle_momentum) return {};
  const Place p = place();
  const double most = options_.max_momentum[group];
  const double levels[] = {most, options_.base_momentum[group], most};
  return between(levels[p.from], levels[p.to], p.share);
}

}  // namespace taper::optim
