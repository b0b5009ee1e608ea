#include <taper/factory.h>
#include <taper/grad_mode.h>
#include <taper/nn/lr_scheduler.h>
#include <taper/nn/optim.h>

#include <cmath>

#include "support/catch.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {

Tensor leaf(double value) { return tensor({value}, float64).requires_grad_(); }

/// The values of a parameter that starts at 1 and gets these gradients, one a step.
template <class Optimizer>
std::vector<double> path_of(const typename Optimizer::Options& options, const std::vector<double>& grads,
                            DType dtype = float64) {
  const Tensor w = tensor({1}, dtype).requires_grad_();
  Optimizer optimizer({w}, options);
  std::vector<double> path;
  for (const double g : grads) {
    Tensor(w).set_grad(tensor({g}, dtype));
    optimizer.step();
    path.push_back(w.item<double>());
  }
  return path;
}

void check_close(const std::vector<double>& got, const std::vector<double>& want, double tolerance = 1e-9) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO(i << ": " << got[i] << " against " << want[i]);
    CHECK(std::abs(got[i] - want[i]) <= tolerance);
  }
}

}  // namespace

TEST_CASE("SGD and its variants take the steps of the formula", "[B64]") {
  using optim::SGD;
  const std::vector<double> ones{1, 1, 1};
  check_close(path_of<SGD>({.lr = 0.1}, ones), {.9, .8, .7});
  check_close(path_of<SGD>({.lr = 0.1, .momentum = .9}, ones), {.9, .71, .439});
  check_close(path_of<SGD>({.lr = 0.1, .momentum = .9, .dampening = .5}, ones), {.9, .76, .584});
  check_close(path_of<SGD>({.lr = 0.1, .momentum = .9, .nesterov = true}, ones), {.81, .539, .1951});
  check_close(path_of<SGD>({.lr = 0.1, .weight_decay = .1}, ones), {.89, .7811, .673289});
  check_close(path_of<SGD>({.lr = 0.1, .momentum = .9, .weight_decay = .1}, ones), {.89, .6821, .388169});
  check_close(path_of<SGD>({.lr = 0.1, .maximize = true}, ones), {1.1, 1.2, 1.3});
  check_close(path_of<SGD>({.lr = 0.1, .momentum = .9}, ones, float32), {.9, .71, .439}, 1e-6);

  CHECK_THROWS_WITH(path_of<SGD>({.nesterov = true}, ones), Contains("nesterov needs momentum > 0 and dampening 0"));
  CHECK_THROWS_AS(path_of<SGD>({.momentum = .9, .dampening = .1, .nesterov = true}, ones), ValueError);
  CHECK_THROWS_WITH(path_of<SGD>({.lr = -1}, ones), Contains("lr must not be negative, got -1"));
}

TEST_CASE("Adam and AdamW take the steps of the papers", "[B65]") {
  using optim::Adam;
  using optim::AdamW;
  const std::vector<double> grads{1, 1, -1};
  check_close(path_of<Adam>({.lr = .1}, grads), {.900000001, .800000002, .773800740}, 1e-9);
  check_close(path_of<Adam>({.lr = .1, .weight_decay = .1}, grads), {.900000001, .800024848, .766243251}, 1e-9);
  check_close(path_of<AdamW>({.lr = .1, .weight_decay = .1}, grads), {.890000001, .781100002, .747089740}, 1e-9);
  check_close(path_of<Adam>({.lr = .1, .weight_decay = .1}, {0, 0}), {.9, .800412}, 1e-6);
  check_close(path_of<AdamW>({.lr = .1, .weight_decay = .1}, {0, 0}), {.99, .9801}, 1e-6);
  check_close(path_of<Adam>({.lr = .1}, {1e-8}), {.95}, 1e-6);  // eps stands outside the root
  check_close(path_of<Adam>({.lr = .1, .amsgrad = true}, {1, .1, .1}), {.9, .825919, .762605}, 1e-6);
  check_close(path_of<Adam>({.lr = .1, .maximize = true}, grads), {1.099999999, 1.199999998, 1.226199260}, 1e-9);
  check_close(path_of<Adam>({.lr = .1}, grads, float32), {.9, .8, .7738007}, 1e-6);

  CHECK_THROWS_AS(path_of<Adam>({.betas = {1, .9}}, grads), ValueError);
  CHECK_THROWS_AS(path_of<Adam>({.eps = -1}, grads), ValueError);
}

