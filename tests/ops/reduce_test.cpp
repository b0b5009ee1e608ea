#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "kernels/thread_count.h"
#include "tests/support/catch.h"
#include "tests/support/message.h"

using namespace taper;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor counting(IntSpan sizes, DType dtype = float64) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  Tensor t = empty(sizes, dtype);
  t.copy_(arange(n, {.dtype = dtype}).as_strided(sizes, SizesAndStrides::contiguous(sizes).strides()));
  return t;
}
std::vector<double> values(const Tensor& t) { return t.to(float64).to_vector<double>(); }
using Values = std::vector<double>;
}  // namespace

TEST_CASE("sum adds over everything, over dimensions, and keeps them on demand") {
  const Tensor x = counting({2, 3});

  CHECK(values(x.sum()) == Values{15});
  CHECK(x.sum().sizes() == IntSpan{});
  CHECK(values(x.sum(0)) == Values{3, 5, 7});
  CHECK(values(x.sum(-1)) == Values{3, 12});
  CHECK(x.sum(1, true).sizes() == IntSpan{2, 1});
  CHECK(values(x.sum({0, 1})) == Values{15});
  CHECK(x.sum({0, -1}, true).sizes() == IntSpan{1, 1});
  CHECK(values(x.sum(IntSpan())) == Values{15});
  CHECK(values(counting({2, 3, 2}).sum({0, 2})) == Values{14, 22, 30});
  CHECK(values(counting({2, 3, 2}).sum(1)) == Values{6, 9, 24, 27});
}

TEST_CASE("a reduction reads any strides: transposed, with gaps, repeated", "[S92]") {
  const Tensor x = counting({4, 6}, float32);
  const Tensor transposed = x.as_strided({6, 4}, {1, 6});
  const Tensor gaps = x.as_strided({2, 3}, {12, 2}, 1);  // rows 0, 2; columns 1, 3, 5
  const Tensor repeated = x.as_strided({3, 4}, {0, 1});

  CHECK(values(transposed.sum()) == Values{276});
  CHECK(values(transposed.sum(0)) == Values{15, 51, 87, 123});
  CHECK(values(transposed.sum(1)) == Values{36, 40, 44, 48, 52, 56});
  CHECK(values(gaps.sum()) == Values{1 + 3 + 5 + 13 + 15 + 17});
  CHECK(values(gaps.sum(0)) == Values{14, 18, 22});
  CHECK(values(gaps.mean(1)) == Values{3, 15});
  CHECK(values(repeated.sum(0)) == Values{0, 3, 6, 9});
  CHECK(values(repeated.sum(1)) == Values{6, 6, 6});
  CHECK(values(counting({2, 3, 4}).as_strided({4, 2, 3}, {1, 12, 4}).sum({0, 2})) == Values{66, 210});
  CHECK(values(counting({2, 3, 4}).as_strided({3, 4, 2}, {4, 1, 12}).sum(1)) == Values{6, 54, 22, 70, 38, 86});
}

TEST_CASE("the mean of a region of a larger tensor is the mean of its copy to the last bit", "[S92]") {
  Tensor x = empty({300, 400}, float32);
  float* p = x.mutable_data<float>();
  for (int i = 0; i < 300 * 400; ++i) p[i] = std::sin(float(i)) * 100;
  const Tensor region = x.as_strided({200, 250}, {400, 1}, 400 * 50 + 70);

  CHECK(region.mean().item<float>() == region.clone().mean().item<float>());
}

TEST_CASE("a float32 sum of twenty million ones is exact, in rows and in columns", "[B33]") {
  const Tensor x = ones({20'000'000}, float32);

  CHECK(x.sum().item<float>() == 20'000'000);
  CHECK(x.mean().item<float>() == 1);
  const Tensor columns = x.as_strided({10'000'000, 2}, {2, 1});
  CHECK(values(columns.sum(0)) == Values{10'000'000, 10'000'000});
  CHECK(values(columns.sum(1).sum()) == Values{20'000'000});
}

