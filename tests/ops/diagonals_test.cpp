#include <taper/autograd/engine.h>
#include <taper/factory.h>
#include <taper/ops/diagonals.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/rearrange.h>
#include <taper/ops/view.h>

#include <limits>

#include "support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }

}  // namespace

TEST_CASE("triangles of matrices, of batches, of any layout, in place and far off the diagonal") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  CHECK(values(x.tril()) == Values{1, 0, 0, 4, 5, 0});
  CHECK(values(x.triu(1)) == Values{0, 2, 3, 0, 0, 6});
  CHECK(values(x.t().tril(-1)) == Values{0, 0, 2, 0, 3, 6});
  CHECK(values(x.tril(std::numeric_limits<std::int64_t>::max())) == values(x));
  CHECK(values(x.triu(std::numeric_limits<std::int64_t>::min())) == values(x));
  CHECK(values(x.expand({2, 2, 3}).triu(2)) == Values{0, 0, 3, 0, 0, 0, 0, 0, 3, 0, 0, 0});
  Tensor y = ones({2, 4}, float64);
  y.slice(1, 0, 4, 2).tril_();
  CHECK(values(y) == Values{1, 1, 0, 1, 1, 1, 1, 1});
  CHECK_THROWS_WITH(tensor({1}).tril(), Contains("tril: needs a matrix"));
  // What is cut off does not come back as NaN.
  CHECK(values(full({2, 2}, std::numeric_limits<double>::quiet_NaN(), float64).tril(-2)) == Values{0, 0, 0, 0});
}

TEST_CASE("diagonals into matrices and out of them") {
  const Tensor v = tensor({1., 2.}, float64);
  CHECK(values(diag(v)) == Values{1, 0, 0, 2});
  CHECK(values(diag(v, -1)) == Values{0, 0, 0, 1, 0, 0, 0, 2, 0});
  const Tensor m = tensor({{1., 2.}, {3., 4.}}, float64), d = diag(m);
  CHECK(values(d) == Values{1, 4});
  CHECK_FALSE(d.is_alias_of(m));
  CHECK(values(diag_embed(m, 0, 0, 2)) == Values{1, 0, 3, 0, 0, 2, 0, 4});
  CHECK(diagflat(m).sizes() == IntSpan{4, 4});
  CHECK(trace(m).item<double>() == 5);
  CHECK(trace(tensor({{1}}, int32)).dtype() == int64);
  CHECK(values(tril_indices(2, 2)) == Values{0, 1, 1, 0, 0, 1});
  CHECK(values(triu_indices(2, 3, 2)) == Values{0, 2});
  CHECK_THROWS_AS(tril_indices(-1, 2), ValueError);
  CHECK_THROWS_AS(diag(zeros({2, 2, 2})), ShapeError);
  CHECK_THROWS_AS(diag_embed(v, 0, 1, 1), ShapeError);
}

TEST_CASE("parts are replaced in a copy, and gradients go to both sides") {
  Tensor x = ones({2, 2}, float64).requires_grad_(), part = zeros({2}, float64).requires_grad_();
  const Tensor y = select_scatter(x, part, 0, 1);
  CHECK(values(y) == Values{1, 1, 0, 0});
  CHECK(values(x) == Values{1, 1, 1, 1});
  y.sum().backward();
  CHECK(values(x.grad()) == Values{1, 1, 0, 0});
  CHECK(values(part.grad()) == Values{1, 1});
  CHECK(values(diagonal_scatter(x, part)) == Values{0, 1, 1, 0});
  CHECK(values(slice_scatter(x, zeros({2, 1}, float64), 1, 1)) == Values{1, 0, 1, 0});
  CHECK_THROWS_WITH(select_scatter(x, zeros({1}, float64), 0, 1), Contains("src is [1] but what it replaces is [2]"));
}

TEST_CASE("turned, repeated and combined") {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  CHECK(values(x.rot90()) == Values{2, 4, 1, 3});
  CHECK(values(x.rot90(2)) == Values{4, 3, 2, 1});
  CHECK(values(x.rot90(-1)) == Values{3, 1, 4, 2});
  CHECK(values(x.repeat_interleave(2)) == Values{1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(values(x.repeat_interleave(tensor({0, 2}), 0)) == Values{3, 4, 3, 4});
  CHECK_THROWS_AS(x.repeat_interleave(tensor({-1, 2}), 0), ValueError);
  const TensorList grid = meshgrid({tensor({1, 2}), tensor({3, 4, 5})});
  CHECK(values(grid[1]) == Values{3, 4, 5, 3, 4, 5});
  CHECK(meshgrid({tensor({1, 2}), tensor({3, 4, 5})}, "xy")[0].sizes() == IntSpan{3, 2});
  CHECK(values(cartesian_prod({tensor({1, 2}), tensor({3, 4})})) == Values{1, 3, 1, 4, 2, 3, 2, 4});
  CHECK(values(block_diag({x, tensor({5})})) == Values{1, 2, 0, 3, 4, 0, 0, 0, 5});
}
