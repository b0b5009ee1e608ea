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

template <class Options>
Options adam_options(const Args& a) {
  const Options d;
  std::array<double, 2> betas = d.betas;
  if (a.has("betas"))
    for (std::size_t i = 0; i < 2; ++i) betas[i] = a.value("betas").get<List>().at(i).get<double>();
  return {.lr = a.real("lr", d.lr),
          .betas = betas,
          .eps = a.real("eps", d.eps),
          .weight_decay = a.real("weight_decay", d.weight_decay),
          .amsgrad = a.flag("amsgrad", d.amsgrad),
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

}  // namespace

bool has_optimizer(const std::string& name) { return name == "SGD" || name == "Adam" || name == "AdamW"; }

std::unique_ptr<optim::Optimizer> make_optimizer(const std::string& name, const std::vector<OptimizerGroup>& groups) {
  if (name == "SGD") return make<optim::SGD>(groups, sgd_options);
  if (name == "Adam") return make<optim::Adam>(groups, adam_options<optim::AdamOptions>);
  if (name == "AdamW") return make<optim::AdamW>(groups, adam_options<optim::AdamWOptions>);
  throw Skip{"optimizer " + name};
}

bool has_scheduler(const std::string& name) { return name == "StepLR"; }

std::unique_ptr<optim::LRScheduler> make_scheduler(optim::Optimizer& optimizer, const Args& a) {
  if (!has_scheduler(a.op())) throw Skip{"scheduler " + a.op()};
  auto made = std::make_unique<optim::StepLR>(optimizer, a.integer("step_size"), a.real("gamma", 0.1));
  a.check_all_read();
  return made;
}

}  // namespace oracle
