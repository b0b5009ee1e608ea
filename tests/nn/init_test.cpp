#include <taper/factory.h>
#include <taper/nn/init.h>
#include <taper/nn/linear.h>
#include <taper/random.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/catch.h"

using namespace taper;
using namespace taper::nn;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

struct Moments {
  double mean = 0, deviation = 0, min = 0, max = 0;
};
Moments moments(const Tensor& t) {
  const auto v = t.to(float64).to_vector<double>();
  Moments m{0, 0, v[0], v[0]};
  for (const double x : v) m.mean += x / double(v.size()), m.min = std::min(m.min, x), m.max = std::max(m.max, x);
  for (const double x : v) m.deviation += (x - m.mean) * (x - m.mean) / double(v.size());
  m.deviation = std::sqrt(m.deviation);
  return m;
}

/// Of 40 000 samples the moments are right to about 1 %.
void check_uniform(const Tensor& t, double bound) {
  const Moments m = moments(t);
  CHECK(std::abs(m.mean) < 0.02 * bound);
  CHECK(m.deviation == Approx(bound / std::sqrt(3)).epsilon(0.02));
  CHECK(m.max <= bound);
  CHECK(m.min >= -bound);
  CHECK(m.max > 0.99 * bound);
}
void check_normal(const Tensor& t, double deviation) {
  const Moments m = moments(t);
  CHECK(std::abs(m.mean) < 0.03 * deviation);
  CHECK(m.deviation == Approx(deviation).epsilon(0.02));
}

}  // namespace

TEST_CASE("start values have the bounds and deviations of the papers") {
  manual_seed(1);
  const Tensor w = empty({100, 40, 10});  // fan in 400, fan out 1000
  check_uniform(init::kaiming_uniform_(w), std::sqrt(6. / 400));
  check_uniform(init::kaiming_uniform_(w, {.nonlinearity = init::Nonlinearity::relu}), std::sqrt(6. / 400));
  check_uniform(init::kaiming_uniform_(w, {.a = std::sqrt(5.)}), 1 / std::sqrt(400));
  check_uniform(init::kaiming_uniform_(w, {.mode = init::FanMode::fan_out}), std::sqrt(6. / 1000));
  check_normal(init::kaiming_normal_(w), std::sqrt(2. / 400));
  check_normal(init::kaiming_normal_(w, {.nonlinearity = init::Nonlinearity::linear}), std::sqrt(1. / 400));
  check_uniform(init::xavier_uniform_(w), std::sqrt(6. / 1400));
  check_normal(init::xavier_normal_(w, 2), 2 * std::sqrt(2. / 1400));
  check_normal(init::normal_(w, 0, 3), 3);
  CHECK(moments(init::uniform_(w, 2, 4)).mean == Approx(3).epsilon(0.01));
  CHECK(moments(init::constant_(w, 5)).min == 5);
  CHECK(moments(init::ones_(w)).max == 1);
  CHECK(moments(init::zeros_(w)).max == 0);

  CHECK(init::calculate_gain(init::Nonlinearity::tanh) == Approx(5. / 3));
  CHECK(init::calculate_gain(init::Nonlinearity::relu) == Approx(std::sqrt(2.)));
  CHECK(init::calculate_gain(init::Nonlinearity::leaky_relu) == Approx(std::sqrt(2 / 1.0001)));
  CHECK(init::calculate_gain(init::Nonlinearity::leaky_relu, 0.5) == Approx(std::sqrt(2 / 1.25)));
  CHECK(init::calculate_gain(init::Nonlinearity::selu) == Approx(0.75));
  CHECK(init::calculate_gain(init::Nonlinearity::sigmoid) == 1);

  CHECK_THROWS_AS(init::kaiming_uniform_(ones({3})), ShapeError);
  CHECK_THROWS_AS(init::xavier_normal_(ones({3})), ShapeError);
  CHECK(init::kaiming_normal_(empty({3, 0})).numel() == 0);
  CHECK(init::xavier_uniform_(empty({0, 0})).numel() == 0);
}

TEST_CASE("what cannot be drawn is refused by the name of the function that was called") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  using Fill = Tensor (*)(const Tensor&, double);
  struct Function {
    const char* name;
    Fill fill;
    std::vector<double> bad;
  };
  const Function functions[] = {
      {"xavier_uniform_",
       [](const Tensor& t, double gain) { return init::xavier_uniform_(t, gain); },
       {-1, nan, infinity}},
      {"xavier_normal_",
       [](const Tensor& t, double gain) { return init::xavier_normal_(t, gain); },
       {-1, nan, infinity}},
      {"kaiming_uniform_", [](const Tensor& t, double a) { return init::kaiming_uniform_(t, {.a = a}); }, {nan}},
      {"kaiming_normal_", [](const Tensor& t, double a) { return init::kaiming_normal_(t, {.a = a}); }, {nan}}};
  for (const auto& [name, fill, bad] : functions) {
    const auto starts_with_name = StartsWith("init." + std::string(name) + ": ");
    Tensor w = ones({2, 2});
    for (const double option : bad) CHECK_THROWS_WITH(fill(w, option), starts_with_name);
    CHECK_THROWS_AS(fill(w, nan), ValueError);
    CHECK(w.to_vector<float>() == std::vector<float>{1, 1, 1, 1});
    CHECK(w.version() == 0);
    CHECK_THROWS_WITH(fill(ones({3}), 1), starts_with_name);
    CHECK_THROWS_WITH(fill(ones({2, 2}, int64), 1), starts_with_name);
    CHECK_THROWS_WITH(fill(ones({1, 2}).expand({3, 2}), 1), starts_with_name);
    CHECK_THROWS_WITH(fill(Tensor(), 1), starts_with_name);
  }
  CHECK_THROWS_WITH(init::calculate_gain(init::Nonlinearity::leaky_relu, nan), Contains("init.calculate_gain"));
}