TEST_CASE("sums do not depend on the number of threads") {
  Tensor x = empty({1000, 700}, float32);
  float* p = x.mutable_data<float>();
  for (int i = 0; i < 700'000; ++i) p[i] = std::sin(float(i)) * 100;
  const auto all = [&] {
    return std::vector{x.sum().item<float>(), x.sum(0).sum().item<float>(), x.sum(1).sum().item<float>(),
                       x.var().item<float>(), x.var(0).sum().item<float>()};
  };
  std::vector<float> one, three;
  {
    const ThreadCount threads(1);
    one = all();
  }
  {
    const ThreadCount threads(3);
    three = all();
  }
  CHECK(one == three);
}

TEST_CASE("sum of integers and bool is int64, and dtype converts first", "[S119]") {
  CHECK(tensor({1, 2, 3}, int32).sum().dtype() == int64);
  CHECK(tensor({true, true, false}).sum().item<std::int64_t>() == 2);
  CHECK(tensor({true, true, false}).sum().dtype() == int64);
  CHECK(tensor({200, 100}, uint8).sum().item<std::int64_t>() == 300);
  CHECK(tensor({200, 100}, uint8).sum(uint8).item<int>() == 44);
  CHECK(tensor({1.7, 2.7}).sum(int64).item<std::int64_t>() == 3);
  CHECK(tensor({1, 2}, int32).sum(float32).dtype() == float32);
  CHECK(tensor({1, 2}, int32).sum(0, true, int32).dtype() == int32);
  CHECK(tensor({1, 2, 6}).mean(float64).item<double>() == 3);
  CHECK(message_of<DTypeError>([] {
          tensor({1, 2}).mean();
        }) == "mean: needs a floating dtype, got x int64[2] on cpu; pass one, as in mean(x, taper::float32)");
}

TEST_CASE("reductions of no elements give their neutral value or say that there is none") {
  const Tensor x = empty({2, 0}, float32);

  CHECK(values(x.sum(1)) == Values{0, 0});
  CHECK(x.sum(0).sizes() == IntSpan{0});
  CHECK(std::isnan(x.mean().item<float>()));
  CHECK(std::isnan(x.var().item<float>()));
  CHECK(values(taper::prod(x, 1)) == Values{1, 1});
  CHECK(x.all().item<bool>());
  CHECK_FALSE(x.any().item<bool>());
  CHECK(values(taper::norm(x)) == Values{0});
  CHECK(values(taper::logsumexp(x, 1)) == Values{-kInfinity, -kInfinity});
  CHECK(x.amax(0).sizes() == IntSpan{0});
  CHECK(message_of<ValueError>([&] { x.amax(1); }) ==
        "amax: x [2, 0] has no elements along dimension 1, and no elements have no amax");
  CHECK_THROWS_AS(x.max(), ValueError);
  CHECK_THROWS_AS(x.max(1), ValueError);
  CHECK_THROWS_AS(x.argmin(), ValueError);
}

TEST_CASE("a tensor without dimensions is reduced as if it had one") {
  const Tensor x = tensor(3.0, float64);

  CHECK(x.sum(0).item<double>() == 3);
  CHECK(x.sum(-1, true).sizes() == IntSpan{});
  CHECK(std::get<0>(x.max(0)).item<double>() == 3);
  CHECK(std::get<1>(x.max(0)).item<std::int64_t>() == 0);
  CHECK_THROWS_AS(x.sum(1), IndexError);
}

TEST_CASE("dimensions out of range and repeated ones are refused by name") {
  const Tensor x = counting({2, 3});

  CHECK(message_of<IndexError>([&] { x.sum(2); }) ==
        "sum: dimension 2 is out of range for x [2, 3], which has dimensions -2 to 1");
  CHECK(message_of<ValueError>([&] { x.mean({0, -2}); }) == "mean: dimension 0 appears twice in dims [0, -2]");
  CHECK_THROWS_AS(x.argmax(-3), IndexError);
}

TEST_CASE("variance and standard deviation divide by n less the correction") {
  const Tensor x = tensor({{1.0, 2.0, 6.0}, {4.0, 4.0, 4.0}}, float64);

  CHECK(values(x.var(IntSpan{1})) == Values{7, 0});
  CHECK(values(x.var(IntSpan{1}, 0)) == Values{14.0 / 3, 0});
  CHECK(values(x.var(IntSpan{0})) == Values{4.5, 2, 2});
  CHECK(x.var(0).item<double>() == Approx(15.5 / 6 - 0));
  CHECK(taper::std(x, IntSpan{1}).to_vector<double>()[0] == Approx(std::sqrt(7)));
  CHECK(std::isnan(tensor({2.0}).var().item<float>()));
  CHECK(std::get<1>(taper::var_mean(x)).item<double>() == 3.5);
}

TEST_CASE("the variance of large, close float32 numbers keeps its digits") {
  Tensor x = empty({4096}, float32);
  float* p = x.mutable_data<float>();
  for (int i = 0; i < 4096; ++i) p[i] = 10000 + float(i % 2);

  CHECK(x.var(0).item<float>() == Approx(0.25));
  CHECK(values(x.as_strided({2048, 2}, {2, 1}).var(IntSpan{0}, 0)) == Values{0, 0});
}

TEST_CASE("max and min return the first of those that tie, and NaN wins", "[B26]") {
  const Tensor x = tensor({{1.0, 3.0, 3.0}, {2.0, kNan, kNan}, {-kInfinity, -kInfinity, -kInfinity}}, float64);

  const auto [values_max, at_max] = x.max(1);
  CHECK(values_max.to_vector<double>()[0] == 3);
  CHECK(std::isnan(values_max.to_vector<double>()[1]));
  CHECK(at_max.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 1, 0});
  const auto [values_min, at_min] = x.min(0, true);
  CHECK(values_min.sizes() == IntSpan{1, 3});
  CHECK(at_min.to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 1, 1});
  CHECK(std::isnan(x.max().item<double>()));
  CHECK(std::isnan(x.amin(1).to_vector<double>()[1]));
  CHECK(x.argmax().item<std::int64_t>() == 4);
  CHECK(x.argmin(1).to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 0});
}

