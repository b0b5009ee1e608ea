#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/loss.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/softmax.h>
#include <taper/ops/view.h>

#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/message.h"

using namespace taper;

namespace {

Tensor wave(IntSpan sizes, double phase = 0) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return arange(n, {.dtype = float64}).mul(0.7).add(phase).sin().mul(2).reshape(sizes);
}
/// Class indices that run through all classes, the third of each group of four being -100.
Tensor indices(IntSpan sizes, std::int64_t classes) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  std::vector<std::int64_t> t(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) t[std::size_t(i)] = i % 4 == 2 ? -100 : i * 7 % classes;
  return from_vector(std::move(t)).to(default_device()).view(sizes);
}
std::vector<double> elements(const Tensor& t) { return t.detach().to(float64).to_vector<double>(); }

void check_near(const Tensor& got, std::vector<double> want, double tolerance = 1e-6) {
  const std::vector<double> v = elements(got);
  REQUIRE(v.size() == want.size());
  for (std::size_t i = 0; i < v.size(); ++i) CHECK(std::abs(v[i] - want[i]) <= tolerance);
}

}  // namespace

TEST_CASE("cross entropy with every target ignored is NaN, 0 or [0], and its gradient 0", "[B37]") {
  const Tensor target = tensor({-100, -100});
  const auto loss_and_grad = [&](Reduction r) {
    const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}}, float64).requires_grad_();
    const Tensor loss = cross_entropy(x, target, {.reduction = r});
    loss.sum().backward();
    check_near(x.grad(), {0, 0, 0, 0}, 0);
    return elements(loss);
  };

  CHECK(std::isnan(loss_and_grad(Reduction::mean)[0]));
  CHECK(loss_and_grad(Reduction::sum) == std::vector<double>{0});
  CHECK(loss_and_grad(Reduction::none) == std::vector<double>{0, 0});
}

TEST_CASE("an ignored element gets no gradient and does not count in the mean", "[B37]") {
  const Tensor x = tensor({{1.0, 2.0, 3.0}, {1.0, 2.0, 3.0}}).requires_grad_();
  const Tensor loss = cross_entropy(x, tensor({2, 7}), {.ignore_index = 7});

  loss.backward();
  CHECK(loss.item<float>() == Approx(.407606).epsilon(1e-5));
  check_near(x.grad(), {.090031, .244728, -.334759, 0, 0, 0});
}

TEST_CASE("an ignored element with infinite logits leaves no NaN") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor x = tensor({{infinity, infinity}, {1.0, 2.0}}, float64).requires_grad_();

  const Tensor loss = cross_entropy(x, tensor({-100, 1}));
  loss.backward();
  CHECK(loss.item<double>() == Approx(.313262).epsilon(1e-5));
  CHECK(elements(x.grad())[0] == 0);
}

TEST_CASE("an infinite weight of a class that is no element's target does not count") {
  const Tensor weight = tensor({1., 1., std::numeric_limits<double>::infinity()}), target = tensor({0, 1});
  for (const bool columns : {false, true}) {
    Tensor x = (columns ? zeros({1, 3, 2}) : zeros({2, 3})).requires_grad_();
    const Tensor loss = cross_entropy(x, columns ? target.unsqueeze(0) : target, {.weight = weight});
    loss.backward();
    CHECK(loss.item<double>() == Approx(std::log(3)));
    const Tensor slope = columns ? x.grad()[0].t() : x.grad();
    CHECK(slope.allclose(tensor({{-1. / 3, 1. / 6, 1. / 6}, {1. / 6, -1. / 3, 1. / 6}}, slope.dtype()), 1e-6));
  }
}

TEST_CASE("label smoothing and class weights, alone and together", "[B38]") {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 0.4}}), target = tensor({-100, 1}), weight = tensor({.2, .3});
  const auto loss = [&](CrossEntropyOptions o) { return cross_entropy(x, target, o).item<float>(); };

  CHECK(loss({}) == Approx(2.671645).epsilon(1e-6));
  CHECK(loss({.label_smoothing = .1}) == Approx(2.541645).epsilon(1e-6));
  CHECK(loss({.weight = weight}) == Approx(2.671645).epsilon(1e-6));
  CHECK(loss({.weight = weight, .reduction = Reduction::sum}) == Approx(.801493).epsilon(1e-6));
  CHECK(loss({.weight = weight, .label_smoothing = .1}) == Approx(2.540451).epsilon(1e-6));
  CHECK(loss({.weight = weight, .reduction = Reduction::sum, .label_smoothing = .1}) == Approx(.762135).epsilon(1e-6));
  CHECK(elements(cross_entropy(x, target, {.reduction = Reduction::none, .label_smoothing = .1}))[0] == 0);
}

