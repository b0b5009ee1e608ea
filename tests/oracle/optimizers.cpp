#include "optimizers.h"

namespace oracle {
namespace {

namespace optim = taper::optim;

optim::SGDOptions sgd_options(const Args& a) {
  const optim::SGDOptions d;
  return {.lr = a.real("lr", d.lr),
          .momentum = a.real("momentum", d.momentum),
          .dampening = a.real("dampening", d.dampening),
          .weight_decay = a.real("weight_decay", d.weight_decay),
          .nesterov = a.flag("nesterov", d.nesterov),
          .maximize = a.flag("maximize", d.maximize)};
}

/// A pair of numbers.
std::array<double, 2> pair(const Args& a, const char* name, std::array<double, 2> absent) {
  if (a.has(name))
    for (std::size_t i = 0; i < 2; ++i) {
      const Value& v = a.value(name).get<List>().at(i);
      absent[i] = v.is<std::int64_t>() ? double(v.get<std::int64_t>()) : v.get<double>();
    }
  return absent;
}

template <class Options>
Options adam_options(const Args& a) {
  const Options d;
  return {.lr = a.real("lr", d.lr),
          .betas = pair(a, "betas", d.betas),
          .eps = a.real("eps", d.eps),
          .weight_decay = a.real("weight_decay", d.weight_decay),
          .amsgrad = a.flag("amsgrad", d.amsgrad),
          .maximize = a.flag("maximize", d.maximize)};
}

optim::RMSpropOptions rmsprop_options(const Args& a) {
  const optim::RMSpropOptions d;
  return {.lr = a.real("lr", d.lr),
          .alpha = a.real("alpha", d.alpha),
          .eps = a.real("eps", d.eps),
          .weight_decay = a.real("weight_decay", d.weight_decay),
          .momentum = a.real("momentum", d.momentum),
          .centered = a.flag("centered", d.centered),
          .maximize = a.flag("maximize", d.maximize)};
}

optim::AdagradOptions adagrad_options(const Args& a) {
  const optim::AdagradOptions d;
  return {.lr = a.real("lr", d.lr),
          .lr_decay = a.real("lr_decay", d.lr_decay),
          .weight_decay = a.real("weight_decay", d.weight_decay),
          .initial_accumulator_value = a.real("initial_accumulator_value", d.initial_accumulator_value),
          .eps = a.real("eps", d.eps),
          .maximize = a.flag("maximize", d.maximize)};
}

optim::AdadeltaOptions adadelta_options(const Args& a) {
  const optim::AdadeltaOptions d;
  return {.lr = a.real("lr", d.lr),
          .rho = a.real("rho", d.rho),
          .eps = a.real("eps", d.eps),
          .weight_decay = a.real("weight_decay", d.weight_decay),
          .maximize = a.flag("maximize", d.maximize)};
}

/// Adamax and RAdam.
template <class Options>
Options adam_variant_options(const Args& a) {
  const Options d;
  return {.lr = a.real("lr", d.lr),
          .betas = pair(a, "betas", d.betas),
          .eps = a.real("eps", d.eps),
          .weight_decay = a.real("weight_decay", d.weight_decay),
          .maximize = a.flag("maximize", d.maximize)};
}

optim::NAdamOptions nadam_options(const Args& a) {
  const optim::NAdamOptions d;
  return {.lr = a.real("lr", d.lr),
          .betas = pair(a, "betas", d.betas),
          .eps = a.real("eps", d.eps),
          .weight_decay = a.real("weight_decay", d.weight_decay),
          .momentum_decay = a.real("momentum_decay", d.momentum_decay),
          .maximize = a.flag("maximize", d.maximize)};
}

optim::RpropOptions rprop_options(const Args& a) {
  const optim::RpropOptions d;
  return {.lr = a.real("lr", d.lr),
          .etas = pair(a, "etas", d.etas),
          .step_sizes = pair(a, "step_sizes", d.step_sizes),
          .maximize = a.flag("maximize", d.maximize)};
}

template <class Optimizer>
std::unique_ptr<optim::Optimizer> make(const std::vector<OptimizerGroup>& groups,
                                       typename Optimizer::Options (*options)(const Args&)) {
  std::vector<typename Optimizer::Group> made;
  for (const OptimizerGroup& g : groups) {
    made.push_back({g.params, options(g.options)});
    g.options.check_all_read();
  }
  return std::make_unique<Optimizer>(made);
}

using Maker = std::unique_ptr<optim::Optimizer> (*)(const std::vector<OptimizerGroup>&);
template <class Optimizer, auto options>
constexpr Maker maker = [](const std::vector<OptimizerGroup>& groups) { return make<Optimizer>(groups, options); };

const std::pair<const char*, Maker> kOptimizers[] = {
    {"SGD", maker<optim::SGD, sgd_options>},
    {"Adam", maker<optim::Adam, adam_options<optim::AdamOptions>>},
    {"AdamW", maker<optim::AdamW, adam_options<optim::AdamWOptions>>},
    {"RMSprop", maker<optim::RMSprop, rmsprop_options>},
    {"Adagrad", maker<optim::Adagrad, adagrad_options>},
    {"Adadelta", maker<optim::Adadelta, adadelta_options>},
    {"Adamax", maker<optim::Adamax, adam_variant_options<optim::AdamaxOptions>>},
    {"NAdam", maker<optim::NAdam, nadam_options>},
    {"RAdam", maker<optim::RAdam, adam_variant_options<optim::RAdamOptions>>},
    {"Rprop", maker<optim::Rprop, rprop_options>},
};

Maker find_optimizer(const std::string& name) {
  for (const auto& [known, make] : kOptimizers)
    if (name == known) return make;
  return nullptr;
}

}  // namespace

bool has_optimizer(const std::string& name) { return find_optimizer(name) != nullptr; }

std::unique_ptr<optim::Optimizer> make_optimizer(const std::string& name, const std::vector<OptimizerGroup>& groups) {
  const Maker make = find_optimizer(name);
  if (!make) throw Skip{"optimizer " + name};
  return make(groups);
}

}  // namespace oracle
