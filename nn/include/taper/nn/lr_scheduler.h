#pragma once
// The schedules of torch.optim.lr_scheduler. Where nothing else is said, a rate is the one of the epoch before times a
// factor, so that schedules combine: see ChainedScheduler. Each constructor throws ValueError for options that make no
// sense.
#include <taper/nn/lr_scheduler_base.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace taper::optim {

/// A number for all groups, or one for each; groups added later have the last one.
class PerGroup {
 public:
  PerGroup(double all) : values_{all} {}
  PerGroup(std::initializer_list<double> each) : values_(each) {}
  PerGroup(std::vector<double> each) : values_(std::move(each)) {}
  double operator[](std::size_t group) const { return group < values_.size() ? values_[group] : values_.back(); }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<double> values_;
};

/// Any callable from an epoch, counted from 0, to a factor.
class EpochFunction {
 public:
  template <class F>
  requires(!std::is_same_v<F, EpochFunction> && std::is_invocable_r_v<double, const F&, std::int64_t>)
      EpochFunction(F f)
      : function_(std::make_shared<Holder<F>>(std::move(f))) {}
  double operator()(std::int64_t epoch) const { return function_->call(epoch); }

 private:
  struct Function {
    virtual ~Function() = default;
    virtual double call(std::int64_t epoch) const = 0;
  };
  template <class F>
  struct Holder final : Function {
    explicit Holder(F f) : function(std::move(f)) {}
    double call(std::int64_t epoch) const override { return function(epoch); }
    F function;
  };
  std::shared_ptr<const Function> function_;
};

/// Multiplies the rates by gamma every step_size epochs.
class StepLR final : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma = 0.1);

 protected:
  double next_lr(std::size_t group) const override;

 private:
  std::int64_t step_size_;
  double gamma_;
};

/// Multiplies the rates by gamma at each of the epochs `milestones`, in any order; by gamma^n at one named n times.
class MultiStepLR final : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma = 0.1);

 protected:
  double next_lr(std::size_t group) const override;

 private:
  std::vector<std::int64_t> milestones_;
  double gamma_;
};

/// Multiplies the rates by gamma every epoch.
class ExponentialLR final : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);

 protected:
  double next_lr(std::size_t group) const override;

 private:
  double gamma_;
};

struct LinearLROptions {
  double start_factor = 1. / 3;
  double end_factor = 1;
  std::int64_t total_iters = 5;
};
/// Multiplies the base rates by a factor that goes from start_factor at epoch 0 to end_factor at epoch total_iters.
class LinearLR final : public LRScheduler {
 public:
  explicit LinearLR(Optimizer& optimizer, const LinearLROptions& options = {});

 protected:
  double next_lr(std::size_t group) const override;

 private:
  LinearLROptions options_;
};

struct ConstantLROptions {
  double factor = 1. / 3;
  std::int64_t total_iters = 5;
};
/// Multiplies the rates by a factor until epoch total_iters.
class ConstantLR final : public LRScheduler {
 public:
  explicit ConstantLR(Optimizer& optimizer, const ConstantLROptions& options = {});

 protected:
  double next_lr(std::size_t group) const override;

 private:
  ConstantLROptions options_;
};

struct PolynomialLROptions {
  std::int64_t total_iters = 5;
  double power = 1;
};
/// Multiplies the base rates by (1 - epoch / total_iters)^power, which is 0 from epoch total_iters on.
class PolynomialLR final : public LRScheduler {
 public:
  explicit PolynomialLR(Optimizer& optimizer, const PolynomialLROptions& options = {});

 protected:
  double next_lr(std::size_t group) const override;

 private:
  PolynomialLROptions options_;
};

/// eta_min + (base rate - eta_min) (1 + cos(pi epoch / t_max)) / 2: down in t_max epochs, up again in as many.
/// Loshchilov and Hutter 2016, "SGDR: stochastic gradient descent with warm restarts", eq. 5.
class CosineAnnealingLR final : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, std::int64_t t_max, double eta_min = 0);

 protected:
  double next_lr(std::size_t group) const override;

 private:
  std::int64_t t_max_;
  double eta_min_;
};

/// Falls as CosineAnnealingLR from the base rate, again and again: the first time in t_0 epochs, then in t_mult times
/// as many as the time before. Does not combine.
class CosineAnnealingWarmRestarts final : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t t_0, std::int64_t t_mult = 1, double eta_min = 0);

 protected:
  double next_lr(std::size_t group) const override;

 private:
  std::int64_t t_0_, t_mult_;
  double eta_min_;
};

/// The base rates times f(epoch). Does not combine. The function is not part of the state.
class LambdaLR final : public LRScheduler {
 public:
  LambdaLR(Optimizer& optimizer, EpochFunction f);
  /// A function for each group.
  LambdaLR(Optimizer& optimizer, std::vector<EpochFunction> functions);

 protected:
  double next_lr(std::size_t group) const override;

 private:
  std::vector<EpochFunction> functions_;
};

/// The rates of the epoch before times f(epoch), from epoch 1 on.
class MultiplicativeLR final : public LRScheduler {
 public:
  MultiplicativeLR(Optimizer& optimizer, EpochFunction f);
  MultiplicativeLR(Optimizer& optimizer, std::vector<EpochFunction> functions);