TEST_CASE("start values are written into leaves that are trained, without a history") {
  Tensor w = zeros({3, 4}).requires_grad_();
  init::kaiming_uniform_(w);
  CHECK(w.is_leaf());
  CHECK(w.version() > 0);
  CHECK(moments(w.detach()).max > 0);
}

TEST_CASE("the same seed gives a layer the same start values") {
  manual_seed(7);
  const Linear a(30, 20);
  manual_seed(7);
  const Linear b(30, 20);
  CHECK(a.weight.to_vector<float>() == b.weight.to_vector<float>());
  CHECK(a.bias.to_vector<float>() == b.bias.to_vector<float>());
  const Linear wide(400, 100);
  check_uniform(wide.weight.detach(), 1 / std::sqrt(400));
}

TEST_CASE("a truncated normal distribution keeps to its bounds") {
  manual_seed(3);
  const Tensor w = empty({100, 400}, {.dtype = float64});
  const Moments usual = moments(init::trunc_normal_(w));
  CHECK(usual.min >= -2);
  CHECK(usual.max <= 2);
  CHECK(std::abs(usual.mean) < 0.02);
  CHECK(usual.deviation == Approx(0.8796).epsilon(0.02));
  const Moments half = moments(init::trunc_normal_(w, {.mean = 1, .std = 2, .a = 1, .b = 100}));
  CHECK(half.min >= 1);
  CHECK(half.mean == Approx(1 + 2 * std::sqrt(2 / 3.14159265)).epsilon(0.02));
  CHECK(moments(init::trunc_normal_(w, {.mean = 3, .std = 0})).max == 2);
  CHECK_THROWS_WITH(init::trunc_normal_(w, {.a = 2, .b = 1}), Contains("init.trunc_normal_: a must be below b"));
  CHECK_THROWS_AS(init::trunc_normal_(w, {.std = -1}), ValueError);
}

TEST_CASE("orthogonal start values have directions at right angles, of length gain") {
  manual_seed(4);
  const auto check_rows = [](const Tensor& w, double gain) {
    const Tensor error = w.matmul(w.t()).sub(eye(w.size(0)).to(w.dtype()).mul(gain * gain)).abs();
    CHECK(moments(error).max < (w.dtype() == float64 ? 1e-12 : 1e-5));
  };
  check_rows(init::orthogonal_(empty({70, 90}, {.dtype = float64})), 1);  // several blocks
  check_rows(init::orthogonal_(empty({40, 40})), 1);
  check_rows(init::orthogonal_(empty({8, 3, 2, 2}, {.dtype = float64}), 2).flatten(1), 2);
  check_rows(init::orthogonal_(empty({9, 4})).t(), 1);
  Tensor leaf = zeros({3, 3}).requires_grad_();
  CHECK(init::orthogonal_(leaf).is_leaf());
  CHECK(init::orthogonal_(empty({0, 3})).numel() == 0);
  CHECK_THROWS_WITH(init::orthogonal_(ones({3})), StartsWith("init.orthogonal_: "));
}

TEST_CASE("eye_, dirac_ and sparse_ put zeros where they belong") {
  CHECK(init::eye_(ones({2, 3})).to_vector<float>() == std::vector<float>{1, 0, 0, 0, 1, 0});
  CHECK_THROWS_WITH(init::eye_(ones({2, 3, 1})), StartsWith("init.eye_: the weight must be a matrix"));

  CHECK(init::dirac_(ones({3, 2, 3})).to_vector<float>() ==
        std::vector<float>{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0});
  CHECK(init::dirac_(ones({4, 2, 1}), 2).to_vector<float>() == std::vector<float>{1, 0, 0, 1, 1, 0, 0, 1});
  CHECK(init::dirac_(ones({1, 1, 3, 3, 3})).sum().item<float>() == 1);
  CHECK_THROWS_WITH(init::dirac_(ones({2, 2})), StartsWith("init.dirac_: "));
  CHECK_THROWS_WITH(init::dirac_(ones({4, 2, 1}), 3), Contains("groups must be positive and divide the 4 outputs"));

  manual_seed(5);
  const Tensor w = init::sparse_(ones({10, 4}), .25, 2);
  for (int column = 0; column < 4; ++column) CHECK(w.select(1, column).eq(0).sum().item<int>() == 3);
  CHECK(init::sparse_(ones({10, 4}), 0).eq(0).sum().item<int>() == 0);
  CHECK_THROWS_WITH(init::sparse_(ones({2, 2}), 2), Contains("init.sparse_: sparsity must be in [0, 1], got 2"));
}