TEST_CASE("extremes of long rows and columns agree with a plain search") {
  for (const std::int64_t n : {5, 63, 64, 65, 1000, 1024, 3001, 300'000}) {
    Tensor x = empty({n}, float32);
    float* p = x.mutable_data<float>();
    for (std::int64_t i = 0; i < n; ++i) p[i] = float((i * 7919) % 1009);
    const auto best = std::max_element(p, p + n);

    CHECK(x.max().item<float>() == *best);
    CHECK(x.argmax().item<std::int64_t>() == best - p);
    CHECK(x.argmin().item<std::int64_t>() == std::min_element(p, p + n) - p);
    const Tensor column = x.as_strided({n, 3}, {1, 0});  // the reduced dimension is outside
    CHECK(column.argmax(0).to_vector<std::int64_t>() == std::vector<std::int64_t>(3, best - p));
    CHECK(values(column.amax(0)) == Values(3, *best));
    p[n / 2] = float(kNan);
    CHECK(std::isnan(x.max().item<float>()));
    CHECK(x.argmax().item<std::int64_t>() == n / 2);
  }
}

TEST_CASE("extremes exist for every dtype") {
  for (const DType d : kAllDTypes) {
    const Tensor x = tensor({{0, 1, 1}, {1, 0, 0}}, d);
    CHECK(x.max().dtype() == d);
    CHECK(values(x.amin(1)) == Values{0, 0});
    CHECK(x.argmax(1).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 0});
    CHECK(values(std::get<0>(x.max(0))) == Values{1, 1, 1});
    CHECK(values(x.sum(1)) == Values{2, 1});
    CHECK(x.any().item<bool>());
    CHECK_FALSE(x.all().item<bool>());
    CHECK(taper::count_nonzero(x).item<std::int64_t>() == 3);
    CHECK(values(taper::prod(x, 1)) == Values{0, 0});
  }
}

TEST_CASE("the full argmax counts in row-major order whatever the strides are") {
  const Tensor x = tensor({{1, 5}, {7, 7}, {2, 0}});
  const Tensor t = x.as_strided({2, 3}, {1, 2});  // [[1, 7, 2], [5, 7, 0]]

  CHECK(t.argmax().item<std::int64_t>() == 1);
  CHECK(x.argmax().item<std::int64_t>() == 2);
  CHECK(t.argmax({}, true).sizes() == IntSpan{1, 1});
}

TEST_CASE("all and any are bool, and uint8 for uint8") {
  const Tensor x = tensor({{1.0, 0.0}, {kNan, 2.0}});

  CHECK(x.all().dtype() == bool_);
  CHECK(values(x.all(1)) == Values{0, 1});
  CHECK(values(x.any(0, true)) == Values{1, 1});
  CHECK(tensor({1, 0}, uint8).all().dtype() == uint8);
}

