#include <taper/autograd/gradcheck.h>
#include <taper/taper.h>

#include <cmath>
#include <limits>

#include "support/catch.h"
#include "support/values.h"

using namespace taper;
using autograd::gradcheck;
using autograd::gradgradcheck;
using Catch::Matchers::Contains;

namespace {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor numbers() { return tensor({{0.3, -1.5, 2.0, 0.7}, {1.1, 0.2, -0.4, 0.9}, {-0.8, 1.6, 0.5, -2.5}}, float64); }
/// The values to four places; NaN as -999.
Values rounded(const Tensor& t) {
  Values v = values(t);
  for (double& x : v) x = std::isnan(x) ? -999 : std::round(x * 1e4) / 1e4;
  return v;
}
Tensor leaf(const Tensor& t) { return t.detach().clone().requires_grad_(); }
}  // namespace

TEST_CASE("mode is the smallest of the most frequent values, at its last place, and NaN never wins") {
  const Tensor x = tensor({{3., 1., 2., 1., 3.}, {5., 5., 0., kNan, kNan}, {2., 2., 2., 4., 4.}}, float64);
  const auto [value, at] = x.mode();
  CHECK(values(value) == Values{1, 5, 2});
  CHECK(values(at) == Values{3, 1, 2});
  CHECK(at.dtype() == int64);
  const auto [down, row] = mode(x, 0, true);
  CHECK(down.sizes() == IntSpan{1, 5});
  CHECK(values(down) == Values{2, 1, 2, 1, 3});
  CHECK(values(row) == Values{2, 0, 2, 0, 0});
  CHECK(values(std::get<0>(x.t().mode(0))) == Values{1, 5, 2});
  for (const DType d : {bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32})
    CHECK(values(std::get<0>(tensor({1, 0, 1}).to(d).mode())) == Values{1});
  CHECK(std::get<0>(tensor(3.).mode(0)).dim() == 0);
  CHECK(std::get<0>(ones({2, 3, 4}).mode(1, true)).sizes() == IntSpan{2, 1, 4});
  CHECK(std::get<0>(empty({2, 3, 4}, {.device = meta}).mode(1)).sizes() == IntSpan{2, 4});
  CHECK_THROWS_WITH(zeros({2, 0}).mode(1), Contains("mode: float32[2, 0]"));
  CHECK_THROWS_AS(zeros({2, 2}).mode(2), IndexError);
  CHECK(gradcheck([](const TensorList& in) { return TensorList{std::get<0>(in[0].mode(0))}; }, {leaf(numbers())}));
}

TEST_CASE("nanmedian is the lower middle of what is not NaN") {
  const Tensor x = tensor({{1., kNan, 3., 2.}, {kNan, kNan, kNan, kNan}, {4., 1., 2., 3.}}, float64);
  const auto [value, at] = x.nanmedian(1);
  CHECK(rounded(value) == Values{2, -999, 2});
  CHECK(values(at)[0] == 3);
  CHECK(values(at)[2] == 2);
  CHECK(x.nanmedian().item<double>() == 2);
  CHECK(std::isnan(x.select(0, 1).nanmedian().item<double>()));
  CHECK(values(std::get<0>(tensor({{5, 1, 3}}).nanmedian(1, true))) == Values{3});
}

TEST_CASE("quantile interpolates between the sorted values in five ways") {
  const Tensor x = numbers(), q = tensor({0., 0.3, 0.5, 1.}, float64);
  CHECK(rounded(x.quantile(q, 1)) == Values{-1.5, -0.4, -2.5, 0.12, 0.14, -0.97, 0.5, 0.55, -0.15, 2, 1.1, 1.6});
  const auto second = [&](const char* kind) { return rounded(x.quantile(q, 1, false, kind).select(0, 1)); };
  CHECK(second("lower") == Values{-1.5, -0.4, -2.5});
  CHECK(second("higher") == Values{0.3, 0.2, -0.8});
  CHECK(second("midpoint") == Values{-0.6, -0.1, -1.65});
  CHECK(second("nearest") == Values{0.3, 0.2, -0.8});
  CHECK(tensor({1., 2., 3., 4.}).quantile(0.5, 0, false, "nearest").item<double>() == 3);
  CHECK(rounded(x.quantile(0.4)) == Values{0.24});
  CHECK(x.quantile(0.4, 0, true).sizes() == IntSpan{1, 4});
  CHECK(x.quantile(q, {}, true).sizes() == IntSpan{4, 1, 1});
  CHECK(x.quantile(q, 0, true).sizes() == IntSpan{4, 1, 4});
  CHECK(ones({2, 3, 4}).quantile(0.5, 1).sizes() == IntSpan{2, 4});
  CHECK(tensor(3.).quantile(0.2, 0, true).dim() == 0);
  CHECK(empty({2, 3}, {.device = meta}).quantile(0.5, 1).sizes() == IntSpan{2});
  CHECK(gradcheck([&](const TensorList& in) { return TensorList{in[0].quantile(in[1], 1)}; },
                  {leaf(x), leaf(tensor({0.3, 0.45}, float64))}));
  CHECK(gradgradcheck([&](const TensorList& in) { return TensorList{in[0].quantile(0.3, 0).square()}; }, {leaf(x)}));
}