TEST_CASE("a long parameter is updated as each of its elements alone") {
  const std::int64_t n = 100'003;  // several chunks, and not a multiple of a vector
  Tensor w = ones({n}).requires_grad_(), one = ones({1}).requires_grad_();
  w.set_grad(full({n}, 0.5));
  one.set_grad(full({1}, 0.5));
  optim::AdamW adam({w, one}, {.lr = .1});
  optim::SGD sgd({w, one}, {.lr = .1, .momentum = .9, .weight_decay = .01, .nesterov = true});
  for (int i = 0; i < 3; ++i) adam.step(), sgd.step();

  const float want = one.item<float>();
  for (const float v : w.to_vector<float>())
    if (v != want) FAIL("got " << v << ", want " << want);
}

TEST_CASE("parameters of any strides are updated, and what lies between their elements is not") {
  Tensor memory = arange(12, {.dtype = float64});
  Tensor w = memory.as_strided({2, 3}, {1, 4}).detach().requires_grad_();
  Tensor plain = tensor({{0, 4, 8}, {1, 5, 9}}, float64).requires_grad_();
  const Tensor g = tensor({{1, 2, 3}, {4, 5, 6}}, float64);
  w.set_grad(g), plain.set_grad(g);

  optim::Adam adam({w, plain}, {.lr = .1, .amsgrad = true});
  optim::SGD sgd({w, plain}, {.lr = .1, .momentum = .9});
  for (int i = 0; i < 3; ++i) adam.step(), sgd.step();

  CHECK(w.to_vector<double>() == plain.to_vector<double>());
  CHECK(w.to_vector<double>() != std::vector<double>{0, 4, 8, 1, 5, 9});
  const std::vector<double> all = memory.to_vector<double>();
  for (const int untouched : {2, 3, 6, 7, 10, 11}) CHECK(all[std::size_t(untouched)] == untouched);
}

TEST_CASE("a step counts as a write of parameter and state, and is not recorded") {
  Tensor w = leaf(1);
  w.set_grad(tensor({1}, float64));
  optim::Adam adam({w});
  const std::uint32_t before = w.version();
  adam.step();
  CHECK(w.version() == before + 1);
  const TensorDict state = adam.state_dict();
  const std::uint32_t state_before = state.at("state.0.exp_avg").version();
  adam.step();
  CHECK(state.at("state.0.exp_avg").version() == state_before + 1);
  CHECK(w.is_leaf());
  CHECK(w.requires_grad());
}

TEST_CASE("parameters without gradient are left alone and have no state", "[S173]") {
  Tensor used = leaf(1), frozen = leaf(1);
  used.set_grad(tensor({1}, float64));
  optim::Adam adam({used, frozen}, {.lr = .1, .weight_decay = .1});
  adam.step();

  CHECK(frozen.item<double>() == 1);
  CHECK(frozen.version() == 0);
  CHECK(adam.state_dict().contains("state.0.exp_avg"));
  CHECK_FALSE(adam.state_dict().contains("state.1.exp_avg"));
}

TEST_CASE("groups have options of their own") {
  Tensor a = leaf(1), b = leaf(1);
  a.set_grad(tensor({1}, float64)), b.set_grad(tensor({1}, float64));
  optim::SGD sgd({{{a}, {.lr = .1}}, {{b}, {.lr = .01}}});
  sgd.step();
  CHECK(a.item<double>() == Approx(.9));
  CHECK(b.item<double>() == Approx(.99));

  sgd.set_lr(1, .5);
  CHECK(sgd.lr(0) == .1);
  sgd.options(0).lr = .2;
  sgd.step();
  CHECK(a.item<double>() == Approx(.7));
  CHECK(b.item<double>() == Approx(.49));
  sgd.set_lr(0);
  CHECK(sgd.lr(0) == 0);
  CHECK(sgd.lr(1) == 0);

  sgd.zero_grad();
  CHECK_FALSE(a.grad().defined());
  b.set_grad(tensor({3}, float64));
  sgd.zero_grad(false);
  CHECK(b.grad().item<double>() == 0);
}