TEST_CASE("norms of every kind") {
  const Tensor x = tensor({{3.0, -4.0}, {0.0, 0.0}}, float64);

  CHECK(values(taper::norm(x)) == Values{5});
  CHECK(values(taper::norm(x, 1, 1)) == Values{7, 0});
  CHECK(values(taper::norm(x, kInfinity, 1)) == Values{4, 0});
  CHECK(values(taper::norm(x, -kInfinity, 1)) == Values{3, 0});
  CHECK(values(taper::norm(x, 0, 0, true)) == Values{1, 1});
  CHECK(taper::norm(x, 3).item<double>() == Approx(std::cbrt(91)));
}

TEST_CASE("logsumexp neither overflows nor makes NaN of infinities") {
  const Tensor x = tensor({{1000.0, 1000.0}, {-kInfinity, -kInfinity}, {kInfinity, 0.0}, {kNan, 0.0}}, float64);
  const std::vector<double> y = values(taper::logsumexp(x, 1));

  CHECK(y[0] == Approx(1000 + std::log(2)));
  CHECK(y[1] == -kInfinity);
  CHECK(y[2] == kInfinity);
  CHECK(std::isnan(y[3]));
}

TEST_CASE("sum_to_size undoes broadcasting") {
  const Tensor x = counting({2, 3, 4});

  CHECK(sum_to_size(x, {2, 3, 4}).is_same(x));
  CHECK(values(sum_to_size(x, {3, 1})) == Values{60, 92, 124});
  CHECK(sum_to_size(x, {2, 1, 1}).sizes() == IntSpan{2, 1, 1});
  CHECK(values(sum_to_size(x, {})) == Values{276});
  CHECK(message_of<ShapeError>([&] {
          sum_to_size(x, {2, 4});
        }) == "sum_to_size: x [2, 3, 4] cannot be summed to [2, 4]: that shape does not broadcast to x's");
}

TEST_CASE("reductions describe their result on meta without memory") {
  const Tensor x = empty({2, 3}, float32, meta);

  CHECK(x.sum(0).sizes() == IntSpan{3});
  CHECK(x.sum(0).device() == meta);
  CHECK(std::get<1>(x.max(1)).dtype() == int64);
}

TEST_CASE("an undefined operand is named") {
  CHECK(message_of<Error>([] { taper::sum(Tensor()); }).find("sum") != std::string::npos);
}

namespace {

Tensor wave(IntSpan sizes) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return arange(n, {.dtype = float64}).mul(0.7).add(0.3).sin().reshape(sizes).requires_grad_();
}
/// The gradient of f(x).sum() at x.
template <class F>
Values gradient(const Tensor& x, const F& f) {
  const Tensor leaf = x.clone().requires_grad_();
  f(leaf).sum().backward();
  return values(leaf.grad());
}

}  // namespace

TEST_CASE("gradients of reductions are right, twice", "[gradcheck]") {
  using F = std::function<Tensor(const TensorList&)>;
  const std::vector<F> functions = {
      [](const TensorList& t) {
        return t[0].sum({0, 2});
      },
      [](const TensorList& t) { return t[0].sum(1, true).square(); },
      [](const TensorList& t) { return t[0].mean(-1); },
      [](const TensorList& t) { return t[0].mean(); },
      [](const TensorList& t) {
        return t[0].var(IntSpan{0, 1}, 1, true);
      },
      [](const TensorList& t) { return t[0].var(0); },
      [](const TensorList& t) { return taper::std(t[0], IntSpan{2}); },
      [](const TensorList& t) { return std::get<0>(t[0].max(1)).square(); },
      [](const TensorList& t) { return std::get<0>(t[0].min(2, true)).square(); },
      [](const TensorList& t) {
        return t[0].amax({0, 2}).square();
      },
      [](const TensorList& t) { return t[0].min().square(); },
      [](const TensorList& t) { return taper::prod(t[0], 1); },
      [](const TensorList& t) { return taper::prod(t[0]); },
      [](const TensorList& t) { return taper::norm(t[0]); },
      [](const TensorList& t) { return taper::norm(t[0], 3, 1); },
      [](const TensorList& t) {
        return taper::norm(t[0], 1.5, {0, 1}, true);
      },
      [](const TensorList& t) { return taper::norm(t[0], 0.5, 1); },
      [](const TensorList& t) { return taper::norm(t[0], 1).square(); },
      [](const TensorList& t) { return taper::norm(t[0], kInfinity, 2).square(); },
      [](const TensorList& t) {
        return taper::logsumexp(t[0], {0, 2});
      },
      [](const TensorList& t) {
        return sum_to_size(t[0], {3, 1}).square();
      },
      [](const TensorList& t) { return t[0].transpose(0, 2).sum(0); },
  };
  for (std::size_t i = 0; i < functions.size(); ++i) {
    INFO("function " << i);
    const TensorList x = {wave({2, 3, 2})};
    CHECK(autograd::gradcheck(functions[i], x));
    CHECK(autograd::gradgradcheck([&](const TensorList& t) { return functions[i](t).mul(t[0].sum()); }, x));
  }
}

