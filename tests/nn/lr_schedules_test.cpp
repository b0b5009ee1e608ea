#include <taper/factory.h>
#include <taper/nn/lr_scheduler.h>
#include <taper/nn/optim.h>

#include <cmath>
#include <functional>

#include "support/catch.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {

Tensor leaf() { return tensor({1}, float64).requires_grad_(); }
optim::SGD one_group(double lr = 1, double momentum = 0) {
  return optim::SGD({leaf()}, {.lr = lr, .momentum = momentum});
}

/// The rates from epoch 0 on.
std::vector<double> rates_of(optim::LRScheduler& schedule, int epochs) {
  std::vector<double> rates{schedule.get_last_lr()[0]};
  for (int i = 1; i < epochs; ++i) schedule.step(), rates.push_back(schedule.get_last_lr()[0]);
  return rates;
}

void check_rates(optim::LRScheduler& schedule, const std::vector<double>& want) {
  const std::vector<double> got = rates_of(schedule, int(want.size()));
  for (std::size_t i = 0; i < want.size(); ++i) {
    INFO(i << ": " << got[i] << " against " << want[i]);
    CHECK(std::abs(got[i] - want[i]) <= 1e-6);
  }
}

}  // namespace

TEST_CASE("rates follow the closed forms of the schedules", "[B71]") {
  using namespace taper::optim;
  const auto check_of = [](auto&& make, const std::vector<double>& want) {
    SGD sgd({leaf()}, {.lr = 1, .momentum = .9});
    const auto schedule = make(sgd);
    check_rates(*schedule, want);
  };
  const auto made = []<class S>(S*, auto... args) {
    return [=](Optimizer& o) { return std::make_unique<S>(o, args...); };
  };
  const auto check_schedule = [&]<class S>(S* kind, const std::vector<double>& want, auto... args) {
    check_of(made(kind, args...), want);
  };
  check_schedule(static_cast<MultiStepLR*>(nullptr), {1, 1, .1, .1, .1, .01}, std::vector<std::int64_t>{5, 2});
  check_schedule(static_cast<MultiStepLR*>(nullptr), {1, .25}, std::vector<std::int64_t>{1, 1}, .5);
  check_schedule(static_cast<ExponentialLR*>(nullptr), {1, .5, .25, .125}, .5);
  check_schedule(static_cast<CosineAnnealingLR*>(nullptr), {1, .853553, .5, .146447, 0, .146447, .5}, 4);
  check_schedule(static_cast<CosineAnnealingLR*>(nullptr), {1, .868198, .55, .231802, .1}, 4, .1);
  check_schedule(static_cast<CosineAnnealingLR*>(nullptr), {1, 0, 1, 0, 1}, 1);
  check_schedule(static_cast<CosineAnnealingWarmRestarts*>(nullptr), {1, 1, .5, 1, .853553, .5, .146447, 1}, 1, 2);
  check_schedule(static_cast<LinearLR*>(nullptr), {.5, .625, .75, .875, 1, 1},
                 LinearLROptions{.start_factor = .5, .total_iters = 4});
  check_schedule(static_cast<LinearLR*>(nullptr), {1, .666667, .333333, 0, 0},
                 LinearLROptions{.start_factor = 1, .end_factor = 0, .total_iters = 3});
  check_schedule(static_cast<ConstantLR*>(nullptr), {.5, .5, 1, 1}, ConstantLROptions{.factor = .5, .total_iters = 2});
  check_schedule(static_cast<PolynomialLR*>(nullptr), {1, .25, 0, 0},
                 PolynomialLROptions{.total_iters = 2, .power = 2});
  const auto halves = [](std::int64_t epoch) { return epoch % 2 == 0 ? 1 : .5; };
  check_schedule(static_cast<LambdaLR*>(nullptr), {1, .5, 1, .5}, halves);
  check_schedule(static_cast<MultiplicativeLR*>(nullptr), {1, .5, .5, .25}, halves);
  check_schedule(static_cast<OneCycleLR*>(nullptr), {.04, .994415, .811746, .462637, .133478, 4e-6}, 1.,
                 OneCycleLROptions{.total_steps = 6});
  check_schedule(static_cast<CyclicLR*>(nullptr), {.1, .4, .7, .5, .3, .1, .25}, .1, .7,
                 CyclicLROptions{.step_size_up = 2, .step_size_down = 3, .mode = CyclicMode::triangular2});
}

