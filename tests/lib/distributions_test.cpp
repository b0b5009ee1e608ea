#include <taper/taper.h>

#include "support/catch.h"
#include "support/values.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {
/// The shares of the positions 0 ... n - 1.
Values shares(const Tensor& positions, std::int64_t n) {
  return values(bincount(positions.reshape(-1), {}, n).div(double(positions.numel())));
}
}  // namespace

TEST_CASE("multinomial draws positions by their weights, and none of weight 0") {
  manual_seed(3);
  const Tensor p = tensor({2., 0., 1., 5., 0.});
  const Tensor drawn = p.multinomial(20000, true);
  CHECK(drawn.dtype() == int64);
  const Values got = shares(drawn, 5);
  CHECK(got[0] == Approx(0.25).margin(0.02));
  CHECK(got[1] == 0);
  CHECK(got[2] == Approx(0.125).margin(0.02));
  CHECK(got[4] == 0);

  const Tensor pairs = p.expand({20000, 5}).multinomial(2);  // different ones
  CHECK(pairs.sizes() == IntSpan{20000, 2});
  CHECK_FALSE(pairs.select(1, 0).eq(pairs.select(1, 1)).any().item<bool>());
  CHECK(shares(pairs.select(1, 0), 5)[3] == Approx(0.625).margin(0.02));
  CHECK(shares(pairs, 5)[1] == 0);
  // Of those that begin with the last, 2 of 3 go on with the first.
  const Tensor after = pairs.select(1, 1).index({pairs.select(1, 0).eq(3)});
  CHECK(shares(after, 5)[0] == Approx(2. / 3).margin(0.02));

  manual_seed(5);
  const Tensor once = p.multinomial(3), again = (manual_seed(5), p.multinomial(3));
  CHECK(values(once) == values(again));
  Tensor out = empty({0}, int64);
  CHECK(multinomial_out(out, p, 3).numel() == 3);
}

TEST_CASE("multinomial draws from very large and very small weights") {
  manual_seed(3);
  const Tensor large = full({3}, 1e308, float64).multinomial(300, true);
  for (int k = 0; k < 3; ++k) CHECK(large.eq(k).sum().item<std::int64_t>() > 50);
  for (int i = 0; i < 20; ++i) CHECK(tensor({0., 5e-324}, float64).multinomial(1).item<std::int64_t>() == 1);
}

TEST_CASE("multinomial says what it cannot draw from") {
  CHECK_THROWS_WITH(tensor({1., 2.}).multinomial(3), Contains("3 different ones of 2"));
  CHECK_THROWS_WITH(tensor({1., 0., 0.}).multinomial(2),
                    Contains("as many elements above 0 as are drawn without replacement"));
  CHECK_THROWS_WITH(tensor({1., -1.}).multinomial(1), Contains("p must hold finite numbers, 0 or more"));
  CHECK_THROWS_AS(tensor({0., 0.}).multinomial(1, true), ValueError);
  CHECK_THROWS_AS(tensor({1.}).multinomial(0), ValueError);
  CHECK_THROWS_AS(tensor({1}).multinomial(1), DTypeError);
  CHECK_THROWS_AS(ones({1, 1, 1}).multinomial(1), ShapeError);
}

TEST_CASE("normal numbers of given means and deviations hand gradients on to them") {
  manual_seed(1);
  Tensor mean = full({10000}, 3.).requires_grad_(), deviation = full({1}, 0.5).requires_grad_();
  const Tensor x = normal(mean, deviation);
  CHECK(x.mean().item<double>() == Approx(3).margin(0.05));
  CHECK(taper::std(x).item<double>() == Approx(0.5).margin(0.05));
  x.sum().backward();
  CHECK(mean.grad().eq(1).all().item<bool>());
  CHECK(deviation.grad().item<double>() == Approx(((x - 3) / 0.5).sum().item<double>()).margin(1));
  CHECK(normal(tensor({1.}, float64), 0).item<double>() == 1);
  CHECK_THROWS_AS(normal(tensor({1.}), -1), ValueError);
  CHECK_THROWS_AS(normal(tensor({1.}), tensor({-1.})), ValueError);
  CHECK_THROWS_AS(normal(tensor({1}), 1), DTypeError);
}

TEST_CASE("exponential, log-normal, Cauchy and geometric numbers are where they should be") {
  manual_seed(2);
  Tensor x = empty({20000});
  CHECK(x.exponential_(2).mean().item<double>() == Approx(0.5).margin(0.02));
  CHECK(x.log_normal_(1, 0.5).log().mean().item<double>() == Approx(1).margin(0.02));
  x.cauchy_(3, 2);
  CHECK(x.median().item<double>() == Approx(3).margin(0.1));
  CHECK(x.sub(3).abs().median().item<double>() == Approx(2).margin(0.1));
  x.geometric_(0.25);
  CHECK(x.mean().item<double>() == Approx(4).margin(0.1));
  CHECK(x.amin().item<double>() == 1);
  CHECK(x.eq(1).to(float32).mean().item<double>() == Approx(0.25).margin(0.02));
  CHECK(values(x) == values(x.floor()));
  CHECK_THROWS_AS(x.geometric_(0), ValueError);
  CHECK_THROWS_AS(x.cauchy_(0, 0), ValueError);
  CHECK(full({2}, 1.).bernoulli().eq(1).all().item<bool>());
}
