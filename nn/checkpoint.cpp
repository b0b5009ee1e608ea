#include <taper/factory.h>
#include <taper/nn/checkpoint.h>

#include "module_state.h"

namespace taper::nn {

namespace {

constexpr const char *kModel = "model", *kOptimizer = "optimizer", *kScheduler = "scheduler";
constexpr const char *kRandom = "random", *kEpoch = "epoch";

void add(TensorDict& all, const char* part, const TensorDict& entries) {
  for (const auto& [name, t] : entries) all.insert(std::string(part) + '.' + name, t);
}

/// The file's entries by part, the names without it.
struct Parts {
  TensorDict model, optimizer, scheduler, random, run;
};

Parts split(const TensorDict& all, const std::string& path) {
  Parts parts;
  const std::pair<const char*, TensorDict*> places[] = {
      {kModel, &parts.model}, {kOptimizer, &parts.optimizer}, {kScheduler, &parts.scheduler}};
  for (const auto& [name, t] : all) {
    bool placed = false;
    for (const auto& [part, dict] : places)
      if (const std::string prefix = std::string(part) + '.'; name.rfind(prefix, 0) == 0) {
        dict->insert(name.substr(prefix.size()), t);
        placed = true;
      }
    if (placed) continue;
    check<ValueError>(name == kRandom || name == kEpoch, "load_checkpoint: '", path, "' is no checkpoint: it holds '",
                      name, "'; load_file() reads any safetensors file");
    (name == kRandom ? parts.random : parts.run).insert(name, t);
  }
  return parts;
}

Tensor number(std::int64_t v) { return full({}, v, int64); }

/// The numbers of an int64 tensor of this length.
std::vector<std::int64_t> integers(const TensorDict& dict, const char* name, std::int64_t n, const std::string& path) {
  const Tensor* t = dict.find(name);
  check<ValueError>(t && t->dtype() == int64 && t->numel() == n, "load_checkpoint: '", path, "' lacks '", name, "' as ",
                    n, " int64 numbers");
  return t->to_vector<std::int64_t>();
}

void check_asked(bool asked, bool there, const char* part, const std::string& path) {
  check<ValueError>(asked == there, "load_checkpoint: '", path, "' has ", there ? "a " : "no ", part, " state, but ",
                    asked ? "a " : "no ", part, " was given to take it");
}

}  // namespace

void save_checkpoint(const std::string& path, const Module& model, const optim::Optimizer& optimizer,
                     const CheckpointInfo& info, const CheckpointExtras& extras) {
  TensorDict all;
  add(all, kModel, model.state_dict());
  add(all, kOptimizer, optimizer.state_dict());
  if (extras.scheduler) add(all, kScheduler, extras.scheduler->state_dict());
  if (extras.generator) {
    const RandomStream state = extras.generator->state();
    all.insert(kRandom, from_vector(std::vector<std::int64_t>{std::int64_t(state.seed), std::int64_t(state.stream)}));
  }
  all.insert(kEpoch, number(info.epoch));
  save_file(all, path, info.metadata);
}

CheckpointInfo load_checkpoint(const std::string& path, Module& model, optim::Optimizer& optimizer,
                               const CheckpointExtras& extras) {
  CheckpointInfo info;
  const Parts parts = split(load_file(path, &info.metadata), path);
  info.epoch = integers(parts.run, kEpoch, 1, path)[0];
  check_asked(extras.scheduler, !parts.scheduler.empty(), "scheduler", path);
  check_asked(extras.generator, !parts.random.empty(), "generator", path);
  if (extras.scheduler) extras.scheduler->check_state_dict(parts.scheduler);
  RandomStream random;
  if (extras.generator) {
    const auto numbers = integers(parts.random, kRandom, 2, path);
    random = {std::uint64_t(numbers[0]), std::uint64_t(numbers[1])};
    Generator().set_state(random);  // throws if there is no such state
  }
  StatePlan plan(model, parts.model, true, false);

  // The first of these changes nothing if it throws, and the others do not throw.
  optimizer.load_state_dict(parts.optimizer);
  plan.carry_out();
  if (extras.scheduler) extras.scheduler->load_state_dict(parts.scheduler);
  if (extras.generator) extras.generator->set_state(random);
  return info;
}

}  // namespace taper::nn