TEST_CASE("one cycle takes the momentum the other way, and ends after its steps") {
  optim::SGD sgd({{{leaf()}, {.lr = 1, .momentum = .9}}, {{leaf()}, {.lr = 1, .momentum = .9}}});
  optim::OneCycleLR schedule(sgd, {1, .1},
                             {.total_steps = 5, .pct_start = .6, .anneal_strategy = optim::AnnealStrategy::linear});
  CHECK(sgd.lr(1) == Approx(.004));
  CHECK(sgd.momentum(0) == Approx(.95));
  schedule.step(), schedule.step();
  CHECK(sgd.lr(0) == Approx(1));
  CHECK(sgd.lr(1) == Approx(.1));
  CHECK(sgd.momentum(0) == Approx(.85));
  schedule.step(), schedule.step();
  CHECK(sgd.lr(0) == Approx(4e-6));
  schedule.step();  // after the last batch; there is no rate for another
  CHECK(sgd.lr(0) == Approx(4e-6));
  CHECK_THROWS_WITH(schedule.step(), Contains("OneCycleLR.step: this schedule ends after 5 steps"));
  CHECK(schedule.last_epoch() == 5);

  optim::Adagrad adagrad({leaf()});
  CHECK_THROWS_WITH(optim::OneCycleLR(adagrad, 1, {.total_steps = 5}), Contains("set cycle_momentum to false"));
  CHECK_THROWS_WITH(optim::OneCycleLR(sgd, 1, {}), Contains("total_steps, or epochs and steps_per_epoch"));
  CHECK_THROWS_WITH(optim::OneCycleLR(sgd, {1, 2, 3}, {.total_steps = 5}), Contains("one for each of 2 groups, got 3"));
}

TEST_CASE("schedules without sense are refused", "[B71]") {
  using namespace taper::optim;
  SGD sgd = one_group();
  CHECK_THROWS_WITH(MultiStepLR(sgd, {0}), Contains("MultiStepLR: milestones must be positive, got 0"));
  CHECK_THROWS_WITH(ExponentialLR(sgd, -1), Contains("ExponentialLR: gamma must not be negative"));
  CHECK_THROWS_WITH(LinearLR(sgd, {.start_factor = 0}), Contains("LinearLR: start_factor must be in (0, 1], got 0"));
  CHECK_THROWS_WITH(ConstantLR(sgd, {.factor = 2}), Contains("ConstantLR: factor must be in (0, 1], got 2"));
  CHECK_THROWS_WITH(PolynomialLR(sgd, {.total_iters = 0}), Contains("PolynomialLR: total_iters must be positive"));
  CHECK_THROWS_WITH(CosineAnnealingLR(sgd, 0), Contains("t_max must be positive"));
  CHECK_THROWS_WITH(CosineAnnealingWarmRestarts(sgd, 3, 0), Contains("t_mult must be positive"));
  CHECK_THROWS_WITH(LambdaLR(sgd, [](std::int64_t) { return -1.; }), Contains("the rate of group 0 would be -1"));
  CHECK_THROWS_WITH(LambdaLR(sgd, std::vector<EpochFunction>{}),
                    Contains("LambdaLR: expected a function for each of 1"));
  CHECK_THROWS_WITH(CyclicLR(sgd, .1, 1, {.step_size_up = 0}), Contains("step_size_up must be positive"));
  CHECK_THROWS_WITH(CyclicLR(sgd, .1, 1, {.max_momentum = 1}), Contains("max_momentum must be in [0, 1), got 1"));
  CHECK_THROWS_WITH(ReduceLROnPlateau(sgd, {.factor = 1}), Contains("factor must be in [0, 1), got 1"));
  CHECK(sgd.lr() == 1);
  CHECK(sgd.momentum() == 0.);
}

TEST_CASE("chained schedules multiply, and one that fails undoes the others") {
  optim::SGD sgd = one_group();
  optim::ConstantLR warm_up(sgd, {.factor = .1, .total_iters = 2});
  optim::ExponentialLR falling(sgd, .5);
  optim::ChainedScheduler both({&warm_up, &falling});
  check_rates(both, {.1, .05, .25, .125});
  CHECK(both.state_dict().at("schedulers.1.last_epoch").item<int>() == 3);

  optim::LambdaLR fails(sgd, [](std::int64_t epoch) { return epoch > 0 ? -1. : 1.; });
  CHECK(sgd.lr() == 1);  // the rate before the first schedule
  optim::ChainedScheduler all({&both, &fails});
  CHECK_THROWS_WITH(all.step(), Contains("would be -1"));
  CHECK(sgd.lr() == 1);
  CHECK(both.last_epoch() == 3);
  CHECK(falling.last_epoch() == 3);
  CHECK(all.last_epoch() == 0);

  optim::SGD other = one_group();
  optim::ExponentialLR elsewhere(other, .5);
  CHECK_THROWS_WITH(optim::ChainedScheduler({&falling, &elsewhere}), Contains("must all be of the same optimizer"));
  CHECK_THROWS_WITH(optim::ChainedScheduler({}), Contains("the list of schedulers is empty"));
}

