// DetectAnomaly: who made the first NaN, who wrote, and where in the program it was called. This file is compiled with
// debug information, so that call sites have lines.
#include <taper/taper.h>

#include <cmath>
#include <limits>
#include <thread>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }
Tensor fixed(std::initializer_list<TensorData> v) { return tensor(v, float64); }

/// Whether a call site is this line of this file; where lines cannot be found, whether it is known at all.
bool is_line(const std::string& site, int line) {
#if TAPER_TEST_LINES
  return site.ends_with("anomaly_test.cpp:" + std::to_string(line));
#else
  return !site.empty() || line == 0;
#endif
}

template <class E, class F>
E error_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e;
  }
  FAIL("the error was not thrown");
  throw 0;
}

const double kNan = std::nan("");
const double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("inside DetectAnomaly a conflict names the lines of both calls", "[S96][B4]") {
  const DetectAnomaly scope;
  Tensor a = leaf({1, 2}), b = fixed({3, 4});
  Tensor y = a * b;  // line of the call that saved
  const int saved = __LINE__ - 1;
  b.slice(0, 0, 1).zero_();
  const int written = __LINE__ - 1;

  const auto e = error_of<InplaceConflictError>([&] { y.sum().backward(); });

  CHECK(is_line(e.saved_at, saved));
  CHECK(is_line(e.modified_at, written));
  CHECK(contains(e.what(), "at version 0 (called at " + e.saved_at +
                               "), but zero_() through slice changed its memory, " + "now at version 1 (called at " +
                               e.modified_at + "); make a new tensor"));
  CHECK_FALSE(contains(e.what(), "DetectAnomaly"));
}

TEST_CASE("a DetectAnomaly scope that begins after the forward pass says that it should begin before", "[S96]") {
  Tensor a = leaf({1, 2}), b = fixed({3, 4});
  const Tensor y = (a * b).sum();
  const DetectAnomaly scope;
  b.zero_();
  const auto e = error_of<InplaceConflictError>([&] { y.backward(); });
  CHECK(e.saved_at.empty());
  CHECK_FALSE(e.modified_at.empty());
  CHECK(contains(e.what(),
                 "; to name the lines of both calls the DetectAnomaly scope must enclose them: begin it "
                 "before the forward pass"));
}

TEST_CASE("the call site is the user's frame, also through modules and templates", "[S96]") {
  const DetectAnomaly scope;
  nn::Sequential model(nn::Linear(2, 2), nn::Sigmoid());
  Tensor hidden = model(ones({1, 2}));
  const int called = __LINE__ - 1;
  hidden.detach().zero_();
  const auto e = error_of<InplaceConflictError>([&] { hidden.sum().backward(); });
  CHECK(e.saved_by == "sigmoid");
  CHECK(is_line(e.saved_at, called));
}

TEST_CASE("mutation_log lists the writes to a tensor's memory, whoever saw it", "[S95][S101]") {
  Tensor x = zeros({2, 2});
  x.add_(1);  // before the scope
  const DetectAnomaly scope;
  x.mul_(2);
  const int first = __LINE__ - 1;
  x.select(0, 1).t().sub_(1);
  x.mutable_data<float>()[0] = 3;
  zeros({1}).add_(1);  // other memory

  const std::vector<Mutation> log = mutation_log(x.view({4}));

  REQUIRE(log.size() == 3);
  CHECK(log[0].op == "mul_");
  CHECK(log[0].version == 2);
  CHECK(log[0].through.empty());
  CHECK(is_line(log[0].at, first));
  CHECK(log[1].op == "sub_");
  CHECK(log[1].version == 3);
  CHECK(log[1].through == std::vector<std::string>{"select", "transpose"});
  CHECK(is_line(log[1].at, first + 2));
  CHECK(log[2].op == "mutable_data");
  CHECK(is_line(log[2].at, first + 3));
}

