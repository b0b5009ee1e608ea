#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/pad.h>
#include <taper/ops/view.h>

#include "support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }

}  // namespace

TEST_CASE("pads of every mode, of the last dims first, and negative ones that cut") {
  const Tensor x = tensor({{{1, 2, 3}, {4, 5, 6}}});
  CHECK(values(pad(x, {1, 0}, "constant", 9)) == Values{9, 1, 2, 3, 9, 4, 5, 6});
  CHECK(values(pad(x, {0, -1, 1, 0})) == Values{0, 0, 1, 2, 4, 5});
  CHECK(values(pad(x, {2, 1}, "reflect")) == Values{3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5});
  CHECK(values(pad(x, {1, 2}, "replicate")) == Values{1, 1, 2, 3, 3, 3, 4, 4, 5, 6, 6, 6});
  CHECK(values(pad(x, {2, 1}, "circular")) == Values{2, 3, 1, 2, 3, 1, 5, 6, 4, 5, 6, 4});
  CHECK(values(pad(x, {-1, 1}, "replicate")) == Values{2, 3, 3, 5, 6, 6});
  CHECK(pad(x, {0, 0}).equal(x));
  CHECK_FALSE(pad(x, {0, 0}).is_alias_of(x));
  CHECK(pad(zeros({0, 2}), {1, 1}).sizes() == IntSpan{0, 4});
}

TEST_CASE("pads have derivatives, entries that show several times summing theirs") {
  const auto f = [](const TensorList& t) {
    return TensorList{pad(t[0], {1, 2}, "reflect"), pad(t[0], {1, -1}, "constant", 3), pad(t[0], {2, 2}, "circular")};
  };
  CHECK(autograd::gradcheck(f, {arange(6, {.dtype = float64}).reshape({1, 2, 3}).clone().requires_grad_()}));
}

TEST_CASE("pads that do not fit are refused") {
  const Tensor x = zeros({1, 3});
  CHECK_THROWS_AS(pad(x, {1}), ValueError);
  CHECK_THROWS_AS(pad(x, {1, 1, 1, 1, 1, 1}), ShapeError);
  CHECK_THROWS_WITH(pad(x, {-2, -2}), Contains("takes 4 entries from dim 1"));
  CHECK_THROWS_WITH(pad(x, {3, 0}, "reflect"), Contains("pads below the size"));
  CHECK_THROWS_AS(pad(x, {4, 0}, "circular"), ShapeError);
  CHECK_THROWS_WITH(pad(x, {1, 0}, "mirror"), Contains("mode is 'mirror'"));
}
