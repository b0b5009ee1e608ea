#include <taper/nn/gradcheck.h>
#include <taper/taper.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

Tensor batch() { return linspace(-1, 1, 12, {.dtype = float64}).view({4, 3}).mul(2).sin().requires_grad_(); }

/// Multiplies by its weight; what it hands back for the weight is not its gradient.
struct Careless final : nn::Module {
  nn::Parameter weight{ones({3}, float64)};
  nn::Linear inner{3, 3};
  Tensor forward(const Tensor& x) override { return inner(x) * weight + (weight * 2).detach(); }
  void members(nn::MemberVisitor& v) override { v("weight", weight), v("inner", inner); }
};

struct Gate final : nn::Module {
  nn::Parameter scale{full({3}, 0.5, float64)};
  TensorList forward(const Tensor& a, const Tensor& b) { return {a * b.sigmoid() * scale, b.exp()}; }
  void members(nn::MemberVisitor& v) override { v("scale", scale); }
};

}  // namespace

TEST_CASE("gradcheck of a module checks its parameters and leaves it as it was", "[gradcheck]") {
  const bool fast = GENERATE(false, true);
  manual_seed(5);
  nn::Sequential net{nn::Linear(3, 4), nn::BatchNorm1d(4), nn::Tanh(), nn::Linear(4, 2)};
  net.to(float64);
  const TensorDict before = nn::clone(net).state_dict();

  CHECK(nn::gradcheck(net, batch(), {.fast_mode = fast}));
  CHECK(nn::gradgradcheck(net, batch(), {.atol = 1e-4, .fast_mode = fast}));
  CHECK(nn::gradcheck(net, batch().detach(), {.fast_mode = fast}));  // the parameters alone

  for (const auto& [name, t] : net.state_dict()) {
    CAPTURE(name);
    CHECK(t.equal(before.at(name)));
  }
  for (const Tensor& p : net.parameters()) CHECK_FALSE(p.grad().defined());
  net.eval();
  CHECK(nn::gradcheck(net, batch(), {.fast_mode = fast}));
}

TEST_CASE("gradcheck of a module names the parameter whose gradient is wrong", "[gradcheck]") {
  Careless layer;
  CHECK(contains(message_of<DTypeError>([&] { nn::gradcheck(layer, batch()); }),
                 "parameter inner.weight must be float64"));
  layer.to(float64);
  const auto message = message_of<GradcheckError>([&] { nn::gradcheck(layer, batch()); });
  CHECK(contains(message, "by parameter weight at ["));
}

TEST_CASE("gradcheck takes modules of several inputs", "[gradcheck]") {
  Gate gate;
  const auto call = [&](const TensorList& in) { return gate.forward(in[0], in[1]); };
  CHECK(nn::gradcheck(gate, call, {batch(), batch()}));
  CHECK(nn::gradgradcheck(gate, call, {batch(), batch()}));
}

TEST_CASE("gradcheck refuses a module that no gradient gets through", "[gradcheck]") {
  nn::Sequential net{nn::Linear(3, 2), nn::ReLU()};
  net.to(float64);
  {
    const NoGradGuard no_grad;
    net.get<nn::Linear>(0).bias.fill_(-100);
  }
  CHECK(contains(message_of<AutogradError>([&] { nn::gradcheck(net, batch()); }),
                 "every derivative by input 0 (float64[4, 3] on cpu) is zero, which proves nothing"));
}
