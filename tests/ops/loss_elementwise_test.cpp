#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/loss_elementwise.h>
#include <taper/ops/loss_margin.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }
constexpr Reduction none = Reduction::none;

}  // namespace

TEST_CASE("binary cross entropy of logits is exact far out, and that of probabilities is bounded at 0 and 1", "[B40]") {
  Tensor x = tensor({0., 0., -100., -100., 100., 100.}, float64).requires_grad_();
  const Tensor t = tensor({0., 1., 0., 1., 0., 1.}, float64);
  const Tensor y = binary_cross_entropy_with_logits(x, t, {}, none);
  const Values want{std::numbers::ln2, std::numbers::ln2, 0, 100, 100, 0};
  for (std::size_t i = 0; i < 6; ++i) CHECK(values(y)[i] == Approx(want[i]).margin(1e-12));
  y.sum().backward();
  const Values slopes{0.5, -0.5, 0, -1, 1, 0};
  for (std::size_t i = 0; i < 6; ++i) CHECK(values(x.grad())[i] == Approx(slopes[i]).margin(1e-12));

  CHECK(values(binary_cross_entropy(tensor({0., 1., 0.}), tensor({1., 0., 0.}), {}, none)) == Values{100, 100, 0});
  Tensor p = tensor({0., 1., 0.5}, float64).requires_grad_();
  binary_cross_entropy(p, tensor({0., 1., 1.}, float64)).backward();
  for (const double g : values(p.grad())) CHECK(g == g);
  CHECK_THROWS_WITH(binary_cross_entropy(tensor({1.5}), tensor({1.})), Contains("must hold probabilities"));
}

TEST_CASE("weights of elements and of positives multiply what they are for") {
  const Tensor x = tensor({0.3, -0.7}, float64), t = tensor({1., 0.}, float64);
  const Values plain = values(binary_cross_entropy_with_logits(x, t, {}, none));
  const Values heavy = values(binary_cross_entropy_with_logits(x, t, tensor({2., 3.}, float64), none));
  const Values positive = values(binary_cross_entropy_with_logits(x, t, {}, none, tensor(4., float64)));
  CHECK(heavy[0] == Approx(2 * plain[0]));
  CHECK(heavy[1] == Approx(3 * plain[1]));
  CHECK(positive[0] == Approx(4 * plain[0]));
  CHECK(positive[1] == Approx(plain[1]));
}

TEST_CASE("losses that bend from squares to lines") {
  const Tensor x = tensor({0., 0.5, 3.}, float64), t = zeros({3}, float64);
  CHECK(values(smooth_l1_loss(x, t, none)) == Values{0, 0.125, 2.5});
  CHECK(values(smooth_l1_loss(x, t, none, 0)) == Values{0, 0.5, 3});
  CHECK(values(smooth_l1_loss(x, t, none, 2)) == Values{0, 0.0625, 2});
  CHECK(values(huber_loss(x, t, none, 2)) == Values{0, 0.125, 4});
  CHECK_THROWS_AS(huber_loss(x, t, none, 0), ValueError);
  CHECK_THROWS_AS(smooth_l1_loss(x, t, none, -1), ValueError);
}

TEST_CASE("no loss of elements broadcasts", "[B24]") {
  const Tensor x = zeros({2, 1}), t = zeros({2});
  CHECK_THROWS_AS(huber_loss(x, t), ShapeError);
  CHECK_THROWS_AS(smooth_l1_loss(x, t), ShapeError);
  CHECK_THROWS_AS(binary_cross_entropy(x, t), ShapeError);
  CHECK_THROWS_AS(binary_cross_entropy_with_logits(x, t), ShapeError);
  CHECK_THROWS_AS(kl_div(x, t), ShapeError);
  CHECK_THROWS_AS(soft_margin_loss(x, t), ShapeError);
  CHECK_THROWS_AS(hinge_embedding_loss(x, t), ShapeError);
  CHECK_THROWS_AS(poisson_nll_loss(x, t), ShapeError);
}

TEST_CASE("divergences count nothing where the target is zero, also in the gradient") {
  Tensor x = tensor({{std::log(0.5), std::log(0.5)}}, float64).requires_grad_();
  Tensor t = tensor({{1., 0.}}, float64).requires_grad_();
  const Tensor y = kl_div(x, t, KlReduction::batchmean);
  CHECK(y.item<double>() == Approx(std::numbers::ln2));
  y.backward();
  CHECK(values(x.grad()) == Values{-1, 0});
  for (const double g : values(t.grad())) CHECK(g == g);
  CHECK(kl_div(x, tensor({{0., -1e9}}, float64), KlReduction::sum, true).item<double>() == Approx(std::numbers::ln2));
}

