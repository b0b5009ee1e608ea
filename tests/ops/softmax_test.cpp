#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/softmax.h>
#include <taper/ops/view.h>

#include <cmath>
#include <limits>

#include "tests/support/catch.h"

using namespace taper;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor wave(IntSpan sizes, DType dtype = float64) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return arange(n, {.dtype = float64}).mul(0.7).sin().mul(3).to(dtype).reshape(sizes);
}
std::vector<double> elements(const Tensor& t) { return t.to(float64).to_vector<double>(); }
double distance(const Tensor& a, const Tensor& b) { return a.sub(b).abs().max().item<double>(); }

}  // namespace

TEST_CASE("softmax and its logarithm follow their definition along every dimension") {
  for (const DType d : {float32, float64})
    for (const IntVec& sizes : {IntVec{7}, IntVec{3, 100}, IntVec{2, 5, 7}, IntVec{2, 3, 300}})
      for (std::int64_t dim = 0; dim < std::int64_t(sizes.size()); ++dim) {
        const Tensor x = wave(sizes, d);
        const Tensor e = x.to(float64).exp(), want = e.div(e.sum(dim, true));

        CHECK(distance(softmax(x, dim).to(float64), want) < (d == float32 ? 1e-6 : 1e-14));
        CHECK(distance(log_softmax(x, dim).to(float64), want.log()) < (d == float32 ? 3e-6 : 1e-14));
        CHECK(softmax(x, dim).dtype() == d);
      }
}

TEST_CASE("softmax reads any strides and makes a dense result") {
  const Tensor x = wave({6, 8});
  const Tensor gaps = x.slice(1, 0, 8, 2), transposed = x.t();

  CHECK(distance(gaps.softmax(1), gaps.clone().softmax(1)) == 0);
  CHECK(distance(transposed.softmax(-1), x.softmax(0).t()) < 1e-15);
  CHECK(transposed.softmax(0).is_contiguous());
  CHECK(softmax(empty({0, 3}), 1).sizes() == IntSpan{0, 3});
  CHECK(softmax(empty({3, 0}), 1).sizes() == IntSpan{3, 0});
  CHECK(softmax(empty({2, 3, 0}), 1).sizes() == IntSpan{2, 3, 0});
  CHECK(elements(softmax(tensor(2.0), 0)) == std::vector<double>{1});
  CHECK(softmax(empty({2, 3}, float32, meta), 1).device() == meta);
}

TEST_CASE("a row of minus infinity is NaN in a softmax, and only that row", "[B41]") {
  for (const std::int64_t dim : {0, 1}) {
    const Tensor rows = tensor({{-kInfinity, -kInfinity}, {1.0, 2.0}}, float64);
    const Tensor x = dim == 1 ? rows : rows.t();
    const std::vector<double> y = elements(dim == 1 ? x.softmax(1) : x.softmax(0).t());
    CHECK(std::isnan(y[0]));
    CHECK(std::isnan(y[1]));
    CHECK(y[2] == Approx(.268941).epsilon(1e-5));
    CHECK(y[3] == Approx(.731059).epsilon(1e-5));
  }
}

TEST_CASE("large logits neither overflow nor lose the result") {
  const std::vector<double> y = elements(log_softmax(tensor({1e4, 1e4 + 1, -1e30}), 0));

  CHECK(y[0] == Approx(-1.31326169).epsilon(1e-6));
  CHECK(y[1] == Approx(-.31326169).epsilon(1e-6));
  CHECK(elements(softmax(tensor({1e4, 1e4 + 1, -1e30}), 0))[2] == 0);
}

TEST_CASE("softmax converts with dtype and refuses integers without one") {
  CHECK(softmax(tensor({1, 2}), 0, float64).dtype() == float64);
  CHECK_THROWS_AS(softmax(tensor({1, 2}), 0), DTypeError);
  CHECK_THROWS_AS(softmax(empty({2, 3}), 2), IndexError);
  CHECK_THROWS_AS(log_softmax(empty({2, 3}), -3), IndexError);
}

TEST_CASE("gradients of softmax are right along every dimension, twice", "[gradcheck]") {
  for (const std::int64_t dim : {0, 1, 2}) {
    const TensorList x = {wave({2, 3, 4}).requires_grad_()};
    const auto soft = [dim](const TensorList& t) { return softmax(t[0], dim); };
    const auto log = [dim](const TensorList& t) { return log_softmax(t[0], dim); };
    CHECK(autograd::gradcheck(soft, x));
    CHECK(autograd::gradgradcheck(soft, x));
    CHECK(autograd::gradcheck(log, x));
    CHECK(autograd::gradgradcheck(log, x));
  }
}

TEST_CASE("softmax keeps its result for the gradient, not its operand") {
  const Tensor x = wave({2, 3}).requires_grad_();
  Tensor h = x.mul(1);
  const Tensor y = softmax(h, 1);

  h.mul_(2);
  CHECK_NOTHROW(y.sum().backward());
}