TEST_CASE("an optimizer refuses parameters that it could not update") {
  Tensor a = leaf(1);
  CHECK_THROWS_WITH(optim::SGD(TensorList{}), Contains("the list of parameters is empty"));
  CHECK_THROWS_WITH(optim::SGD({a, a}), Contains("given twice"));
  CHECK_THROWS_WITH(optim::Adam({a, Tensor()}), Contains("parameter 1 is undefined"));
  CHECK_THROWS_AS(optim::SGD({tensor({1})}), DTypeError);
  CHECK_THROWS_AS(optim::SGD(std::vector<optim::SGD::Group>{}), ValueError);

  optim::SGD sgd({a});
  CHECK_THROWS_WITH(sgd.add_param_group({{a}, {}}), Contains("given twice"));
  CHECK(sgd.num_groups() == 1);
  sgd.add_param_group({{leaf(2)}, {.lr = 5}});
  CHECK(sgd.num_groups() == 2);
  CHECK(sgd.lr(1) == 5);
}

TEST_CASE("an optimizer loaded from the state of another goes on exactly as that one") {
  Tensor a = leaf(1), b = leaf(1), c = leaf(2);
  const auto step = [](optim::Optimizer& o, Tensor& w, double g) {
    w.set_grad(tensor({g}, float64));
    o.step();
  };
  optim::Adam first({{{a}, {.lr = .1, .amsgrad = true}}, {{c}, {.lr = .3}}});
  step(first, a, 1), step(first, a, .3);
  const TensorDict state = first.state_dict();
  CHECK(state.at("state.0.step").item<int>() == 2);
  CHECK(state.at("param_groups.0.lr").item<double>() == .1);
  CHECK(state.at("param_groups.1.params").to_vector<std::int64_t>() == std::vector<std::int64_t>{1});

  Tensor d = leaf(2);
  optim::Adam second({{{b}, {}}, {{d}, {}}});
  {
    NoGradGuard no_grad;
    b.copy_(a);
  }
  second.load_state_dict(state);
  CHECK(second.options(0).amsgrad);
  step(first, a, -2), step(second, b, -2);
  CHECK(a.item<double>() == b.item<double>());
  CHECK_FALSE(state.at("state.0.exp_avg").is_alias_of(second.state_dict().at("state.0.exp_avg")));
}

