#pragma once
// What all schedules of learning rates are; the schedules are in <taper/nn/lr_scheduler.h>.
#include <taper/nn/optimizer.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace taper::optim {

/// Changes the learning rates of an optimizer's groups from epoch to epoch. The optimizer must outlive it.
///
/// Where the rate of epoch 0 is not the optimizer's (a warm-up, say), making the schedule sets it: make schedules
/// before the state of a run is loaded into the optimizer.
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
  /// A number that belongs to the state.
  struct Number {
    const char* name;
    double* value;
    bool counts;  ///< 0, 1, 2, ...
  };

  explicit LRScheduler(Optimizer& optimizer, std::vector<LRScheduler*> parts = {});
  /// Throws ValueError unless there are parts, and all of one optimizer.
  explicit LRScheduler(std::vector<LRScheduler*> parts);
  /// The rate of a group at last_epoch(), for which the optimizer still has that of the epoch before. At epoch 0, that
  /// which it had before the schedule.
  virtual double next_lr(std::size_t group) const = 0;
  /// The momentum of a group at last_epoch(), in schedules that set it.
  virtual std::optional<double> next_momentum(std::size_t /*group*/) const { return {}; }
  /// Brings this schedule from one epoch to the next, or to epoch 0.
  virtual void advance();
  virtual void begin();
  /// What the state has beside the epoch.
  virtual std::vector<Number> numbers() { return {}; }
  /// Whether a schedule that begins anew begins from base_lr(), not from the rates that there are.
  virtual bool begins_from_base() const { return true; }

  /// begin(), for the constructors of final classes.
  void start();
  /// Throws unless the optimizer has a momentum.
  void check_has_momentum(const char* name) const;

  const Optimizer& optimizer() const { return optimizer_; }
  /// The group's rate before a schedule first changed it, or, if the group was added later, before the first step()
  /// with it.
  double base_lr(std::size_t group) const;

  // What a schedule made of others does with its parts.
  const std::vector<LRScheduler*>& parts() const { return parts_; }
  void go_to(std::int64_t epoch) { last_epoch_ = epoch; }
  static void advance_part(LRScheduler& part) { part.advance(); }
  static void begin_part(LRScheduler& part) { part.begin(); }
  /// From the rates that a run begins with, unless the part goes by those that there are.
  static void begin_part_anew(LRScheduler& part);
  void set_base_lrs();

 private:
  class Rollback;
  std::vector<double> base_lrs() const;
  void apply();
  std::vector<std::pair<const char*, Tensor>> entries() const;

  Optimizer& optimizer_;
  std::vector<LRScheduler*> parts_;
  std::vector<double> base_lrs_;  // of the groups seen
  std::int64_t last_epoch_ = 0;
};

}  // namespace taper::optim
