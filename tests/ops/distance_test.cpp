#include <taper/autograd/engine.h>
#include <taper/factory.h>
#include <taper/ops/distance.h>
#include <taper/ops/pointwise.h>

#include <limits>

#include "support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }

}  // namespace

TEST_CASE("what has length zero stays zero, with finite gradients", "[B31]") {
  Tensor x = tensor({{3., 4.}, {0., 0.}}, float64).requires_grad_();
  const Tensor y = normalize(x);
  CHECK(values(y)[0] == Approx(0.6));
  CHECK(values(y)[1] == Approx(0.8));
  CHECK(values(y)[2] == 0);
  y.sum().backward();
  for (const double g : values(x.grad())) CHECK(g == g);
  Tensor a = tensor({{1., 2.}}, float64).requires_grad_();
  cdist(a, tensor({{1., 2.}}, float64)).sum().backward();
  CHECK(values(a.grad()) == Values{0, 0});
}

TEST_CASE("distances and angles of vectors") {
  const Tensor a = tensor({{0., 0.}, {1., 1.}}, float64), b = tensor({{3., 4.}}, float64);
  CHECK(values(cdist(a, b))[0] == 5);
  CHECK(values(cdist(a, b, 1)) == Values{7, 5});
  CHECK(values(cdist(a, b, std::numeric_limits<double>::infinity())) == Values{4, 3});
  CHECK(values(pairwise_distance(a, b, 2, 0))[0] == 5);
  CHECK(pairwise_distance(a, b, 2, 0, true).sizes() == IntSpan{2, 1});
  CHECK(values(cosine_similarity(tensor({{1., 0.}}), tensor({{1., 1.}})))[0] == Approx(0.70710678));
  CHECK(values(cosine_similarity(tensor({{0., 0.}}), tensor({{1., 1.}}))) == Values{0});
  CHECK_THROWS_AS(cdist(a, zeros({1, 3}, float64)), ShapeError);
  CHECK_THROWS_AS(cosine_similarity(tensor({{1}}), tensor({{1}})), DTypeError);
}

TEST_CASE("entries that are too long are scaled down, the others left alone") {
  const Tensor y = tensor({{3., 4.}, {0.3, 0.4}}, float64).renorm(2, 0, 1);
  CHECK(values(y)[0] == Approx(0.6));
  CHECK(values(y)[2] == 0.3);
  CHECK_THROWS_AS(tensor({1.}).renorm(2, 0, 1), ShapeError);
  CHECK_THROWS_AS(zeros({2, 2}).renorm(0, 0, 1), ValueError);
}