TEST_CASE("likelihoods of counts and of values with a variance") {
  const Tensor x = tensor({1., 2.}, float64), t = tensor({0., 3.}, float64);
  CHECK(values(poisson_nll_loss(x, t, {.reduction = none}))[1] == Approx(std::exp(2.) - 6));
  CHECK(values(poisson_nll_loss(x, t, {.log_input = false, .full = true, .reduction = none}))[0] == Approx(1));
  Tensor v = tensor({4., 0.}, float64).requires_grad_();
  const Tensor y = gaussian_nll_loss(x, t, v, {.eps = 0.25, .reduction = none});
  CHECK(values(y)[0] == Approx(0.5 * (std::log(4.) + 0.25)));
  CHECK(values(y)[1] == Approx(0.5 * (std::log(0.25) + 4)));
  y.sum().backward();
  CHECK(values(v.grad())[1] == Approx(0.5 * (4 - 16)));
  CHECK_THROWS_AS(gaussian_nll_loss(x, t, tensor({-1., 1.}, float64)), ValueError);
  CHECK_THROWS_AS(gaussian_nll_loss(zeros({2, 3}), zeros({2, 3}), zeros({4})), ShapeError);
}

TEST_CASE("losses with a margin") {
  const Tensor a = tensor({1., 2.}, float64), b = tensor({2., 2.}, float64);
  CHECK(values(margin_ranking_loss(a, b, tensor({1., -1.}, float64), 0.5, none)) == Values{1.5, 0.5});
  CHECK(values(hinge_embedding_loss(a, tensor({1., -1.}, float64), 3, none)) == Values{1, 1});
  CHECK(values(soft_margin_loss(a, tensor({1., -1.}, float64), none))[1] == Approx(std::log1p(std::exp(2.))));
  const Tensor u = tensor({{1., 0.}, {1., 0.}}, float64), v = tensor({{1., 0.}, {0., 1.}}, float64);
  const Values c = values(cosine_embedding_loss(u, v, tensor({1., 1.}, float64), 0, none));
  CHECK(c[0] == Approx(0).margin(1e-9));
  CHECK(c[1] == Approx(1));
  CHECK(triplet_margin_loss(u, u, v, {.eps = 0}).item<double>() == 0.5);
  CHECK_THROWS_AS(margin_ranking_loss(a, b, zeros({2, 1}, float64)), ShapeError);
  CHECK_THROWS_AS(cosine_embedding_loss(u, v, zeros({3}, float64)), ShapeError);
}

TEST_CASE("losses of several classes at once") {
  const Tensor x = tensor({{0.1, 0.2, 0.4, 0.8}}, float64);
  CHECK(multi_margin_loss(x, tensor({3})).item<double>() == Approx((0.3 + 0.4 + 0.6) / 4));
  CHECK(multi_margin_loss(x.select(0, 0), tensor(3), {.p = 2}).item<double>() == Approx((0.09 + 0.16 + 0.36) / 4));
  // PyTorch's example: classes 3 and 0; what comes after -1 does not count.
  CHECK(multilabel_margin_loss(x, tensor({{3, 0, -1, 1}})).item<double>() == Approx(0.85));
  CHECK(multilabel_soft_margin_loss(tensor({{0., 0.}}), tensor({{1., 0.}})).item<float>() == Approx(std::numbers::ln2));
  CHECK_THROWS_AS(multi_margin_loss(x, tensor({4})), IndexError);
  CHECK_THROWS_AS(multi_margin_loss(x, tensor({0}), {.p = 3}), ValueError);
  CHECK_THROWS_AS(multilabel_margin_loss(x, tensor({{4, 0, 0, 0}})), IndexError);
}

TEST_CASE("the losses made of other operators have first and second derivatives") {
  manual_seed(2);
  const Tensor x = randn({3, 4}, float64).requires_grad_(), t = rand({3, 4}, float64);
  const std::vector<std::function<Tensor(const Tensor&)>> losses{
      [&](const Tensor& v) { return smooth_l1_loss(v, t); },
      [&](const Tensor& v) { return huber_loss(v, t); },
      [&](const Tensor& v) { return binary_cross_entropy_with_logits(v, t); },
      [&](const Tensor& v) { return kl_div(v, t); },
      [&](const Tensor& v) { return poisson_nll_loss(v, t); },
      [&](const Tensor& v) { return gaussian_nll_loss(v, t, t + 1); },
      [&](const Tensor& v) { return multilabel_soft_margin_loss(v, t); },
      [&](const Tensor& v) {
        return multi_margin_loss(v, tensor({0, 1, 3}), {.p = 2});
      },
  };
  for (const auto& loss : losses) {
    const auto f = [&](const TensorList& in) { return TensorList{loss(in[0])}; };
    CHECK(autograd::gradcheck(f, {x}));
    CHECK(autograd::gradgradcheck(f, {x}));
  }
}
