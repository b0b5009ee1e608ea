#include <taper/factory.h>
#include <taper/nn/optim.h>

#include <cmath>
#include <memory>

#include "support/catch.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {

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

void check_path(const std::vector<double>& got, const std::vector<double>& want, double tolerance = 1e-6) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO(i << ": " << got[i] << " against " << want[i]);
    CHECK(std::abs(got[i] - want[i]) <= tolerance);
  }
}

/// A gradient that turns after two steps.
Tensor gradient(int step) { return tensor({step < 2 ? 1. : -.5, step < 2 ? -2. : 3.}, float64); }

/// Calls f with an optimizer of each kind, made of other than the usual options, and a maker of more of the kind.
template <class F>
void for_each_kind(F&& f) {
  const auto with = [&]<class O>(const typename O::Options& options, O*) {
    f([options](const Tensor& w) { return std::unique_ptr<optim::Optimizer>(new O({w}, options)); });
  };
  with({.momentum = .5, .centered = true, .maximize = true}, static_cast<optim::RMSprop*>(nullptr));
  with({.lr_decay = .1, .weight_decay = .1, .initial_accumulator_value = .5}, static_cast<optim::Adagrad*>(nullptr));
  with({.rho = .8, .weight_decay = .1}, static_cast<optim::Adadelta*>(nullptr));
  with({.betas = {.8, .9}}, static_cast<optim::Adamax*>(nullptr));
  with({.momentum_decay = .1}, static_cast<optim::NAdam*>(nullptr));
  with({.betas = {.7, .8}, .weight_decay = .1}, static_cast<optim::RAdam*>(nullptr));
  with({.lr = .1, .etas = {.4, 1.3}}, static_cast<optim::Rprop*>(nullptr));
}

}  // namespace

TEST_CASE("RMSprop and Adagrad take the steps of the formulas", "[B65]") {
  using optim::Adagrad;
  using optim::RMSprop;
  check_path(path_of<RMSprop>({.lr = .1}, {1, 1, 1}), {0, -.708881, -1.289130});
  check_path(path_of<RMSprop>({.lr = .1}, {1, 1, 1}, float32), {0, -.708881, -1.289130}, 1e-5);
  check_path(path_of<RMSprop>({.lr = .1, .momentum = .5}, {1, 1}), {0, -1.208881});
  // The variance of 1 after a mean of 0 is alpha (1 - alpha).
  check_path(path_of<RMSprop>({.lr = .1, .alpha = .5, .centered = true}, {1}), {.8});
  check_path(path_of<RMSprop>({.lr = .1, .maximize = true}, {1}), {2});
  check_path(path_of<RMSprop>({.lr = .1, .alpha = 0, .eps = 1, .weight_decay = 1}, {2}), {1 - .1 * 3 / 4});

  check_path(path_of<Adagrad>({.lr = .1}, {1, 1, 1}), {.9, .829289, .771554});
  check_path(path_of<Adagrad>({.lr = .1, .lr_decay = 1}, {1, 1}), {.9, .9 - .05 / std::sqrt(2.)});
  check_path(path_of<Adagrad>({.lr = .1, .initial_accumulator_value = 3}, {1}), {.95});
  check_path(path_of<Adagrad>({.lr = .1, .weight_decay = 1, .maximize = true}, {3}), {1.1});
}

TEST_CASE("Adadelta, Adamax, NAdam, RAdam and Rprop take the steps of the papers") {
  const double first = std::sqrt(1e-6) / std::sqrt(.1 + 1e-6);  // sqrt(a + eps) / sqrt(s + eps)
  check_path(path_of<optim::Adadelta>({}, {1}), {1 - first}, 1e-12);
  check_path(path_of<optim::Adadelta>({.lr = .5, .maximize = true}, {1}), {1 + first / 2}, 1e-12);
  check_path(path_of<optim::Adamax>({.lr = .1}, {1, .5, 0}), {.9, .8262421, .7796545});
  check_path(path_of<optim::RAdam>({.lr = .1}, {1, 1, -1}), {.9, .8, .8 - .1 * .071 / .271});
  // Both moments are 1, and the look ahead is that of the first step: mu_1 = mu_2 = 0.45 without decay.
  check_path(path_of<optim::NAdam>({.lr = .1, .momentum_decay = 0}, {1}),
             {1 - .1 * (.55 / .55 + .45 * .1 / (1 - .45 * .45 * .45))});
  // The step size: .1, times 1.2, times .5 where the sign turns and nothing moves, then as it is.
  check_path(path_of<optim::Rprop>({.lr = .1}, {1, 2, -1, -1}), {.9, .78, .78, .84}, 1e-12);
  check_path(path_of<optim::Rprop>({.lr = .1, .step_sizes = {.01, .11}, .maximize = true}, {1, 2}), {1.1, 1.21}, 1e-12);
}