TEST_CASE("cross entropy is nll_loss of log_softmax for every shape and option") {
  for (const IntVec& shape : {IntVec{5, 3}, IntVec{2, 3, 7}, IntVec{2, 3, 20, 30}, IntVec{3}}) {
    IntVec target_shape = shape;
    target_shape.erase(target_shape.begin() + (shape.size() == 1 ? 0 : 1));
    const Tensor x = wave(shape), target = indices(target_shape, 3), weight = tensor({.5, 1.5, 2.0}, float64);
    for (const Reduction r : {Reduction::none, Reduction::mean, Reduction::sum}) {
      const Tensor a = cross_entropy(x, target, {.weight = weight, .reduction = r});
      const Tensor b = nll_loss(log_softmax(x, shape.size() == 1 ? 0 : 1), target, {.weight = weight, .reduction = r});
      CHECK(a.sizes() == b.sizes());
      check_near(a, elements(b), 1e-12);
    }
  }
}

TEST_CASE("gradients of the losses over classes are right, twice", "[gradcheck]") {
  const Tensor weight = tensor({.5, 1.5, 2.0}, float64);
  for (const IntVec& shape : {IntVec{4, 3}, IntVec{2, 3, 2}, IntVec{3}}) {
    IntVec target_shape = shape;
    target_shape.erase(target_shape.begin() + (shape.size() == 1 ? 0 : 1));
    const Tensor target = indices(target_shape, 3);
    for (const Reduction r : {Reduction::none, Reduction::mean, Reduction::sum}) {
      const TensorList x = {wave(shape, 0.3).requires_grad_()};
      const auto cross = [&](const TensorList& t) {
        return cross_entropy(t[0], target, {.weight = weight, .reduction = r, .label_smoothing = .2});
      };
      CHECK(autograd::gradcheck(cross, x));
      CHECK(autograd::gradgradcheck(cross, x));
      const auto nll = [&](const TensorList& t) {
        return nll_loss(t[0].square(), target, {.weight = weight, .reduction = r});
      };
      CHECK(autograd::gradcheck(nll, x));
      CHECK(autograd::gradgradcheck(nll, x));
    }
  }
}

TEST_CASE("the fused gradient equals the recorded one") {
  const Tensor x = wave({2, 3, 300}).requires_grad_(), target = indices({2, 300}, 3);
  const auto grad_of = [&](bool recorded) {
    const Tensor loss = cross_entropy(x, target, {.label_smoothing = .1});
    return autograd::grad({loss}, {x}, {}, {.create_graph = recorded})[0];
  };

  check_near(grad_of(false), elements(grad_of(true)), 1e-14);
}

TEST_CASE("class probabilities are targets too", "[gradcheck]") {
  const Tensor x = wave({4, 3}).requires_grad_(), p = softmax(wave({4, 3}, 1), 1).detach();
  const Tensor target = p.clone().requires_grad_(), weight = tensor({.5, 1.5, 2.0}, float64);
  const auto loss = [&](const TensorList& t) {
    return cross_entropy(t[0], t[1], {.weight = weight, .label_smoothing = .1});
  };

  check_near(cross_entropy(x, p), elements(sum(log_softmax(x, 1).mul(p)).div(-4)), 1e-12);
  CHECK(autograd::gradcheck(loss, {x, target}));
  // An index is a probability of 1.
  const Tensor one_hot = tensor({{0.0, 1.0, 0.0}, {0.0, 1.0, 0.0}}, float64), few = x.detach().slice(0, 0, 2);
  check_near(cross_entropy(few, one_hot), elements(cross_entropy(few, tensor({1, 1}))), 1e-12);
}

TEST_CASE("a target that is no class is reported with its place") {
  const Tensor x = zeros({2, 3, 4});
  const Tensor target = tensor({{0, 0, 0, 0}, {0, 0, 3, 0}});

  CHECK(message_of<IndexError>([&] { cross_entropy(x, target); }) ==
        "cross_entropy: target[1, 2] is 3, which is not a class: input has 3 classes, from 0 to 2, and ignore_index is "
        "-100");
  CHECK_NOTHROW(cross_entropy(x, target, {.ignore_index = 3}));
  CHECK_THROWS_AS(nll_loss(zeros({2, 3}), tensor({0, -1})), IndexError);
}

