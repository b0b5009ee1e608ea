#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/attention.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/softmax.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include <limits>

#include "support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }

}  // namespace

TEST_CASE("attention averages the values that a query may see") {
  const Tensor q = zeros({1, 2, 2}, float64), v = tensor({{{1., 10.}, {3., 30.}}}, float64);
  CHECK(values(scaled_dot_product_attention(q, q, v)) == Values{2, 20, 2, 20});
  CHECK(values(scaled_dot_product_attention(q, q, v, {}, 0, true)) == Values{1, 10, 2, 20});
  const Tensor second = tensor({{false, true}, {true, true}});
  CHECK(values(scaled_dot_product_attention(q, q, v, second)) == Values{3, 30, 2, 20});
  CHECK_THROWS_AS(scaled_dot_product_attention(q, q, v, second, 0, true), ValueError);
  CHECK_THROWS_WITH(scaled_dot_product_attention(q, zeros({1, 3, 2}, float64), v), Contains("3 keys but 2 values"));
  CHECK_THROWS_AS(scaled_dot_product_attention(q, zeros({1, 2, 3}, float64), v), ShapeError);
}

TEST_CASE("a query that sees nothing gets zeros and gives zero gradients, never NaN", "[B41]") {
  for (const bool floating : {false, true}) {
    manual_seed(1);
    Tensor q = randn({1, 2, 2}, float64).requires_grad_(), k = randn({1, 2, 2}, float64).requires_grad_();
    Tensor v = tensor({{{1., 10.}, {3., 30.}}}, float64).requires_grad_();
    Tensor mask = tensor({{false, false}, {true, true}});
    if (floating) mask = where(mask, zeros({}, float64), -std::numeric_limits<double>::infinity());
    const Tensor y = scaled_dot_product_attention(q, k, v, mask);
    CHECK(values(y)[0] == 0);
    CHECK(values(y)[1] == 0);
    y.sum().backward();
    CHECK(values(q.grad())[0] == 0);
    CHECK(values(q.grad())[1] == 0);
    for (const Tensor& t : {q.grad(), k.grad(), v.grad()})
      for (const double g : values(t)) CHECK(g == g);
    CHECK(values(v.grad())[0] + values(v.grad())[2] == Approx(1));
  }
}

TEST_CASE("attention has derivatives by all of its operands") {
  manual_seed(1);
  TensorList in{randn({2, 3}, float64), randn({4, 3}, float64), randn({4, 2}, float64), randn({2, 4}, float64)};
  for (Tensor& t : in) t.requires_grad_();
  const auto f = [](const TensorList& t) { return TensorList{scaled_dot_product_attention(t[0], t[1], t[2], t[3])}; };
  CHECK(autograd::gradcheck(f, in));
  CHECK(autograd::gradgradcheck(f, in));
}
