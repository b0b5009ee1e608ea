#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/operator.h>
#include <taper/ops/dropout.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/thread_count.h"
#include "support/catch.h"

using namespace taper;
using Catch::Matchers::Contains;

TEST_CASE("dropout zeroes elements and scales the others", "[dropout]") {
  manual_seed(1);
  const std::int64_t n = 100000;
  const std::vector<float> y = dropout(full({n}, 3.0), 0.25).to_vector<float>();
  const auto dropped = std::count(y.begin(), y.end(), 0.f);

  CHECK(double(dropped) / double(n) == Approx(0.25).margin(5 * std::sqrt(0.25 * 0.75 / double(n))));
  CHECK(std::count(y.begin(), y.end(), 4.f) == n - dropped);
}

TEST_CASE("dropout draws the same mask for any dtype, layout and number of threads", "[dropout]") {
  const auto mask = [](const Tensor& x) {
    manual_seed(2);
    return dropout(x, 0.5).to(float64).to_vector<double>();
  };
  const std::vector<double> expected = mask(ones({300, 100}));

  CHECK(mask(ones({300, 100}, float64)) == expected);
  CHECK(mask(ones({30000}).as_strided({300, 100}, {1, 300})) == expected);
  CHECK(mask(ones({60001}).as_strided({300, 100}, {200, 2}, 1)) == expected);
  CHECK(mask(ones({1}).as_strided({300, 100}, {0, 0})) == expected);
  const ThreadCount guard(1);
  CHECK(mask(ones({300, 100})) == expected);
}

TEST_CASE("dropout keeps the order of dimensions", "[dropout]") {
  CHECK(dropout(ones({6}).as_strided({2, 3}, {1, 2})).strides() == IntSpan{1, 2});
}

TEST_CASE("dropout's gradient falls on what was kept", "[dropout]") {
  manual_seed(3);
  const Tensor x = ones({1000}, {.requires_grad = true});
  const Tensor y = dropout(x, 0.4);
  y.backward(ones({1000}));

  CHECK(x.grad().to_vector<float>() == y.to_vector<float>());
}

TEST_CASE("dropout has first and second derivatives", "[dropout]") {
  manual_seed(4);
  const Tensor x = randn({3, 4}, {.dtype = float64, .requires_grad = true});
  const RandomStream s = default_generator().next();
  const auto f = [&](const TensorList& in) { return ops::dropout(in[0], 0.3, s); };

  CHECK(autograd::gradcheck(f, {x}));
  // Linear, so its second derivative is 0, and asking for it is no error.
  const Tensor g = autograd::grad({f({x})}, {x}, {ones({3, 4}, {.dtype = float64, .requires_grad = true})},
                                  {.create_graph = true})[0];
  CHECK(g.requires_grad());
  CHECK(g.to_vector<double>() == f({ones({3, 4}, float64)}).to_vector<double>());
}

TEST_CASE("dropout returns x itself unless training", "[dropout]") {
  const Tensor x = ones({2});
  const RandomStream before = default_generator().state();

  CHECK(dropout(x, 0.5, false).is_same(x));
  CHECK(default_generator().state().stream == before.stream);
}

TEST_CASE("dropout with probability 0 keeps and with 1 drops everything", "[dropout]") {
  const Tensor x = tensor({1.5, -2.0}, {.requires_grad = true});

  CHECK(dropout(x, 0).to_vector<float>() == std::vector<float>{1.5, -2});
  Tensor y = dropout(x, 1);
  CHECK(y.to_vector<float>() == std::vector<float>{0, 0});
  y.backward(ones({2}));
  CHECK(x.grad().to_vector<float>() == std::vector<float>{0, 0});
}

TEST_CASE("dropout_ writes in place and follows history", "[dropout]") {
  manual_seed(5);
  const Tensor x = ones({64}, {.requires_grad = true});
  Tensor y = x.clone();
  dropout_(y, 0.5);
  CHECK(y.version() == 1);
  y.backward(ones({64}));
  CHECK(x.grad().to_vector<float>() == y.to_vector<float>());

  manual_seed(5);
  CHECK(dropout(x, 0.5).to_vector<float>() == y.to_vector<float>());
  Tensor same = ones({2});
  CHECK(dropout_(same, 0.5, false).to_vector<float>() == std::vector<float>{1, 1});
  CHECK(same.version() == 0);
}

TEST_CASE("dropout takes empty, 0-dim and meta tensors", "[dropout]") {
  CHECK(dropout(zeros({0, 3})).sizes() == IntSpan{0, 3});
  CHECK(dropout(ones({}), 0).item<float>() == 1);
  CHECK(dropout(empty({2, 3}, {.device = meta})).device() == meta);
}

TEST_CASE("dropout of whole channels", "[dropout]") {
  manual_seed(6);
  const std::vector<float> y = dropout2d(ones({50, 40, 2, 3}), 0.5).to_vector<float>();
  std::int64_t dropped = 0;
  for (std::size_t c = 0; c < 2000; ++c) {
    for (std::size_t i = 1; i < 6; ++i) CHECK(y[6 * c + i] == y[6 * c]);
    dropped += y[6 * c] == 0;
  }

  CHECK(double(dropped) / 2000 == Approx(0.5).margin(0.06));
  CHECK(dropout1d(ones({2, 3, 4}), 0).to_vector<float>() == std::vector<float>(24, 1));
  CHECK(dropout1d(ones({3, 4}), 1).to_vector<float>() == std::vector<float>(12, 0));
  CHECK(dropout3d(ones({2, 1, 1, 1, 1}), 0.5, false).dim() == 5);
}

TEST_CASE("alpha_dropout keeps mean 0 and variance 1, in place as well", "[dropout]") {
  manual_seed(1);
  Tensor x = randn({200000}).requires_grad_();
  manual_seed(2);
  const Tensor y = alpha_dropout(x, 0.3);
  CHECK(y.mean().item<double>() == Approx(0).margin(0.01));
  CHECK(y.var().item<double>() == Approx(1).margin(0.02));

  manual_seed(2);
  Tensor z = x.mul(1);
  alpha_dropout_(z, 0.3);
  CHECK(z.equal(y));
  z.sum().backward();
  const Tensor in_place = x.grad();
  x.set_grad(Tensor());
  y.sum().backward();
  CHECK(in_place.equal(x.grad()));
  CHECK(double(in_place.eq(0).sum().item<std::int64_t>()) / 200000 == Approx(0.3).margin(0.01));

  CHECK(alpha_dropout_(z, 0.3, false).equal(y));
  CHECK(alpha_dropout_(z, 1).eq(0).all().item<bool>());
  CHECK_THROWS_WITH(alpha_dropout_(z, 2), Contains("alpha_dropout_: p is the probability"));
}

TEST_CASE("wrong arguments of dropout are refused", "[dropout]") {
  Tensor x = ones({2});

  for (const bool training : {true, false}) {
    CHECK_THROWS_WITH(dropout(x, -0.1, training), Contains("dropout: p is the probability") && Contains("-0.1"));
    CHECK_THROWS_AS(dropout(x, 1.1, training), ValueError);
    CHECK_THROWS_AS(dropout_(x, NAN, training), ValueError);
  }
  CHECK_THROWS_WITH(dropout(tensor({1, 2})), Contains("int64[2] on cpu"));
  CHECK_THROWS_WITH(dropout2d(ones({2, 3})), Contains("dropout2d") && Contains("float32[2, 3] on cpu"));
  CHECK(x.to_vector<float>() == std::vector<float>{1, 1});
}