TEST_CASE("arguments of losses that do not fit are explained") {
  const Tensor x = empty({2, 3});

  CHECK(message_of<DTypeError>([&] { cross_entropy(x, empty({2})); }) ==
        "cross_entropy: targets must be class indices (int64), got float32[2] on cpu; use mse_loss() for real-valued "
        "targets");
  CHECK(message_of<ShapeError>([&] { cross_entropy(x, zeros({3}, int64)); }) ==
        "cross_entropy: target must be [2] to go with input [2, 3], got [3]");
  CHECK(message_of<ShapeError>([&] { cross_entropy(x, zeros({2}, int64), {.weight = ones({2})}); }) ==
        "cross_entropy: weight must be [3], one number for each class of input [2, 3], got [2]");
  CHECK_THROWS_AS(cross_entropy(x, zeros({2}, int64), {.weight = ones({3}, float64)}), DTypeError);
  CHECK_THROWS_AS(cross_entropy(x, zeros({2}, int64), {.label_smoothing = 1.5}), ValueError);
  CHECK_THROWS_AS(cross_entropy(x, zeros({2, 3}, int64)), DTypeError);
  CHECK_THROWS_AS(cross_entropy(empty({2, 3, 4}), zeros({2, 3}, int64)), ShapeError);
  CHECK_THROWS_AS(cross_entropy(empty({2, 3}).to(int64), zeros({2}, int64)), DTypeError);
  CHECK_THROWS_AS(nll_loss(x, empty({2})), DTypeError);
}

TEST_CASE("losses of no elements: the sum is 0, the mean NaN") {
  const Tensor x = empty({0, 3}), target = empty({0}, int64);

  CHECK(std::isnan(cross_entropy(x, target).item<float>()));
  CHECK(cross_entropy(x, target, {.reduction = Reduction::sum}).item<float>() == 0);
  CHECK(cross_entropy(empty({2, 3, 0}), empty({2, 0}, int64), {.reduction = Reduction::none}).sizes() == IntSpan{2, 0});
  CHECK(std::isnan(mse_loss(x, x).item<float>()));
  CHECK(cross_entropy(empty({2, 3}, float32, meta), empty({2}, int64, meta)).device() == meta);
}

TEST_CASE("mse_loss refuses shapes that would broadcast", "[B24]") {
  CHECK(message_of<ShapeError>([] {
          mse_loss(tensor({{1.0}, {2.0}}), tensor({1.0, 2.0}));
        }) ==
        "mse_loss: input [2, 1] and target [2] must have the same shape; bring one into the other's with "
        "target.view_as(input)");
  CHECK_THROWS_AS(mse_loss(empty({2, 1}), empty({2, 1, 1, 1})), ShapeError);
  CHECK_THROWS_AS(l1_loss(empty({5, 4}), empty({5})), ShapeError);
}

TEST_CASE("mse_loss and l1_loss", "[gradcheck]") {
  const Tensor a = tensor({{1.0, 2.0}, {5.0, 4.0}}, float64), b = tensor({{1.0, 4.0}, {2.0, 4.0}}, float64);

  CHECK(mse_loss(a, b).item<double>() == 13.0 / 4);
  CHECK(mse_loss(a, b, Reduction::sum).item<double>() == 13);
  CHECK(elements(mse_loss(a, b, Reduction::none)) == std::vector<double>{0, 4, 9, 0});
  CHECK(l1_loss(a, b).item<double>() == 5.0 / 4);
  CHECK(mse_loss(a.t(), b.t()).item<double>() == 13.0 / 4);
  CHECK(mse_loss(a.to(float32), b).dtype() == float64);
  CHECK_THROWS_AS(mse_loss(tensor({1}), tensor({2})), DTypeError);
  for (const Reduction r : {Reduction::none, Reduction::mean, Reduction::sum}) {
    const TensorList in = {wave({2, 3}).requires_grad_(), wave({2, 3}, 1).requires_grad_()};
    const auto mse = [r](const TensorList& t) { return mse_loss(t[0], t[1], r); };
    const auto l1 = [r](const TensorList& t) { return l1_loss(t[0], t[1], r); };
    CHECK(autograd::gradcheck(mse, in));
    CHECK(autograd::gradgradcheck(mse, in));
    CHECK(autograd::gradcheck(l1, in));
  }
}

TEST_CASE("mse_loss of many elements is summed in double") {
  CHECK(mse_loss(ones({20'000'000}), zeros({20'000'000}), Reduction::sum).item<float>() == 20'000'000);
}

TEST_CASE("class weights that require grad are refused: the loss has no derivative by them") {
  Tensor w = ones({3}), x = zeros({1, 3});
  w.requires_grad_(), x.requires_grad_();
  const Tensor target = zeros({1}, int64);
  CHECK_THROWS_AS(cross_entropy(x, target, {.weight = w}), AutogradError);
  CHECK_THROWS_AS(cross_entropy(x, target, {.weight = w, .label_smoothing = 0.1}), AutogradError);
  CHECK_THROWS_AS(nll_loss(x, target, {.weight = w}), AutogradError);
  const NoGradGuard no_grad;
  CHECK(cross_entropy(x, target, {.weight = w}).item<double>() > 0);
}
