// InferenceMode: nothing is recorded, and what is made there stays out of graphs.
#include <taper/autograd/engine.h>
#include <taper/autograd/node.h>
#include <taper/factory.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include <thread>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {
Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }

Tensor made_in_inference_mode() {
  const InferenceMode mode;
  return tensor({1.0, 2.0}, float64);
}
}  // namespace

TEST_CASE("in InferenceMode nothing is recorded, even where a guard asks for it") {
  const Tensor x = leaf({2, 3});
  {
    const InferenceMode mode;
    CHECK(InferenceMode::is_enabled());
    CHECK_FALSE(GradMode::is_enabled());
    CHECK_FALSE((x * 2).requires_grad());
    const EnableGradGuard record;
    CHECK_FALSE((x * 2).requires_grad());
    {
      const InferenceMode off(false);
      CHECK_FALSE(InferenceMode::is_enabled());
      CHECK((x * 2).requires_grad());
      CHECK_FALSE((x * 2).is_inference());
    }
    CHECK(InferenceMode::is_enabled());
    bool elsewhere = true;
    std::thread([&] { elsewhere = InferenceMode::is_enabled(); }).join();
    CHECK_FALSE(elsewhere);
  }
  CHECK_FALSE(InferenceMode::is_enabled());
  CHECK(GradMode::is_enabled());
  CHECK((x * 2).requires_grad());
}

TEST_CASE("an inference tensor is one for good, with its views and detached copies; a clone is not") {
  const Tensor n = made_in_inference_mode();
  CHECK(n.is_inference());
  CHECK(n.view({2, 1}).is_inference());
  CHECK(n.detach().is_inference());
  CHECK_FALSE(n.clone().is_inference());
  CHECK_FALSE((n * 2).is_inference());
  Tensor normal = leaf({2, 3});
  const InferenceMode mode;
  CHECK_FALSE(normal.slice(0, 0, 1).is_inference());
  CHECK((normal * 2).is_inference());
}

TEST_CASE("outside, an inference tensor can be read, but not written, tracked or kept for a backward pass") {
  Tensor n = made_in_inference_mode();
  const Tensor x = leaf({2, 3});
  CHECK_THROWS_WITH(n.add_(1), Catch::Contains("add_") && Catch::Contains("clone()"));
  CHECK_THROWS_AS(n.select(0, 0).zero_(), AutogradError);
  {
    const NoGradGuard no_grad;
    CHECK_THROWS_AS(n.add_(1), AutogradError);
  }
  CHECK_THROWS_WITH(n.requires_grad_(), Catch::Contains("InferenceMode"));
  CHECK_THROWS_WITH(x * n, Catch::Contains("'other'") && Catch::Contains("clone()"));
  CHECK_THROWS_AS((x * 1).mul_(n), AutogradError);
  CHECK(values(n) == Values{1, 2});

  (x + n).sum().backward();
  CHECK(values(x.grad()) == Values{1, 1});
  x.grad().zero_();
  (x * n.clone()).sum().backward();
  CHECK(values(x.grad()) == Values{1, 2});
  Tensor y = x * 1;
  y.copy_(n);
  CHECK(values(y) == Values{1, 2});

  const InferenceMode mode;
  n.add_(1);
  CHECK(values(n) == Values{2, 3});
}

TEST_CASE("a normal tensor may be written in InferenceMode, and saved values notice") {
  Tensor x = leaf({2, 3}), b = tensor({1.0, 2.0}, float64);
  const Tensor y = (x * b).sum();
  {
    const InferenceMode mode;
    x.mul_(2);
    b.mul_(2);
  }
  CHECK(values(x) == Values{4, 6});
  CHECK(x.requires_grad());
  CHECK_THROWS_AS(y.backward(), InplaceConflictError);
}

TEST_CASE("a view made in InferenceMode is refused like one made under NoGradGuard") {
  Tensor x = leaf({2, 3});
  Tensor y = x * 1;
  Tensor v = [&] {
    const InferenceMode mode;
    return y.slice(0, 0, 1);
  }();
  CHECK_THROWS_WITH(v.mul_(2), Catch::Contains("InferenceMode"));
  CHECK(v.requires_grad());
  y.mul_(2);
  CHECK_THROWS_WITH(v * 2, Catch::Contains("InferenceMode"));
}
