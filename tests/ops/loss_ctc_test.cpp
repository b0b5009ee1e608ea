#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/loss_ctc.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/softmax.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include <cmath>
#include <limits>

#include "support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }

}  // namespace

TEST_CASE("a target is as probable as all of its alignments together") {
  // Two steps, classes blank, a: "a" is blank a, a blank or a a.
  const Tensor p = tensor({{{0.6, 0.4}}, {{0.3, 0.7}}}, float64);
  const Tensor one = tensor({1}), two = tensor({2});
  CHECK(ctc_loss(p.log(), tensor({{1}}), two, one).item<double>() == Approx(-std::log(1 - 0.6 * 0.3)));
  CHECK(ctc_loss(p.log(), tensor({{1}}), one, one).item<double>() == Approx(-std::log(0.4)));
  CHECK(ctc_loss(p.log(), tensor({{1}}), two, tensor({0})).item<double>() == Approx(-std::log(0.6 * 0.3)));
  CHECK(ctc_loss(p.log().squeeze(1), tensor({1}), tensor(2), tensor(1)).item<double>() ==
        Approx(-std::log(1 - 0.6 * 0.3)));
  // A class twice needs a blank between: no alignment in two steps.
  const Tensor twice = ctc_loss(p.log(), tensor({{1, 1}}), two, two, {.reduction = Reduction::sum});
  CHECK(twice.item<double>() == std::numeric_limits<double>::infinity());
  CHECK(ctc_loss(p.log(), tensor({{1, 1}}), two, two, {.zero_infinity = true}).item<double>() == 0);
}

TEST_CASE("the loss of logits has first and second derivatives, and none where it is infinite") {
  manual_seed(1);
  const Tensor x = randn({4, 2, 3}, float64).requires_grad_();
  const auto f = [](const TensorList& t) {
    return TensorList{ctc_loss(log_softmax(t[0], 2), tensor({1, 2, 2}), tensor({4, 3}), tensor({2, 1}))};
  };
  CHECK(autograd::gradcheck(f, {x}));
  CHECK(autograd::gradgradcheck(f, {x}));
  Tensor y = randn({2, 1, 2}, float64).requires_grad_();
  ctc_loss(log_softmax(y, 2), tensor({{1, 1}}), tensor({2}), tensor({2}), {.zero_infinity = true}).backward();
  CHECK(values(y.grad()) == Values{0, 0, 0, 0});
}

TEST_CASE("lengths and classes out of range are refused") {
  const Tensor lp = zeros({2, 1, 3}), one = tensor({1});
  CHECK_THROWS_WITH(ctc_loss(lp, tensor({{1}}), tensor({3}), one), Contains("input_lengths has 3, expected 0 to 2"));
  CHECK_THROWS_AS(ctc_loss(lp, tensor({{3}}), one, one), ValueError);
  CHECK_THROWS_AS(ctc_loss(lp, tensor({{1}}), one, tensor({2})), ShapeError);
  CHECK_THROWS_AS(ctc_loss(lp, tensor({{1}}), one, one, {.blank = 3}), ValueError);
}