TEST_CASE("schedules in sequence each begin from the base rates") {
  optim::SGD sgd = one_group();
  optim::LinearLR warm_up(sgd, {.start_factor = .25, .total_iters = 3});
  optim::StepLR steps(sgd, 2, .5);
  optim::ConstantLR last(sgd, {.factor = .1, .total_iters = 1});
  optim::SequentialLR all(sgd, {&warm_up, &steps, &last}, {3, 6});
  check_rates(all, {.25, .5, .75, 1, 1, .5, .1, 1, 1});
  CHECK_THROWS_WITH(optim::SequentialLR(sgd, {&warm_up, &steps}, {}), Contains("one milestone less than schedulers"));
  CHECK_THROWS_WITH(optim::SequentialLR(sgd, {&warm_up, &steps, &last}, {3, 3}), Contains("must be positive and grow"));
}

TEST_CASE("schedules of schedules go on from their state") {
  const auto run = [](const std::function<void(optim::SGD&, optim::SequentialLR&)>& f) {
    optim::SGD sgd = one_group();
    optim::LinearLR warm_up(sgd, {.start_factor = .25, .total_iters = 3});
    optim::CosineAnnealingLR falls(sgd, 4);
    optim::SequentialLR all(sgd, {&warm_up, &falls}, {3});
    f(sgd, all);
  };
  run([&](optim::SGD& sgd, optim::SequentialLR& all) {
    rates_of(all, 5);
    const TensorDict rates = sgd.state_dict(), state = all.state_dict();
    const std::vector<double> want = rates_of(all, 5);
    run([&](optim::SGD& resumed, optim::SequentialLR& goes_on) {
      resumed.load_state_dict(rates);
      goes_on.load_state_dict(state);
      CHECK(rates_of(goes_on, 5) == want);

      TensorDict bad = state;
      bad.erase("schedulers.1.last_epoch");
      CHECK_THROWS_WITH(goes_on.load_state_dict(bad), Contains("expected the entries last_epoch, base_lrs, got 1"));
      bad = state;
      bad["schedulers.2.last_epoch"] = full({}, 1, int64);
      CHECK_THROWS_WITH(goes_on.load_state_dict(bad), Contains("and those of each of the schedulers"));
      CHECK(goes_on.last_epoch() == 8);
    });
  });
}

TEST_CASE("the rate falls when the metric stops making progress") {
  optim::SGD sgd = one_group();
  optim::ReduceLROnPlateau schedule(sgd, {.factor = .5, .patience = 1, .cooldown = 1, .min_lr = .2});
  const auto rate_after = [&](double metric) {
    schedule.step(metric);
    return sgd.lr();
  };
  CHECK(rate_after(1) == 1);
  CHECK(rate_after(1) == 1);
  CHECK(rate_after(.99999) == .5);  // by less than the threshold
  CHECK(rate_after(1) == .5);       // cools down
  const TensorDict rates = sgd.state_dict(), state = schedule.state_dict();
  CHECK(state.at("best").item<double>() == 1);
  CHECK(rate_after(1) == .5);
  CHECK(rate_after(std::nan("")) == .25);
  CHECK(schedule.last_epoch() == 6);

  optim::SGD other = one_group();
  optim::ReduceLROnPlateau goes_on(other, {.factor = .5, .patience = 1, .cooldown = 1, .min_lr = .2});
  other.load_state_dict(rates);
  goes_on.load_state_dict(state);
  goes_on.step(1), goes_on.step(1);
  CHECK(other.lr() == .25);
  for (int i = 0; i < 9; ++i) goes_on.step(1);
  CHECK(other.lr() == .2);
  goes_on.step(.5);
  CHECK(goes_on.state_dict().at("best").item<double>() == .5);

  optim::LRScheduler& base = goes_on;
  CHECK_THROWS_WITH(base.step(), Contains("ReduceLROnPlateau.step: the metric is missing"));
  TensorDict bad = state;
  bad["num_bad_epochs"] = full({}, -1, int64);
  CHECK_THROWS_WITH(goes_on.load_state_dict(bad), Contains("num_bad_epochs must not be negative, got -1"));
  bad = state;
  bad.erase("best");
  CHECK_THROWS_WITH(goes_on.load_state_dict(bad), Contains("last_epoch, base_lrs, best, num_bad_epochs"));
}