TEST_CASE("the log is as long as asked for, shared by nested scopes, and gone after them") {
  Tensor x = zeros({1});
  {
    const DetectAnomaly outer({.log_length = 2});
    for (int i = 0; i < 5; ++i) x.add_(1);
    {
      const DetectAnomaly inner;
      CHECK(mutation_log(x).size() == 2);
      x.add_(1);
      CHECK(mutation_log(x).size() == 3);
    }
    x.add_(1);
    const std::vector<Mutation> log = mutation_log(x);
    REQUIRE(log.size() == 2);
    CHECK(log[1].version == 7);
  }
  CHECK(contains(message_of<AutogradError>([&] { mutation_log(x); }), "inside a DetectAnomaly scope"));
}

TEST_CASE("the first operator whose forward makes a NaN or an infinity is named") {
  const DetectAnomaly scope;
  Tensor x = leaf({{1, 4}, {2, 0}}), y = fixed({3, 5});

  const auto e = error_of<NonFiniteError>([&] { y / x; });
  const int called = __LINE__ - 1;

  CHECK(e.op == "div");
  CHECK_FALSE(e.in_backward);
  CHECK(e.value == kInfinity);
  CHECK(e.index == std::vector<std::int64_t>{1, 1});
  CHECK(e.found_in == "result");
  CHECK(is_line(e.at, called));
  REQUIRE(e.operands.size() == 2);
  CHECK(e.operands[1].name == "other");
  CHECK(e.operands[1].min == 0);
  CHECK(e.operands[1].max == 4);
  CHECK(e.operands[1].nans == 0);
  CHECK(
      std::string(e.what()) ==
      "forward of div made inf at [1, 1] of its result (float64[2, 2] on cpu) from self (float64[2] on cpu) from 3 to "
      "5, other (float64[2, 2] on cpu) from 0 to 4; div was called at " +
          e.at + "; keep the operands where the result is finite, with clamp() or a mask before the call");
}

TEST_CASE("a NaN is told from an infinity, in place as out of place") {
  const DetectAnomaly scope;
  Tensor x = fixed({1, -1});
  const auto e = error_of<NonFiniteError>([&] { x.log_(); });
  CHECK(e.op == "log_");
  CHECK(std::isnan(e.value));
  CHECK(e.index == std::vector<std::int64_t>{1});
  CHECK(e.operands[0].min == -1);  // as it was before the write
  const auto f = error_of<NonFiniteError>([&] { fixed({kInfinity}) - fixed({kInfinity}); });
  CHECK(f.op == "sub");
  CHECK(std::isnan(f.value));
}

TEST_CASE("operands that are not finite, and numbers that are not, are nobody's mistake") {
  const DetectAnomaly scope;
  const Tensor bad = fixed({1, kNan});
  const Tensor mask = tensor({true, false});
  CHECK(std::isnan(values(bad * 2)[1]));
  CHECK(values(fixed({1, 2}).masked_fill(mask, -kInfinity))[0] == -kInfinity);
  CHECK(values(fixed({1, 2}) * kInfinity)[0] == kInfinity);
  Tensor infinite = fixed({kInfinity});
  CHECK(values(infinite + 1)[0] == kInfinity);
}

TEST_CASE("the first rule whose gradient is not finite is named, with the forward call") {
  const DetectAnomaly scope;
  Tensor x = leaf({4, 0});
  Tensor y = sqrt(x);
  const int called = __LINE__ - 1;

  const auto e = error_of<NonFiniteError>([&] { (y * fixed({1, 2})).sum().backward(); });

  CHECK(e.op == "sqrt");
  CHECK(e.in_backward);
  CHECK(e.value == kInfinity);
  CHECK(e.index == std::vector<std::int64_t>{1});
  CHECK(e.found_in == "self");
  CHECK(is_line(e.at, called));
  CHECK(
      std::string(e.what()) ==
      "backward of sqrt made inf at [1] of the gradient of 'self' (float64[2] on cpu) from the gradient that arrived "
      "(float64[2] on cpu) from 1 to 2, saved result (float64[2] on cpu) from 0 to 2; sqrt was called at " +
          e.at +
          "; change the operand before the call where it has no finite derivative: a mask after it comes too late, as "
          "0 * inf is NaN");
}

