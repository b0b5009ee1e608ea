#include <taper/factory.h>
#include <taper/nn/clip_grad.h>

#include <cmath>
#include <limits>

#include "support/catch.h"

using namespace taper;
using namespace taper::nn::utils;
using Catch::Matchers::Contains;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor with_grad(std::initializer_list<double> values, DType dtype = float64) {
  const Tensor g = from_vector(std::vector<double>(values)).to(dtype);
  Tensor p = zeros(g.sizes(), dtype).requires_grad_();
  p.set_grad(g);
  return p;
}

}  // namespace

TEST_CASE("gradients are scaled together to the norm that is allowed") {
  for (const DType dtype : {float32, float64}) {
    Tensor a = with_grad({3}, dtype), b = with_grad({0, 4}, dtype), none = zeros({1}).requires_grad_();
    CHECK(clip_grad_norm_({a, b, none}, 1).item<double>() == Approx(5));
    CHECK(a.grad().item<double>() == Approx(.6));
    CHECK(b.grad().to(float64).to_vector<double>()[1] == Approx(.8));
    CHECK_FALSE(none.grad().defined());
    CHECK(clip_grad_norm_({a, b}, 7).item<double>() == Approx(1));
    CHECK(a.grad().item<double>() == Approx(.6));
  }
}

TEST_CASE("norms of other orders") {
  const auto norm = [](double p) {
    Tensor a = with_grad({-3}), b = with_grad({1, 4});
    return clip_grad_norm_({a, b}, 1, p).item<double>();
  };
  CHECK(norm(1) == Approx(8));
  CHECK(norm(3) == Approx(std::cbrt(92.)));
  CHECK(norm(.5) == Approx(std::pow(std::sqrt(3.) + 1 + 2, 2)));
  CHECK(norm(kInfinity) == 4);
  CHECK_THROWS_AS(norm(0), ValueError);
  CHECK_THROWS_AS(clip_grad_norm_(with_grad({1}), -1), ValueError);
  CHECK(clip_grad_norm_(zeros({1}).requires_grad_(), 1).item<double>() == 0);
  CHECK(clip_grad_norm_(TensorList{}, 1).item<double>() == 0);
}

TEST_CASE("a norm that is not finite spoils the gradients, or is an error before anything is written") {
  Tensor a = with_grad({1}), b = with_grad({kInfinity});
  CHECK_THROWS_WITH(clip_grad_norm_({a, b}, 1, 2, true), Contains("the norm of the gradients is inf"));
  CHECK(a.grad().item<double>() == 1);
  clip_grad_norm_({a, b}, 1);
  CHECK(a.grad().item<double>() == 0);
  CHECK(std::isnan(b.grad().item<double>()));
}

TEST_CASE("single elements of gradients are limited") {
  Tensor a = with_grad({-3, .5, 2});
  clip_grad_value_(a, 1);
  CHECK(a.grad().to_vector<double>() == std::vector<double>{-1, .5, 1});
  CHECK_THROWS_AS(clip_grad_value_(a, -1), ValueError);
}
