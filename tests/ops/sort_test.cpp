#include <taper/autograd/engine.h>
#include <taper/factory.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/sort.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include <algorithm>
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

TEST_CASE("sorting keeps equals in their order, both ways, and puts NaN above all") {
  const auto [up, from] = tensor({3., kNan, -0., 0., -kInf, 3.}, float64).sort();
  CHECK(values(from) == Values{4, 2, 3, 0, 5, 1});
  CHECK(std::signbit(values(up)[1]));
  const auto [down, place] = tensor({3., kNan, -0., 0., -kInf, 3.}, float64).sort(0, true);
  CHECK(values(place) == Values{1, 0, 5, 2, 3, 4});
  CHECK(values(tensor({4, -1, 9}, int64).argsort()) == Values{1, 0, 2});
  CHECK(values(std::get<0>(tensor({true, false}).sort())) == Values{0, 1});
  CHECK(std::get<1>(tensor(2.).sort()).item<std::int64_t>() == 0);
  CHECK_THROWS_AS(tensor({1.}).sort(1), IndexError);
}

TEST_CASE("long lines of every dtype are sorted as std::stable_sort sorts them") {
  manual_seed(3);
  for (DType d : {float32, float64, int32, int64, uint8, int8, int16}) {
    const Tensor x = randn({3000}).mul(itemsize(d) == 1 ? 20 : 1e4).round().to(is_floating(d) ? d : int64).to(d);
    const Values v = values(x);
    std::vector<std::int64_t> want(v.size());
    for (std::size_t i = 0; i < want.size(); ++i) want[i] = std::int64_t(i);
    std::stable_sort(want.begin(), want.end(), [&](auto a, auto b) { return v[std::size_t(a)] < v[std::size_t(b)]; });
    const auto [sorted, places] = x.sort();
    CHECK(places.to_vector<std::int64_t>() == want);
    CHECK(sorted.equal(index_select(x, 0, places)));
    std::stable_sort(want.begin(), want.end(), [&](auto a, auto b) { return v[std::size_t(a)] > v[std::size_t(b)]; });
    std::sort(want.begin(), want.end(), [&](auto a, auto b) {
      const double x_a = v[std::size_t(a)], x_b = v[std::size_t(b)];
      return x_a != x_b ? x_a > x_b : a < b;
    });
    CHECK(x.argsort(0, true).to_vector<std::int64_t>() == want);
  }
}

TEST_CASE("the gradient of sorted values goes to where they came from") {
  Tensor x = tensor({{3., 1., 2.}, {5., 6., 4.}}, float64).requires_grad_();
  (std::get<0>(x.sort(1)) * tensor({1., 10., 100.}, float64)).sum().backward();
  CHECK(values(x.grad()) == Values{100, 1, 10, 10, 100, 1});
}

TEST_CASE("the largest, the smallest, the k-th and the middle, by any dim") {
  const Tensor x = tensor({{3., 1.}, {5., 6.}, {4., 2.}}, float64);
  const auto [best, at] = x.topk(2, 0);
  CHECK(values(best) == Values{5, 6, 4, 2});
  CHECK(values(at) == Values{1, 1, 2, 2});
  CHECK(values(std::get<0>(x.topk(1, 1, false))) == Values{1, 5, 2});
  CHECK(values(std::get<0>(x.kthvalue(2, 0))) == Values{4, 2});
  CHECK(std::get<0>(x.kthvalue(2, 0, true)).sizes() == IntSpan{1, 2});
  CHECK(values(std::get<0>(x.median(0))) == Values{4, 2});
  CHECK(x.median().item<double>() == 3);  // the lower of 3 and 4
  CHECK(std::isnan(tensor({1., kNan, 2.}, float64).median().item<double>()));
  CHECK(std::get<1>(tensor({1., kNan, kNan}, float64).median(0)).item<std::int64_t>() == 1);
  CHECK(std::isnan(zeros({0}).median().item<double>()));
  CHECK_THROWS_WITH(x.topk(3, 1), Contains("topk: k is 3 but dim 1"));
  CHECK_THROWS_AS(x.topk(-1), ValueError);
  CHECK_THROWS_AS(x.kthvalue(0), ValueError);
  CHECK_THROWS_AS(zeros({2, 0}).median(1), ValueError);
}

TEST_CASE("distinct values with their places and counts") {
  const auto [distinct, inverse, counts] = unique(tensor({{3, 1, 3}, {2, 1, 3}}), true, true);
  CHECK(values(distinct) == Values{1, 2, 3});
  CHECK(values(inverse) == Values{2, 0, 2, 1, 0, 2});
  CHECK(inverse.sizes() == IntSpan{2, 3});
  CHECK(values(counts) == Values{2, 1, 3});
  CHECK_FALSE(std::get<1>(unique(tensor({1}))).defined());
  CHECK(std::get<0>(unique(zeros({0}))).numel() == 0);
  CHECK_THROWS_AS(unique(tensor({1.}).requires_grad_()), AutogradError);
}

TEST_CASE("counting whole numbers, weighted or not") {
  CHECK(values(tensor({0, 2, 2}).bincount()) == Values{1, 0, 2});
  CHECK(values(tensor({0, 2, 2}).bincount(tensor({1., 2., 3.}), 4)) == Values{1, 0, 5, 0});
  CHECK(values(zeros({0}, int64).bincount({}, 2)) == Values{0, 0});
  CHECK_THROWS_AS(tensor({-1}).bincount(), ValueError);
}

TEST_CASE("places in an ascending sequence, before or after equals; NaN belongs at the end") {
  const Tensor sequence = tensor({1., 3., 3., 7.}, float64);
  const Tensor v = tensor({{3., 0.}, {8., kNan}}, float64);
  CHECK(values(searchsorted(sequence, v)) == Values{1, 0, 4, 4});
  CHECK(values(searchsorted(sequence, v, true, true)) == Values{3, 0, 4, 4});
  CHECK(searchsorted(sequence, v, true).dtype() == int32);
  const Tensor rows = tensor({{1., 2.}, {5., 6.}}, float64);
  CHECK(values(searchsorted(rows, tensor({{2., 9.}, {2., 6.}}, float64))) == Values{1, 2, 0, 1});
  CHECK(bucketize(4., sequence).item<std::int64_t>() == 3);
  CHECK_THROWS_AS(searchsorted(rows, zeros({3, 2}, float64)), ShapeError);
  CHECK_THROWS_AS(searchsorted(sequence, tensor({1})), DTypeError);
}
