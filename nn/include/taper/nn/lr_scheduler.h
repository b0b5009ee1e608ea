#pragma once
#include <taper/nn/optim.h>

#include <cstdint>
#include <vector>

namespace taper::optim {

/// Changes the learning rates of an optimizer's groups from epoch to epoch. The optimizer must outlive it.
class LRScheduler {
 public:
  virtual ~LRScheduler() = default;
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  /// Goes on to the next epoch, in all groups that the optimizer now has; to be called after the optimizer's steps of
  /// an epoch. Throws ValueError, and has then changed nothing, if a rate would be negative.
  void step();
  /// Calls of step() so far.
  std::int64_t last_epoch() const { return last_epoch_; }
  /// The rate of each group since the last step().
  std::vector<double> get_last_lr() const;

  TensorDict state_dict() const;
  /// Throws ValueError if it is no state of such a scheduler for as many groups, and has then changed nothing. The
  /// rates themselves are part of the optimizer's state.
  void load_state_dict(const TensorDict& state);
  void check_state_dict(const TensorDict& state) const;

 protected:
  explicit LRScheduler(Optimizer& optimizer);
  /// The rate of a group at last_epoch(), for which the optimizer still has that of the epoch before.
  virtual double next_lr(std::size_t group) const = 0;

  const Optimizer& optimizer() const { return optimizer_; }
  /// The group's rate when the scheduler was made, or, if the group was added later, before the first step() with it.
  double base_lr(std::size_t group) const;

 private:
  std::vector<double> base_lrs() const;

  Optimizer& optimizer_;
  std::vector<double> base_lrs_;  // of the groups seen
  std::int64_t last_epoch_ = 0;
};

/// Multiplies the rates by gamma every step_size epochs, as torch.optim.lr_scheduler.StepLR.
class StepLR final : public LRScheduler {
 public:
  /// Throws ValueError if step_size is not positive, or gamma negative.
  StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma = 0.1);

 protected:
  double next_lr(std::size_t group) const override;

 private:
  std::int64_t step_size_;
  double gamma_;
};

}  // namespace taper::optim
