#include <taper/autograd/engine.h>
#include <taper/autograd/hooks.h>
#include <taper/factory.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include "tests/support/catch.h"

using namespace taper;

namespace {
Tensor first_made_without_grad(const Tensor& base) {
  const NoGradGuard no_grad;
  return base.narrow(0, 0, 1);
}
}  // namespace

TEST_CASE("a view made without grad is a leaf of its own that requires grad as its base does") {
  const Tensor x = tensor({2.0, 3.0}).requires_grad_(), y = x * 2;

  const Tensor of_leaf = first_made_without_grad(x), of_result = first_made_without_grad(y);
  const Tensor of_plain = first_made_without_grad(tensor({2.0, 3.0}));

  CHECK(of_leaf.requires_grad());
  CHECK(of_leaf.is_leaf());
  CHECK(of_result.requires_grad());
  CHECK(of_result.is_leaf());
  CHECK_FALSE(of_plain.requires_grad());
  (of_leaf * of_leaf).sum().backward();
  CHECK(of_leaf.grad().item<float>() == 4);
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("what is computed from a view made without grad has its gradient in the view, wherever it is asked for") {
  Tensor x = tensor({2.0, 3.0}).requires_grad_();
  const Tensor view = first_made_without_grad(x), of_result = first_made_without_grad(x * 2);

  // Beside uses that are tracked, which alone count for the base.
  (view * view * 3 + x.narrow(0, 0, 1) * 5 + of_result * 7).sum().backward();
  CHECK(view.grad().item<float>() == 12);
  CHECK(of_result.grad().item<float>() == 7);
  CHECK(x.grad().to_vector<float>() == std::vector<float>{5, 0});

  CHECK(autograd::grad({(view * 4).sum()}, {view})[0].item<float>() == 4);
  CHECK_THROWS_AS(autograd::grad({(view * 4).sum()}, {x}), AutogradError);
  double seen = 0;
  register_hook(view, [&](const Tensor& g) { seen = g.item<double>(); });
  (first_made_without_grad(view) * 9).sum().backward();  // a view of the view is one more leaf
  CHECK(seen == 0);
  (view.narrow(0, 0, 1) * 9).sum().backward();  // made while recording: part of the view
  CHECK(seen == 9);
  CHECK(view.grad().item<float>() == 12 + 9);
}

TEST_CASE("a view made without grad may be written without grad only") {
  const Tensor x = tensor({2.0, 3.0}).requires_grad_(), y = x * 2;
  Tensor view = first_made_without_grad(y);

  CHECK_THROWS_AS(view.mul_(2), AutogradError);
  CHECK(y.to_vector<float>() == std::vector<float>{4, 6});
  {
    const NoGradGuard no_grad;
    view.mul_(2);
  }
  CHECK(y.to_vector<float>() == std::vector<float>{8, 6});
}

TEST_CASE("a view made without grad is refused once its base was written: it has no history to tell") {
  const Tensor x = tensor({2.0, 3.0}).requires_grad_();
  Tensor y = x * 2;
  const Tensor view = first_made_without_grad(y);

  y.neg_();

  CHECK_THROWS_WITH(view.unsqueeze(0), Catch::Contains("NoGradGuard"));
}
