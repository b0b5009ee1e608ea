#pragma once
// Optimizers and schedulers by the names the records use.
#include <taper/nn/lr_scheduler.h>
#include <taper/nn/optim.h>

#include <memory>

#include "value.h"

namespace oracle {

struct OptimizerGroup {
  TensorList params;
  Args options;
};
bool has_optimizer(const std::string& name);
/// Throws Skip if the library lacks the optimizer or one of its options.
std::unique_ptr<taper::optim::Optimizer> make_optimizer(const std::string& name,
                                                        const std::vector<OptimizerGroup>& groups);
bool has_scheduler(const std::string& name);
std::unique_ptr<taper::optim::LRScheduler> make_scheduler(taper::optim::Optimizer& optimizer, const Args& options);

}  // namespace oracle