TEST_CASE("a NaN makes a quantile NaN, and nanquantile looks away") {
  const Tensor x = tensor({{1., kNan, 3., 2.}, {kNan, kNan, kNan, kNan}, {4., 1., 2., 3.}}, float64);
  const Tensor q = tensor({0., 0.3, 0.5, 1.}, float64);
  CHECK(rounded(x.quantile(0.5, 1)) == Values{-999, -999, 2.5});
  CHECK(rounded(x.nanquantile(0.5, 1)) == Values{2, -999, 2.5});
  CHECK(rounded(x.nanquantile(q, 1)) == Values{1, -999, 1, 1.6, -999, 1.9, 2, -999, 2.5, 3, -999, 4});
}

TEST_CASE("quantile says what is wrong with its arguments") {
  const Tensor x = numbers();
  CHECK_THROWS_WITH(x.quantile(1.5), Contains("q must lie in [0, 1]"));
  CHECK_THROWS_WITH(x.quantile(kNan), Contains("q must lie in [0, 1]"));
  CHECK_THROWS_WITH(x.quantile(0.5, 1, false, "cubic"), Contains("interpolation is 'cubic'"));
  CHECK_THROWS_AS(x.quantile(tensor({0.5}, float32)), DTypeError);
  CHECK_THROWS_AS(tensor({1, 2}).quantile(0.5), DTypeError);
  CHECK_THROWS_AS(x.quantile(zeros({1, 1}, float64)), ShapeError);
  CHECK_THROWS_AS(zeros({0}).quantile(0.5), ValueError);
  CHECK_THROWS_AS(x.quantile(0.5, 2), IndexError);
}

TEST_CASE("histc counts what lies in equal parts of a range, the last end included") {
  CHECK(values(tensor({0., 0.5, 1., 1., 2., 3., 3., -7., kNan}).histc(3, 0, 3)) == Values{2, 2, 3});
  CHECK(values(numbers().to(float32).histc(5)) == Values{1, 2, 1, 6, 2});
  CHECK(values(ones({4}).histc(4)) == Values{0, 0, 4, 0});
  CHECK(values(zeros({0}).histc(2)) == Values{0, 0});
  CHECK(tensor({1., 2.}, float16).histc(2).dtype() == float16);
  CHECK_THROWS_AS(tensor({1, 2}).histc(2), DTypeError);
  CHECK_THROWS_AS(ones({2}).histc(0), ValueError);
  CHECK_THROWS_AS(ones({2}).histc(2, 3, 1), ValueError);
  CHECK_THROWS_AS(tensor({1., std::numeric_limits<double>::infinity()}).histc(2), ValueError);
  CHECK_THROWS_AS(ones({2}, {.requires_grad = true}).histc(2), AutogradError);
}

TEST_CASE("cov and corrcoef look at rows") {
  const Tensor x = numbers();
  CHECK(rounded(x.cov()) == Values{2.0892, -0.2717, -0.98, -0.2717, 0.47, -0.8233, -0.98, -0.8233, 3.1133});
  CHECK(rounded(x.cov(0)) == Values{1.5669, -0.2038, -0.735, -0.2038, 0.3525, -0.6175, -0.735, -0.6175, 2.335});
  CHECK(rounded(x.corrcoef()) == Values{1, -0.2742, -0.3843, -0.2742, 1, -0.6806, -0.3843, -0.6806, 1});
  CHECK(rounded(x.select(0, 0).cov()) == Values{2.0892});
  CHECK(gradcheck([](const TensorList& in) { return TensorList{in[0].cov()}; }, {leaf(x)}));
  CHECK_THROWS_AS(ones({2, 2, 2}).cov(), ShapeError);
  CHECK_THROWS_AS(ones({2, 2}, int64).cov(), DTypeError);
}

TEST_CASE("quantiles of lines that float32 cannot number are refused") {
  const Tensor x = ones({1}).expand({(1 << 24) + 1});
  CHECK_THROWS_WITH(x.quantile(0.5), Contains("quantile: lines of 16777217 entries") && Contains("to(taper::float64)"));
}

