#include <algorithm>
#include <cmath>

#include "optimizers.h"

namespace oracle {
namespace {

namespace optim = taper::optim;

/// The formulas that the records use.
optim::EpochFunction formula(const std::string& text) {
  if (text == "0.95**epoch") return [](std::int64_t epoch) { return std::pow(0.95, double(epoch)); };
  if (text == "1/(1+epoch)") return [](std::int64_t epoch) { return 1 / (1 + double(epoch)); };
  if (text == "min(1,(epoch+1)/5)") return [](std::int64_t epoch) { return std::min(1., double(epoch + 1) / 5); };
  if (text == "0.9") return [](std::int64_t) { return 0.9; };
  if (text == "0.5 if epoch%3==0 else 1") return [](std::int64_t epoch) { return epoch % 3 == 0 ? 0.5 : 1.; };
  throw Skip{"formula " + text};
}

/// A number or a list of numbers.
optim::PerGroup per_group(const Args& a, const char* name, const optim::PerGroup& absent) {
  if (!a.has(name)) return absent;
  if (!a.is_list(name)) return a.real(name);
  std::vector<double> values;
  for (const Value& v : a.value(name).get<List>())
    values.push_back(v.is<std::int64_t>() ? double(v.get<std::int64_t>()) : v.get<double>());
  return values;
}

template <class E>
E choice(const Args& a, const char* name, std::initializer_list<std::pair<const char*, E>> choices) {
  const std::string text = a.text(name, choices.begin()->first);
  for (const auto& [known, value] : choices)
    if (text == known) return value;
  a.unsupported(std::string(name) + " " + text);
}

using Made = std::unique_ptr<optim::LRScheduler>;

Made cyclic(optim::Optimizer& o, const Args& a) {
  const optim::CyclicLROptions d;
  using enum optim::CyclicMode;
  return std::make_unique<optim::CyclicLR>(
      o, per_group(a, "base_lr", 0), per_group(a, "max_lr", 0),
      optim::CyclicLROptions{
          .step_size_up = a.integer("step_size_up", d.step_size_up),
          .step_size_down = a.optional_integer("step_size_down"),
          .mode = choice(a, "mode",
                         {std::pair{"triangular", triangular}, {"triangular2", triangular2}, {"exp_range", exp_range}}),
          .gamma = a.real("gamma", d.gamma),
          .cycle_momentum = a.flag("cycle_momentum", d.cycle_momentum),
          .base_momentum = per_group(a, "base_momentum", d.base_momentum),
          .max_momentum = per_group(a, "max_momentum", d.max_momentum)});
}

Made one_cycle(optim::Optimizer& o, const Args& a) {
  const optim::OneCycleLROptions d;
  using enum optim::AnnealStrategy;
  return std::make_unique<optim::OneCycleLR>(
      o, per_group(a, "max_lr", 0),
      optim::OneCycleLROptions{
          .total_steps = a.integer("total_steps", d.total_steps),
          .epochs = a.integer("epochs", d.epochs),
          .steps_per_epoch = a.integer("steps_per_epoch", d.steps_per_epoch),
          .pct_start = a.real("pct_start", d.pct_start),
          .anneal_strategy = choice(a, "anneal_strategy", {std::pair{"cos", cos}, {"linear", linear}}),
          .cycle_momentum = a.flag("cycle_momentum", d.cycle_momentum),
          .base_momentum = per_group(a, "base_momentum", d.base_momentum),
          .max_momentum = per_group(a, "max_momentum", d.max_momentum),
          .div_factor = a.real("div_factor", d.div_factor),
          .final_div_factor = a.real("final_div_factor", d.final_div_factor),
          .three_phase = a.flag("three_phase", d.three_phase)});
}

optim::ReduceLROnPlateauOptions plateau_options(const Args& a) {
  const optim::ReduceLROnPlateauOptions d;
  using optim::PlateauMode, optim::ThresholdMode;
  return {.mode = choice(a, "mode", {std::pair{"min", PlateauMode::min}, {"max", PlateauMode::max}}),
          .factor = a.real("factor", d.factor),
          .patience = a.integer("patience", d.patience),
          .threshold = a.real("threshold", d.threshold),
          .threshold_mode =
              choice(a, "threshold_mode", {std::pair{"rel", ThresholdMode::rel}, {"abs", ThresholdMode::abs}}),
          .cooldown = a.integer("cooldown", d.cooldown),
          .min_lr = per_group(a, "min_lr", d.min_lr),
          .eps = a.real("eps", d.eps)};
}

/// The schedules that are made of options alone.
Made make_single(optim::Optimizer& o, const Args& a) {
  const std::string& name = a.op();
  if (name == "StepLR") return std::make_unique<optim::StepLR>(o, a.integer("step_size"), a.real("gamma", 0.1));
  if (name == "MultiStepLR") return std::make_unique<optim::MultiStepLR>(o, a.ints("milestones"), a.real("gamma", 0.1));
  if (name == "ExponentialLR") return std::make_unique<optim::ExponentialLR>(o, a.real("gamma"));
  if (name == "CosineAnnealingLR")
    return std::make_unique<optim::CosineAnnealingLR>(o, a.integer("T_max"), a.real("eta_min", 0));
  if (name == "CosineAnnealingWarmRestarts")
    return std::make_unique<optim::CosineAnnealingWarmRestarts>(o, a.integer("T_0"), a.integer("T_mult", 1),
                                                                a.real("eta_min", 0));
  if (name == "LinearLR")
    return std::make_unique<optim::LinearLR>(
        o,
        optim::LinearLROptions{a.real("start_factor", 1. / 3), a.real("end_factor", 1), a.integer("total_iters", 5)});
  if (name == "ConstantLR")
    return std::make_unique<optim::ConstantLR>(
        o, optim::ConstantLROptions{a.real("factor", 1. / 3), a.integer("total_iters", 5)});
  if (name == "PolynomialLR")
    return std::make_unique<optim::PolynomialLR>(
        o, optim::PolynomialLROptions{a.integer("total_iters", 5), a.real("power", 1)});
  if (name == "LambdaLR") return std::make_unique<optim::LambdaLR>(o, formula(a.text("lr_lambda", "")));
  if (name == "MultiplicativeLR") return std::make_unique<optim::MultiplicativeLR>(o, formula(a.text("lr_lambda", "")));
  if (name == "CyclicLR") return cyclic(o, a);
  if (name == "OneCycleLR") return one_cycle(o, a);
  throw Skip{"scheduler " + name};
}

/// Adds the schedules of a list of [name, options].
void add_parts(Schedule& schedule, optim::Optimizer& optimizer, const Json& list, Decoder& decoder) {
  for (const Json& part : list) {
    const Args a = decoder.args(part.at(0).get<std::string>(), part.at(1));
    schedule.all.push_back(make_single(optimizer, a));
    a.check_all_read();
  }
}

}  // namespace

Schedule make_schedule(optim::Optimizer& optimizer, const std::string& name, const Json& options, Decoder& decoder) {
  Schedule schedule;
  if (name == "ChainedScheduler" || name == "SequentialLR") {
    add_parts(schedule, optimizer, options.at("schedulers"), decoder);
    std::vector<optim::LRScheduler*> parts;
    for (const Made& part : schedule.all) parts.push_back(part.get());
    if (name == "ChainedScheduler")
      schedule.all.push_back(std::make_unique<optim::ChainedScheduler>(parts));
    else
      schedule.all.push_back(std::make_unique<optim::SequentialLR>(
          optimizer, parts, options.at("milestones").get<std::vector<std::int64_t>>()));
    return schedule;
  }
  const Args a = decoder.args(name, options);
  if (name == "ReduceLROnPlateau") {
    auto plateau = std::make_unique<optim::ReduceLROnPlateau>(optimizer, plateau_options(a));
    schedule.plateau = plateau.get();
    schedule.all.push_back(std::move(plateau));
  } else {
    schedule.all.push_back(make_single(optimizer, a));
  }
  a.check_all_read();
  return schedule;
}

}  // namespace oracle