TEST_CASE("a state that does not fit is refused and changes nothing", "[B74]") {
  Tensor a = leaf(1), b = leaf(1);
  a.set_grad(tensor({1}, float64)), b.set_grad(tensor({1}, float64));
  optim::Adam adam({a, b}, {.lr = .1});
  adam.step();
  const TensorDict good = adam.state_dict();
  const auto refuses = [&](TensorDict bad, const char* reason) {
    INFO(reason);
    CHECK_THROWS_WITH(adam.load_state_dict(bad), Contains(reason));
    CHECK_THROWS_WITH(adam.check_state_dict(bad), Contains(reason));
    CHECK(adam.options().lr == .1);
    CHECK(adam.state_dict().at("state.0.exp_avg").item<double>() == Approx(.1));
  };

  TensorDict bad = good;
  bad["state.1.exp_avg_sq"] = zeros({2}, float64);
  bad["param_groups.0.lr"] = full({}, 7.0, float64);
  refuses(bad, "'state.1.exp_avg_sq' must have shape [1]");
  bad = good;
  bad.erase("param_groups.0.eps");
  refuses(bad, "'param_groups.0.eps' is missing");
  bad = good;
  bad["param_groups.0.lr"] = full({}, -1.0, float64);
  refuses(bad, "lr must not be negative");
  bad = good;
  bad["param_groups.0.amsgrad"] = full({}, .5, float64);
  refuses(bad, "'param_groups.0.amsgrad' must be true or false, got 0.5");
  for (const char* part : {"exp_avg", "exp_avg_sq", "step"}) {
    const std::string key = std::string("state.0.") + part;
    bad = good;
    bad.erase(key);
    refuses(bad, ("'" + key + "' is missing beside").c_str());
    CHECK_THROWS_AS(adam.load_state_dict(bad), ValueError);
  }
  bad = good;
  bad["param_groups.0.amsgrad"] = full({}, true, bool_);
  refuses(bad, "'state.0.max_exp_avg_sq' is missing beside 'state.0.step'");
  for (const double step : {-3., 0., 1.5, 1e300, std::nan("")}) {
    bad["state.1.step"] = full({}, step, float64);
    bad["param_groups.0.amsgrad"] = full({}, false, bool_);
    refuses(bad, "'state.1.step' must be a number of updates, 1 or more, got ");
  }
  bad["state.1.step"] = full({}, -3, int64);
  refuses(bad, "1 or more, got -3");
  bad = good;
  bad["state.2.exp_avg"] = zeros({1});
  refuses(bad, "unexpected 'state.2.exp_avg'");
  bad = good;
  bad["state.0.exp_avg"] = Tensor();
  refuses(bad, "is undefined");
  Tensor other = leaf(1);
  refuses(optim::SGD({other}).state_dict(), "group 0 has 2 parameters");
  refuses(optim::SGD({leaf(1), leaf(2)}).state_dict(), "missing");
}

TEST_CASE("a state asked for since the last step is saved as that step would have left it") {
  Tensor a = leaf(1), b = leaf(1);
  a.set_grad(tensor({1}, float64)), b.set_grad(tensor({1}, float64));
  optim::Adam adam({a}), other({b});
  adam.step(), other.step();
  adam.options().amsgrad = true;
  other.load_state_dict(adam.state_dict());
  CHECK(other.state_dict().at("state.0.max_exp_avg_sq").item<double>() == 0);
  adam.step(), other.step();
  CHECK(a.item<double>() == b.item<double>());
}

TEST_CASE("a group that is not there is an error that says which there are") {
  optim::SGD sgd({leaf(1)});
  const optim::SGD& constant = sgd;
  CHECK_THROWS_AS(sgd.lr(3), IndexError);
  CHECK_THROWS_WITH(sgd.lr(3), Contains("SGD: there is no parameter group 3; this optimizer has 1"));
  CHECK_THROWS_AS(sgd.params(3), IndexError);
  CHECK_THROWS_AS(sgd.options(1), IndexError);
  CHECK_THROWS_AS(constant.options(1), IndexError);
  CHECK_THROWS_AS(sgd.set_lr(1, .1), IndexError);
}

TEST_CASE("options are checked wherever they come from, before a step writes") {
  Tensor a = leaf(1), b = leaf(1);
  a.set_grad(tensor({1}, float64)), b.set_grad(tensor({1}, float64));
  optim::SGD sgd({{{a}, {.lr = .1}}, {{b}, {.lr = .2}}});
  for (const double bad : {-1., std::nan("")}) {
    CHECK_THROWS_WITH(sgd.set_lr(0, bad), Contains("SGD.set_lr: a learning rate must not be negative"));
    CHECK_THROWS_AS(sgd.set_lr(bad), ValueError);
  }
  CHECK(sgd.lr(0) == .1);
  CHECK(sgd.lr(1) == .2);

  sgd.options(1).lr = -1;
  CHECK_THROWS_WITH(sgd.step(), Contains("lr must not be negative, got -1"));
  CHECK(a.item<double>() == 1);
  sgd.options(1).lr = .2;
  sgd.step();
  CHECK(b.item<double>() == Approx(.8));
}

