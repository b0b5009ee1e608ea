#pragma once
// Optimizers and schedules by the names the records use.
#include <taper/nn/lr_scheduler.h>
#include <taper/nn/optim.h>

#include <memory>

#include "decode.h"

namespace oracle {

struct OptimizerGroup {
  TensorList params;
  Args options;
};
bool has_optimizer(const std::string& name);
/// Throws Skip if the library lacks the optimizer or one of its options.
std::unique_ptr<taper::optim::Optimizer> make_optimizer(const std::string& name,
                                                        const std::vector<OptimizerGroup>& groups);

/// A schedule, and those that it combines.
struct Schedule {
  std::vector<std::unique_ptr<taper::optim::LRScheduler>> all;  // the last one is stepped
  taper::optim::ReduceLROnPlateau* plateau = nullptr;           // instead, if the schedule goes by a metric
  taper::optim::LRScheduler& last() const { return *all.back(); }
};
/// Throws Skip if the library lacks the scheduler or one of its options.
Schedule make_schedule(taper::optim::Optimizer& optimizer, const std::string& name, const Json& options,
                       Decoder& decoder);

}  // namespace oracle
