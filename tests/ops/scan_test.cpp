#include <taper/autograd/engine.h>
#include <taper/factory.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/scan.h>
#include <taper/ops/view.h>

#include <cmath>
#include <limits>

#include "support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }
constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("running sums and products along either dim, of any layout, whole numbers in int64") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, int32);
  CHECK(values(x.cumsum(0)) == Values{1, 2, 3, 5, 7, 9});
  CHECK(values(x.cumsum(-1)) == Values{1, 3, 6, 4, 9, 15});
  CHECK(values(x.t().cumsum(0)) == Values{1, 4, 3, 9, 6, 15});
  CHECK(values(x.cumprod(1)) == Values{1, 2, 6, 4, 20, 120});
  CHECK(x.cumsum(0).dtype() == int64);
  CHECK(values(tensor({true, true}).cumsum(0)) == Values{1, 2});
  CHECK(x.cumsum(0, float32).dtype() == float32);
  CHECK(x.cumsum(0, int32).dtype() == int32);
  CHECK(tensor(3.).cumsum(0).dim() == 0);
  CHECK_THROWS_AS(x.cumsum(2), IndexError);
  Tensor y = tensor({1., 2.}, float64);
  CHECK_THROWS_WITH(y.cumsum_(0, float32), Contains("use the form without the underscore"));
  y.cumsum_(0);
  CHECK(values(y) == Values{1, 3});
}

TEST_CASE("many neighbouring lines give what each gives alone") {
  const Tensor x = arange(5 * 150, {.dtype = float32}).reshape({5, 150}).remainder(7);
  const Tensor all = x.cumsum(0);
  for (const std::int64_t j : {0, 63, 64, 149}) CHECK(all.select(1, j).equal(x.select(1, j).cumsum(0)));
  CHECK(all.equal(x.t().contiguous().cumsum(1).t()));
}

TEST_CASE("the derivative of running products is right where entries are zero", "[B29]") {
  for (const Values& at : {Values{2, 0, 3, 4}, Values{2, 0, 3, 0}, Values{0, 0, 0, 0}}) {
    Tensor x = from_vector(Values(at)).requires_grad_();
    const Tensor weights = tensor({1., 2., 3., 5.}, float64);
    (x.cumprod(0) * weights).sum().backward();
    for (std::size_t k = 0; k < 4; ++k) {
      double want = 0;  // each product without its k-th factor
      for (std::size_t i = k; i < 4; ++i) {
        double product = Values{1, 2, 3, 5}[i];
        for (std::size_t j = 0; j <= i; ++j) product *= j == k ? 1 : at[j];
        want += product;
      }
      CHECK(values(x.grad())[k] == Approx(want));
    }
  }
}

TEST_CASE("running sums of exponentials do not overflow, and minus infinity adds nothing") {
  Tensor x = tensor({-kInf, 1000., 1000., -kInf}, float64).requires_grad_();
  const Tensor y = x.logcumsumexp(0);
  CHECK(values(y)[0] == -kInf);
  CHECK(values(y)[1] == 1000);
  CHECK(values(y)[3] == Approx(1000 + std::log(2.)));
  y.narrow(0, 1, 3).sum().backward();
  CHECK(values(x.grad())[1] == Approx(2));
  CHECK(values(x.grad())[3] == 0);
  CHECK_THROWS_AS(tensor({1, 2}).logcumsumexp(0), DTypeError);
}

TEST_CASE("running extremes name the last of equals and, from the first NaN on, the latest NaN") {
  const auto [largest, at] = tensor({1., 3., 3., 2., kNan, 5., kNan}, float64).cummax(0);
  CHECK(values(at) == Values{0, 1, 2, 2, 4, 4, 6});
  CHECK(values(largest)[3] == 3);
  CHECK(std::isnan(values(largest)[5]));
  const auto [smallest, place] = tensor({3, 1, 1, 2}).cummin(0);
  CHECK(values(smallest) == Values{3, 1, 1, 1});
  CHECK(values(place) == Values{0, 1, 2, 2});
}

TEST_CASE("differences of neighbours, several times, and of masks") {
  const Tensor x = tensor({1, 4, 9, 16});
  CHECK(values(x.diff()) == Values{3, 5, 7});
  CHECK(values(x.diff(2)) == Values{2, 2});
  CHECK(x.diff(9).numel() == 0);
  CHECK(values(x.diff(1, 0, tensor({0}), tensor({0}))) == Values{1, 3, 5, 7, -16});
  CHECK(values(tensor({true, false, false}).diff()) == Values{1, 0});
}
