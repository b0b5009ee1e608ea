// Schedules made of schedules.
#include <taper/nn/lr_scheduler.h>

#include <algorithm>

namespace taper::optim {

ChainedScheduler::ChainedScheduler(const std::vector<LRScheduler*>& schedulers) : LRScheduler(schedulers) {}

void ChainedScheduler::advance() {
  go_to(last_epoch() + 1);
  for (LRScheduler* part : parts()) advance_part(*part);
}

void ChainedScheduler::begin() {
  go_to(0);
  for (LRScheduler* part : parts()) begin_part(*part);
}

SequentialLR::SequentialLR(Optimizer& optimizer, const std::vector<LRScheduler*>& schedulers,
                           std::vector<std::int64_t> milestones)
    : LRScheduler(optimizer, schedulers), milestones_(std::move(milestones)) {
  check<ValueError>(schedulers.size() == milestones_.size() + 1, "SequentialLR: expected one milestone less than ",
                    "schedulers, got ", milestones_.size(), " and ", schedulers.size());
  std::int64_t before = 0;
  for (const std::int64_t m : milestones_) {
    check<ValueError>(m > before, "SequentialLR: milestones must be positive and grow, got ", m, " after ", before);
    before = m;
  }
  start();
}

void SequentialLR::begin() {
  go_to(0);
  set_base_lrs();
  begin_part_anew(*parts()[0]);
}

void SequentialLR::advance() {
  go_to(last_epoch() + 1);
  const auto after = std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch());
  LRScheduler& part = *parts()[std::size_t(after - milestones_.begin())];
  if (after != milestones_.begin() && *(after - 1) == last_epoch())
    begin_part_anew(part);
  else
    advance_part(part);
}

}  // namespace taper::optim
