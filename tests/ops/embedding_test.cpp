#include <taper/autograd/engine.h>
#include <taper/factory.h>
#include <taper/ops/embedding.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/view.h>

#include "support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }

}  // namespace

TEST_CASE("rows looked up twice get both gradients, the padding row none, and frequencies divide") {
  const Tensor at = tensor({0, 2, 2, 1});
  Tensor w = arange(6, {.dtype = float64}).reshape({3, 2}).clone().requires_grad_();
  const Tensor y = embedding(w, at);
  CHECK(values(y) == Values{0, 1, 4, 5, 4, 5, 2, 3});
  y.sum().backward();
  CHECK(values(w.grad()) == Values{1, 1, 1, 1, 2, 2});
  w.zero_grad();
  embedding(w, at, -1).sum().backward();
  CHECK(values(w.grad()) == Values{1, 1, 1, 1, 0, 0});
  w.zero_grad();
  embedding(w, at, {}, true).sum().backward();
  CHECK(values(w.grad()) == Values{1, 1, 1, 1, 1, 1});
  CHECK(values(embedding(w.detach().t().contiguous().t(), at.to(int32))) == values(y));
}

TEST_CASE("a table refuses what it does not hold") {
  const Tensor w = zeros({3, 2});
  CHECK_THROWS_AS(embedding(w, tensor({3})), IndexError);
  CHECK_THROWS_AS(embedding(w, tensor({-1})), IndexError);
  CHECK_THROWS_WITH(embedding(w, tensor({0}), 3), Contains("padding_idx is 3 but weight has 3 rows"));
  CHECK_THROWS_AS(embedding(zeros({3}), tensor({0})), ShapeError);
  CHECK_THROWS_AS(embedding(w, tensor({0.5})), DTypeError);
}

TEST_CASE("rows that are too long are shortened in the table") {
  Tensor w = tensor({{3., 4.}, {0.3, 0.4}, {6., 8.}}, float64);
  embedding_renorm_(w, tensor({0, 1, 0}), 1);
  CHECK(values(w)[0] == Approx(0.6));
  CHECK(values(w)[3] == 0.4);
  CHECK(values(w)[4] == 6);
}

TEST_CASE("bags are summed, averaged or reduced to their largest; empty ones are 0") {
  const Tensor w = tensor({{1., 2.}, {3., 4.}, {5., 0.}}, float64);
  const Tensor at = tensor({0, 1, 2, 2}), begins = tensor({0, 2, 2});
  const auto bag = [&](BagMode mode) { return values(embedding_bag(w, at, begins, {.mode = mode})); };
  CHECK(bag(BagMode::sum) == Values{4, 6, 0, 0, 10, 0});
  CHECK(bag(BagMode::mean) == Values{2, 3, 0, 0, 5, 0});
  CHECK(bag(BagMode::max) == Values{3, 4, 0, 0, 5, 0});
  CHECK(values(embedding_bag(w, at.view({2, 2}), {}, {.mode = BagMode::sum})) == Values{4, 6, 10, 0});
  CHECK(values(embedding_bag(w, at, begins, {.mode = BagMode::mean, .padding_idx = 0})) == Values{3, 4, 0, 0, 5, 0});
  CHECK(values(embedding_bag(w, at, tensor({0, 3}), {.mode = BagMode::sum, .include_last_offset = true})) ==
        Values{9, 6});
  CHECK(values(embedding_bag(w, at.view({2, 2}), {}, {.mode = BagMode::sum}, ones({2, 2}, float64).mul(2))) ==
        Values{8, 12, 20, 0});
  CHECK_THROWS_WITH(embedding_bag(w, at, tensor({1, 2})), Contains("offsets[0] must be 0"));
  CHECK_THROWS_AS(embedding_bag(w, at, begins, {}, ones({4}, float64)), ValueError);
}