 protected:
  double next_lr(std::size_t group) const override;
  bool begins_from_base() const override { return false; }

 private:
  std::vector<EpochFunction> functions_;
};

enum class CyclicMode : std::uint8_t { triangular, triangular2, exp_range };
struct CyclicLROptions {
  std::int64_t step_size_up = 2000;
  std::optional<std::int64_t> step_size_down = {};  ///< absent: as many as up
  CyclicMode mode = CyclicMode::triangular;  ///< what becomes of the height: stays, halves every cycle, gamma^step
  double gamma = 1;
  bool cycle_momentum = true;  ///< between max_momentum at base_lr and base_momentum at max_lr
  PerGroup base_momentum = 0.8;
  PerGroup max_momentum = 0.9;
};
/// Up from base_lr to max_lr and down again, in straight lines; step() is meant for every batch. Does not combine.
/// Smith 2017, "Cyclical learning rates for training neural networks".
class CyclicLR final : public LRScheduler {
 public:
  CyclicLR(Optimizer& optimizer, PerGroup base_lr, PerGroup max_lr, const CyclicLROptions& options = {});

 protected:
  double next_lr(std::size_t group) const override;
  std::optional<double> next_momentum(std::size_t group) const override;

 private:
  double height() const;
  PerGroup base_lr_, max_lr_;
  CyclicLROptions options_;
};

enum class AnnealStrategy : std::uint8_t { cos, linear };
struct OneCycleLROptions {
  std::int64_t total_steps = 0;  ///< 0: epochs * steps_per_epoch
  std::int64_t epochs = 0;
  std::int64_t steps_per_epoch = 0;
  double pct_start = 0.3;  ///< the part of the steps that goes up
  AnnealStrategy anneal_strategy = AnnealStrategy::cos;
  bool cycle_momentum = true;
  PerGroup base_momentum = 0.85;
  PerGroup max_momentum = 0.95;
  double div_factor = 25;         ///< max_lr over the first rate
  double final_div_factor = 1e4;  ///< the first rate over the last one
  bool three_phase = false;       ///< down to the first rate in as many steps as up, and only then to the last one
};
/// Up from max_lr / div_factor to max_lr and down to far below it, while the momentum goes from max_momentum to
/// base_momentum and back; step() is meant for every batch. Does not combine. A step() after total_steps throws
/// ValueError. Smith and Topin 2017, "Super-convergence: very fast training of neural networks using large learning
/// rates".
class OneCycleLR final : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, PerGroup max_lr, const OneCycleLROptions& options);

 protected:
  double next_lr(std::size_t group) const override;
  std::optional<double> next_momentum(std::size_t group) const override;

 private:
  /// Where between the values of low, middle and final rate the step is.
  struct Place;
  Place place() const;
  double between(double from, double to, double share) const;
  PerGroup max_lr_;
  OneCycleLROptions options_;
};

/// Schedules of one optimizer, stepped together: each changes what the ones before it made of the rates. They must
/// outlive it, and be stepped through it alone.
class ChainedScheduler final : public LRScheduler {
 public:
  explicit ChainedScheduler(const std::vector<LRScheduler*>& schedulers);

 protected:
  double next_lr(std::size_t group) const override { return optimizer().lr(group); }
  void advance() override;
  void begin() override;
};

/// Schedules of one optimizer, one after the other: the next one takes over at each of the epochs `milestones`, and
/// begins from the base rates (MultiplicativeLR: from where the rates are). They must outlive it, and be stepped
/// through it alone.
class SequentialLR final : public LRScheduler {
 public:
  /// Milestones: one less than schedulers, positive and growing.
  SequentialLR(Optimizer& optimizer, const std::vector<LRScheduler*>& schedulers, std::vector<std::int64_t> milestones);

 protected:
  double next_lr(std::size_t group) const override { return optimizer().lr(group); }
  void advance() override;
  void begin() override;

 private:
  std::vector<std::int64_t> milestones_;
};

enum class PlateauMode : std::uint8_t { min, max };
enum class ThresholdMode : std::uint8_t { rel, abs };
struct ReduceLROnPlateauOptions {
  PlateauMode mode = PlateauMode::min;  ///< which way the metric is to go
  double factor = 0.1;
  std::int64_t patience = 10;  ///< epochs without progress that are put up with
  double threshold = 1e-4;     ///< what counts as progress: more than this part of the best metric, or this difference
  ThresholdMode threshold_mode = ThresholdMode::rel;
  std::int64_t cooldown = 0;  ///< epochs after a change that do not count
  PerGroup min_lr = 0;
  double eps = 1e-8;  ///< changes of a rate by no more than this are left out
};
/// Multiplies the rates by a factor when a metric stops making progress.
class ReduceLROnPlateau final : public LRScheduler {
 public:
  explicit ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options = {});
  /// The next epoch, given the metric of the last one.
  void step(double metric);

 protected:
  double next_lr(std::size_t group) const override;
  void advance() override;
  std::vector<Number> numbers() override;

 private:
  bool is_better(double metric) const;
  ReduceLROnPlateauOptions options_;
  std::optional<double> metric_;
  bool reduces_ = false;
  double best_, bad_epochs_ = 0, cooldown_left_ = 0;
};

}  // namespace taper::optim