TEST_CASE("ties share the gradient, except where an index was returned", "[B26]") {
  const Tensor x = tensor({1.0, 3.0, 3.0, 2.0}, float64);

  CHECK(gradient(x, [](const Tensor& t) { return t.max(); }) == Values{0, .5, .5, 0});
  CHECK(gradient(x, [](const Tensor& t) { return t.amax(0); }) == Values{0, .5, .5, 0});
  CHECK(gradient(x, [](const Tensor& t) { return std::get<0>(t.max(0)); }) == Values{0, 1, 0, 0});
  CHECK(gradient(x, [](const Tensor& t) { return t.min(); }) == Values{1, 0, 0, 0});
}

TEST_CASE("the gradient of an extreme that is NaN goes to the NaN") {
  CHECK(gradient(tensor({1.0, kNan}, float64), [](const Tensor& t) { return t.max(); }) == Values{0, 1});
}

TEST_CASE("the gradient of a product reaches past zeros") {
  const auto product = [](const Tensor& t) { return taper::prod(t); };

  CHECK(gradient(tensor({2.0, 0.0, 5.0}, float64), product) == Values{0, 10, 0});
  CHECK(gradient(tensor({0.0, 0.0, 5.0}, float64), product) == Values{0, 0, 0});
  CHECK(autograd::gradgradcheck([](const TensorList& t) { return taper::prod(t[0], 1); },
                                {tensor({{2.0, 0.0, 5.0}, {0.0, 0.0, 3.0}}, float64).requires_grad_()}));
}

TEST_CASE("norm and std of equal elements have gradient 0") {
  CHECK(gradient(zeros({3}, float64), [](const Tensor& t) { return taper::norm(t); }) == Values{0, 0, 0});
  CHECK(gradient(ones({3}, float64), [](const Tensor& t) { return taper::std(t); }) == Values{0, 0, 0});
}

TEST_CASE("second derivatives of norm and std are numbers where the first one is 0", "[B31]") {
  const auto second = [](const Tensor& at, Tensor (*f)(const Tensor&)) {
    const Tensor x = at.detach().requires_grad_(), seed = ones({}, {.dtype = float64, .requires_grad = true});
    const Tensor g = autograd::grad({f(x)}, {x}, {seed}, {.create_graph = true})[0];
    const TensorList gg = autograd::grad({g.sum()}, {x, seed}, {}, {.allow_unused = true});
    return std::pair(values(gg[0]), values(gg[1]));
  };
  const std::pair<Values, Values> zero{{0, 0, 0}, {0}};
  CHECK(second(zeros({3}, float64), [](const Tensor& t) { return taper::norm(t); }) == zero);
  CHECK(second(zeros({3}, float64), [](const Tensor& t) { return taper::norm(t, 3); }) == zero);
  CHECK(second(ones({3}, float64), [](const Tensor& t) { return taper::std(t); }) == zero);
}

TEST_CASE("a sum keeps nothing of its operand for the gradient") {
  Tensor h = wave({3}).mul(1);
  const Tensor y = h.sum();

  h.mul_(2);
  CHECK_NOTHROW(y.backward());
}

TEST_CASE("reductions without derivative have results without history") {
  const Tensor x = wave({2, 3});

  CHECK_FALSE(x.argmax(1).requires_grad());
  CHECK_FALSE(x.any().requires_grad());
  CHECK_FALSE(std::get<1>(x.max(1)).requires_grad());
  CHECK(std::get<0>(x.max(1)).requires_grad());
}