TEST_CASE("options of the adaptive optimizers are checked by name") {
  using namespace taper::optim;
  CHECK_THROWS_WITH(path_of<RMSprop>({.alpha = 1.5}, {}), Contains("RMSprop: alpha must be in [0, 1], got 1.5"));
  CHECK_THROWS_WITH(path_of<RMSprop>({.momentum = -1}, {}), Contains("RMSprop: momentum must not be negative"));
  CHECK_THROWS_WITH(path_of<Adagrad>({.lr_decay = -1}, {}), Contains("Adagrad: lr_decay must not be negative"));
  CHECK_THROWS_WITH(path_of<Adadelta>({.rho = std::nan("")}, {}), Contains("Adadelta: rho must be in [0, 1]"));
  CHECK_THROWS_WITH(path_of<Adamax>({.betas = {.9, 1}}, {}), Contains("Adamax: betas must be in [0, 1), got 1"));
  CHECK_THROWS_WITH(path_of<NAdam>({.momentum_decay = -1}, {}), Contains("NAdam: momentum_decay"));
  CHECK_THROWS_WITH(path_of<RAdam>({.weight_decay = -1}, {}), Contains("RAdam: weight_decay"));
  CHECK_THROWS_WITH(path_of<Rprop>({.etas = {1.2, .5}}, {}), Contains("Rprop: etas must be a number in (0, 1)"));
  CHECK_THROWS_WITH(path_of<Rprop>({.step_sizes = {1, .5}}, {}), Contains("Rprop: step_sizes"));
  CHECK_THROWS_WITH(RMSprop(std::vector<RMSprop::Group>{}), Contains("RMSprop: the list of parameter groups is empty"));
}

TEST_CASE("an adaptive optimizer loaded from the state of another goes on exactly as that one") {
  for_each_kind([](const auto& make) {
    Tensor a = tensor({1, 2}, float64).requires_grad_(), b = tensor({0, 0}, float64).requires_grad_();
    const auto first = make(a), second = make(b);
    for (int i = 0; i < 3; ++i) a.set_grad(gradient(i)), first->step();
    b.detach().copy_(a.detach());
    second->load_state_dict(first->state_dict());
    for (int i = 0; i < 3; ++i) {
      a.set_grad(gradient(i)), b.set_grad(gradient(i));
      first->step(), second->step();
      CHECK(a.to_vector<double>() == b.to_vector<double>());
    }
    TensorDict bad = first->state_dict();
    bad.erase("state.0.step");
    CHECK_THROWS_WITH(second->load_state_dict(bad), Contains("'state.0.step' is missing beside"));
  });
  Tensor a = tensor({1}, float64).requires_grad_();
  optim::NAdam nadam({a});
  a.set_grad(tensor({1}, float64));
  nadam.step();
  TensorDict bad = nadam.state_dict();
  bad.erase("state.0.mu_product");
  CHECK_THROWS_WITH(nadam.load_state_dict(bad), Contains("'state.0.mu_product' is missing beside"));
}

TEST_CASE("adaptive steps are not recorded, count as writes, and leave the gradient alone") {
  for_each_kind([](const auto& make) {
    Tensor w = tensor({1, 2}, float64).requires_grad_(), converted = tensor({1, 2}, float64).requires_grad_();
    const Tensor g = gradient(0);
    w.set_grad(g);
    const auto optimizer = make(w), other = make(converted);
    optimizer->step();
    CHECK(w.is_leaf());
    CHECK(w.version() > 0);
    CHECK(g.to_vector<double>() == std::vector<double>{1, -2});
    CHECK(optimizer->state_dict().at("state.0.step").template item<int>() == 1);

    converted.set_grad(g);
    other->step();
    converted.zero_grad();
    converted.set_data(converted.detach().to(float32));
    converted.set_grad(gradient(1).to(float32));
    other->step();
    w.set_grad(gradient(1));
    optimizer->step();
    for (int i = 0; i < 2; ++i) CHECK(converted.to_vector<float>()[i] == Approx(w.to_vector<double>()[i]).margin(1e-5));
  });
}

TEST_CASE("schedules find the momentum of an optimizer under whatever name") {
  Tensor w = tensor({1.}).requires_grad_();
  optim::RMSprop rmsprop({w}, {.momentum = .5});
  optim::RAdam radam({w});
  optim::Adagrad adagrad({w});
  CHECK(rmsprop.momentum() == .5);
  CHECK(radam.momentum() == .9);
  CHECK_FALSE(adagrad.momentum().has_value());
  radam.set_momentum(0, .8);
  CHECK(radam.options().betas[0] == .8);
  CHECK_THROWS_WITH(radam.set_momentum(0, 1), Contains("betas must be in [0, 1), got 1"));
  CHECK(radam.momentum() == .8);
  CHECK_THROWS_WITH(adagrad.set_momentum(0, .5), Contains("Adagrad.set_momentum: this optimizer has neither"));
  CHECK_THROWS_AS(adagrad.momentum(1), IndexError);
}