TEST_CASE("each check can be left out") {
  {
    const DetectAnomaly scope({.check_forward = false});
    CHECK(values(log(fixed({0})))[0] == -kInfinity);
    CHECK_THROWS_AS(sqrt(leaf({0})).sum().backward(), NonFiniteError);
  }
  const DetectAnomaly scope({.check_backward = false});
  Tensor x = leaf({0});
  sqrt(x).sum().backward();
  CHECK(values(x.grad())[0] == kInfinity);
  CHECK_THROWS_AS(log(fixed({0})), NonFiniteError);
}

TEST_CASE("outside the scope nothing is checked and nothing kept") {
  Tensor x = leaf({0});
  { const DetectAnomaly scope; }
  Tensor y = sqrt(x);
  y.sum().backward();
  CHECK(values(x.grad())[0] == kInfinity);
  CHECK(y.grad_fn()->trace() == nullptr);
}

TEST_CASE("only the thread with the scope is followed") {
  const DetectAnomaly scope;
  double made = 0;
  std::thread([&] { made = log(zeros({1}, float64)).item<double>(); }).join();
  CHECK(made == -kInfinity);
}

TEST_CASE("threads with scopes of their own do not disturb each other", "[B84]") {
  std::vector<std::thread> threads;
  std::vector<std::size_t> writes(4);
  for (std::size_t k = 0; k < writes.size(); ++k)
    threads.emplace_back([&writes, k] {
      const DetectAnomaly scope;
      const GraphBudget budget(1 << 20);
      Tensor x = leaf({1, 2}), total = zeros({2}, float64);
      for (int i = 0; i < 50; ++i) {
        (x * x).sum().backward();
        total.add_(x.grad());
      }
      writes[k] = mutation_log(total).size();
    });
  for (std::thread& t : threads) t.join();
  CHECK(writes == std::vector<std::size_t>(4, 50));
}

TEST_CASE("an error in a backward pass names the forward call", "[B86]") {
  const DetectAnomaly scope;
  Tensor x = leaf({1, 2});
  Tensor y = exp(x);
  const int called = __LINE__ - 1;
  y.sum().backward();

  const std::string freed = message_of<AutogradError>([&] { y.sum().backward(); });

  CHECK(contains(freed, "was freed by an earlier backward()"));
  CHECK(contains(freed, "(in the backward of exp, called at "));
#if TAPER_TEST_LINES
  CHECK(contains(freed, "anomaly_test.cpp:" + std::to_string(called) + ")"));
#else
  (void)called;
#endif

  Tensor z = x * 3;
  register_hook(z, [](const Tensor&) -> Tensor { throw std::out_of_range("from a hook"); });
  CHECK_THROWS_WITH(z.sum().backward(), Catch::StartsWith("from a hook"));
  Tensor u = x * 3;
  register_hook(u, [](const Tensor&) -> Tensor { return zeros({5}); });
  CHECK(contains(message_of<AutogradError>([&] { u.sum().backward(); }), "(in the backward of mul, called at "));
}

TEST_CASE("a recorded backward pass inside the scope is right and its errors name the call") {
  const DetectAnomaly scope;
  Tensor x = leaf({2, 3});
  Tensor g = autograd::grad({(x * x * x).sum()}, {x}, {}, {.create_graph = true})[0];
  CHECK(values(g) == Values{12, 27});
  CHECK(values(autograd::grad({g.sum()}, {x})[0]) == Values{12, 18});
}

TEST_CASE("a whole training step passes inside the scope") {
  const DetectAnomaly scope;
  nn::Sequential model(nn::Linear(3, 4), nn::ReLU(), nn::BatchNorm1d(4), nn::Linear(4, 2));
  optim::SGD sgd(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  for (int i = 0; i < 3; ++i) {
    sgd.zero_grad();
    cross_entropy(model(randn({5, 3})), tensor({0, 1, 0, 1, 1}, int64)).backward();
    sgd.step();
  }
  CHECK(mutation_log(model.parameters()[0]).size() == 4);  // the initial values, three steps
}