TEST_CASE("trapezoids add up to areas, at equal steps and at given places") {
  CHECK_THROWS_WITH(trapezoid(ones({3}), Tensor()), Contains("trapezoid: x is undefined"));
  CHECK_THROWS_WITH(cumulative_trapezoid(ones({3}), Tensor()), Contains("trapezoid(y, 1.0, dim)"));
  const Tensor x = numbers();
  CHECK(rounded(trapezoid(x, 0.5, 1)) == Values{0.5, 0.4, 0.225});
  CHECK(rounded(trapezoid(x, tensor({0., 1., 3.}, float64), 0)) == Values{1, 1.15, 0.9, -0.8});
  CHECK(rounded(trapz(x, x * x, 1)) == Values{-5.597, -0.61, -7.6575});
  CHECK(rounded(cumulative_trapezoid(x, 1, 1)) == Values{-0.6, -0.35, 1, 0.65, 0.55, 0.8, 0.4, 1.45, 0.45});
  CHECK(values(trapezoid(ones({2, 1}))) == Values{0, 0});
  CHECK(values(trapezoid(ones({2, 0}))) == Values{0, 0});
  CHECK_THROWS_WITH(trapezoid(x, ones({3}, float64), 1), Contains("trapezoid: x float64[3]"));
  CHECK(gradcheck([](const TensorList& in) { return TensorList{trapezoid(in[0], in[1], 1)}; }, {leaf(x), leaf(x * x)}));
}

TEST_CASE("distances between rows, and what else is made of norms") {
  const Tensor x = numbers();
  CHECK(rounded(pdist(x)) == Values{3.0545, 4.828, 4.2356});
  CHECK(rounded(x.dist(x * 2, 3)) == Values{3.2471});
  CHECK(gradcheck([](const TensorList& in) { return TensorList{pdist(in[0]), dist(in[0], in[0] * 2)}; }, {leaf(x)}));
  CHECK_THROWS_AS(pdist(x.select(0, 0)), ShapeError);
}

TEST_CASE("norms of matrices, their rank, and the Moore-Penrose inverse") {
  const Tensor x = numbers();
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(rounded(linalg::matrix_norm(x)) == Values{4.3301});
  CHECK(rounded(linalg::matrix_norm(x, "nuc")) == Values{6.7754});
  CHECK(rounded(linalg::matrix_norm(x, 1)) == Values{4.1});
  CHECK(rounded(linalg::matrix_norm(x, -1)) == Values{2.2});
  CHECK(rounded(linalg::matrix_norm(x, 2)) == Values{3.5415});
  CHECK(rounded(linalg::matrix_norm(x, -2)) == Values{0.9173});
  CHECK(rounded(linalg::matrix_norm(x, infinity)) == Values{5.4});
  CHECK(rounded(linalg::matrix_norm(x, -infinity, true)) == Values{2.6});
  CHECK(linalg::matrix_norm(x, -infinity, true).sizes() == IntSpan{1, 1});
  CHECK(rounded(linalg::pinv(x)) ==
        Values{0.1784, 0.8277, 0.2367, -0.065, 0.4813, 0.2916, 0.429, 0.2072, 0.2658, -0.0129, 0.0846, -0.236});
  CHECK(linalg::matrix_rank(outer(x.select(0, 0), x.select(0, 1))).item<int>() == 1);
  CHECK(linalg::matrix_rank(x).item<int>() == 3);
  CHECK(linalg::matrix_rank(zeros({2, 3, 3}, float64)).sizes() == IntSpan{2});
  CHECK(gradcheck([](const TensorList& in) { return TensorList{linalg::pinv(in[0])}; }, {leaf(x)}));
  CHECK_THROWS_AS(linalg::matrix_norm(x, "max"), ValueError);
  CHECK_THROWS_AS(linalg::matrix_norm(x, 3), ValueError);
  CHECK(rounded(linalg::vector_norm(x, 1, 1)) == Values{4.5, 2.6, 5.4});
}

TEST_CASE("cross products, dot products along a dim, and powers of a vector") {
  const Tensor x = numbers(), a = x.slice(1, 0, 3), b = x.slice(1, 1, 4);
  CHECK(rounded(linalg::cross(a, b)) == Values{-5.05, -3.21, -1.65, 0.02, -1.07, -0.48, -4.25, -1.2, -2.96});
  CHECK(rounded(a.cross(b)) == rounded(linalg::cross(a, b, 0)));
  CHECK(rounded(linalg::cross(a, b.select(0, 0))) != Values{});
  const Tensor one = tensor({1., 2., 3.}, float64);  // beside vectors along dim 1
  CHECK(cross(one, eye(3, float64)).equal(linalg::cross(one.expand({3, 3}), eye(3, float64), 1)));
  CHECK_THROWS_WITH(linalg::cross(x, x), Contains("has size 4, expected 3"));
  CHECK_THROWS_AS(cross(ones({2, 2}), ones({2, 2})), ShapeError);
  CHECK(rounded(linalg::vecdot(a, b)) == rounded(a.mul(b).sum(1)));
  CHECK(values(linalg::vander(tensor({1., 2., 3.}), 4)) == Values{1, 1, 1, 1, 1, 2, 4, 8, 1, 3, 9, 27});
  CHECK(linalg::vander(tensor({1, 2, 3})).dtype() == int64);
  CHECK(gradcheck(
      [](const TensorList& in) {
        return TensorList{linalg::cross(in[0], in[1]), linalg::vander(in[0])};
      },
      {leaf(a), leaf(b)}));
}