TEST_CASE("a schedule reaches groups that were added after it was made", "[B71]") {
  optim::SGD sgd({leaf(1)}, {.lr = 1});
  optim::StepLR schedule(sgd, 1, .5);
  schedule.step();
  sgd.add_param_group({{leaf(1)}, {.lr = 8}});
  CHECK(schedule.get_last_lr() == std::vector<double>{.5, 8});
  CHECK(schedule.state_dict().at("base_lrs").to_vector<double>() == std::vector<double>{1, 8});
  schedule.step();
  CHECK(schedule.get_last_lr() == std::vector<double>{.25, 4});
  CHECK(schedule.state_dict().at("base_lrs").to_vector<double>() == std::vector<double>{1, 8});
  schedule.load_state_dict(schedule.state_dict());
}

TEST_CASE("a schedule never makes a rate negative", "[B71]") {
  struct Falling final : optim::LRScheduler {
    explicit Falling(optim::Optimizer& o) : LRScheduler(o) {}
    double next_lr(std::size_t group) const override { return base_lr(group) - double(last_epoch()); }
  };
  optim::SGD sgd({{{leaf(1)}, {.lr = 5}}, {{leaf(1)}, {.lr = 1.5}}});
  for (const double gamma : {-.1, std::nan("")})
    CHECK_THROWS_WITH(optim::StepLR(sgd, 1, gamma), Contains("StepLR: gamma must not be negative, got "));
  Falling schedule(sgd);
  schedule.step();
  CHECK_THROWS_WITH(schedule.step(), Contains("the rate of group 1 would be -0.5"));
  CHECK(schedule.get_last_lr() == std::vector<double>{4, .5});
  CHECK(schedule.last_epoch() == 1);

  for (const TensorDict& bad : {TensorDict{{"last_epoch", full({}, -3, int64)}, {"base_lrs", ones({2}, float64)}},
                                TensorDict{{"last_epoch", full({}, 3, float64)}, {"base_lrs", ones({2}, float64)}},
                                TensorDict{{"last_epoch", full({}, 3, int64)}, {"base_lrs", full({2}, -1.0, float64)}}})
    CHECK_THROWS_AS(schedule.load_state_dict(bad), ValueError);
  CHECK(schedule.last_epoch() == 1);
}

TEST_CASE("the rate falls by gamma every step_size epochs", "[B71]") {
  Tensor a = leaf(1), b = leaf(1);
  optim::SGD sgd({{{a}, {.lr = 1}}, {{b}, {.lr = .2}}});
  optim::StepLR schedule(sgd, 3, .1);
  std::vector<double> rates{schedule.get_last_lr()[0]};
  for (int i = 0; i < 6; ++i) {
    schedule.step();
    rates.push_back(schedule.get_last_lr()[0]);
  }
  check_close(rates, {1, 1, 1, .1, .1, .1, .01}, 1e-12);
  CHECK(sgd.lr(1) == Approx(.002));
  CHECK_THROWS_AS(optim::StepLR(sgd, 0), ValueError);

  Tensor c = leaf(1), d = leaf(1);
  optim::SGD resumed({{{c}, {}}, {{d}, {}}});
  resumed.load_state_dict(sgd.state_dict());
  optim::StepLR goes_on(resumed, 3, .1);
  goes_on.load_state_dict(schedule.state_dict());
  CHECK(goes_on.last_epoch() == 6);
  for (int i = 0; i < 3; ++i) goes_on.step();
  CHECK(resumed.lr(0) == Approx(.001));

  optim::SGD single({leaf(1)});
  optim::StepLR one(single, 1);
  CHECK_THROWS_AS(one.load_state_dict(schedule.state_dict()), ValueError);
  CHECK_THROWS_AS(one.load_state_dict({}), ValueError);
}

TEST_CASE("a parameter converted after its first step takes its state along") {
  Tensor w = leaf(1);
  w.set_grad(tensor({1}, float64));
  optim::Adam adam({w}, {.lr = .1});
  adam.step();
  w.zero_grad();
  w.set_data(w.detach().to(float32));
  w.set_grad(tensor({1}, float32));
  adam.step();
  CHECK(w.item<float>() == Approx(.8f));
  CHECK(adam.state_dict().at("state.0.exp_avg").dtype() == float32);
}
