#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/activation.h>
#include <taper/ops/compare.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/message.h"

using namespace taper;

namespace {

using Floats = std::vector<float>;
using Function = std::function<Tensor(const Tensor&)>;

struct Named {
  const char* name;
  Function f;
  std::function<Tensor&(Tensor&)> f_;  // empty: no in-place form
};

const std::vector<Named>& activations() {
  static const std::vector<Named> all = {
      {"leaky_relu", [](const Tensor& x) { return leaky_relu(x, 0.2); },
       [](Tensor& x) -> Tensor& { return leaky_relu_(x, 0.2); }},
      {"elu", [](const Tensor& x) { return elu(x, 1.5, 2, 0.5); },
       [](Tensor& x) -> Tensor& { return elu_(x, 1.5, 2, 0.5); }},
      {"celu", [](const Tensor& x) { return celu(x, 1.5); }, [](Tensor& x) -> Tensor& { return celu_(x, 1.5); }},
      {"selu", [](const Tensor& x) { return selu(x); }, selu_},
      {"gelu", [](const Tensor& x) { return gelu(x); }, [](Tensor& x) -> Tensor& { return gelu_(x); }},
      {"gelu tanh", [](const Tensor& x) { return gelu(x, "tanh"); },
       [](Tensor& x) -> Tensor& { return gelu_(x, "tanh"); }},
      {"silu", silu, silu_},
      {"mish", mish, mish_},
      {"softplus", [](const Tensor& x) { return softplus(x, 2, 1.5); }, {}},
      {"softsign", softsign, {}},
      {"log_sigmoid", log_sigmoid, {}},
      {"tanhshrink", tanhshrink, {}},
      {"hardshrink", [](const Tensor& x) { return hardshrink(x, 0.4); }, {}},
      {"softshrink", [](const Tensor& x) { return softshrink(x, 0.4); }, {}},
      {"hardtanh", [](const Tensor& x) { return hardtanh(x, -0.8, 1.2); },
       [](Tensor& x) -> Tensor& { return hardtanh_(x, -0.8, 1.2); }},
      {"relu6", relu6, relu6_},
      {"hardsigmoid", hardsigmoid, hardsigmoid_},
      {"hardswish", hardswish, hardswish_},
      {"threshold", [](const Tensor& x) { return threshold(x, 0.1, -3.0); },
       [](Tensor& x) -> Tensor& { return threshold_(x, 0.1, -3.0); }},
      {"glu", [](const Tensor& x) { return glu(x, 0); }, {}},
      {"softmin", [](const Tensor& x) { return softmin(x, 0); }, {}},
  };
  return all;
}

/// Values on both sides of every corner, and at none of them.
Tensor sample() { return linspace(-3.9, 7.3, 24, {.dtype = float64}).view({4, 6}); }

}  // namespace

TEST_CASE("activations have the values of their formulas") {
  const Tensor x = tensor({-2.0, -0.5, 0.0, 0.5, 2.0}, float64);
  const auto is = [&](const Tensor& y, const std::function<double(double)>& f) {
    const std::vector<double> got = y.to_vector<double>(), at = x.to_vector<double>();
    for (std::size_t i = 0; i < at.size(); ++i) CHECK(got[i] == Approx(f(at[i])).margin(1e-12));
  };
  is(leaky_relu(x, 0.2), [](double v) { return v > 0 ? v : 0.2 * v; });
  is(elu(x, 1.5), [](double v) { return v > 0 ? v : 1.5 * std::expm1(v); });
  is(celu(x, 2), [](double v) { return v > 0 ? v : 2 * std::expm1(v / 2); });
  is(gelu(x), [](double v) { return v * 0.5 * std::erfc(-v / std::sqrt(2.0)); });
  is(gelu(x, "tanh"),
     [](double v) { return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))); });
  is(silu(x), [](double v) { return v / (1 + std::exp(-v)); });
  is(mish(x), [](double v) { return v * std::tanh(std::log1p(std::exp(v))); });
  is(softplus(x, 2), [](double v) { return std::log1p(std::exp(2 * v)) / 2; });
  is(log_sigmoid(x), [](double v) { return -std::log1p(std::exp(-v)); });
  is(softsign(x), [](double v) { return v / (1 + std::fabs(v)); });
  is(tanhshrink(x), [](double v) { return v - std::tanh(v); });
  is(hardshrink(x), [](double v) { return std::fabs(v) > 0.5 ? v : 0; });
  is(softshrink(x), [](double v) { return v > 0.5 ? v - 0.5 : v < -0.5 ? v + 0.5 : 0; });
  is(hardtanh(x), [](double v) { return std::clamp(v, -1.0, 1.0); });
  is(hardsigmoid(x), [](double v) { return std::clamp(v / 6 + 0.5, 0.0, 1.0); });
  is(hardswish(x), [](double v) { return v * std::clamp(v / 6 + 0.5, 0.0, 1.0); });
  is(threshold(x, 0, 7), [](double v) { return v > 0 ? v : 7; });
}

TEST_CASE("activations have first and second derivatives, and layouts do not matter") {
  for (const Named& a : activations()) {
    CAPTURE(a.name);
    Tensor x = sample();
    CHECK(allclose(a.f(x.t().contiguous().t()), a.f(x), 1e-12, 1e-12));
    x.requires_grad_();
    const auto f = [&](const TensorList& in) { return a.f(in[0]); };
    CHECK(autograd::gradcheck(std::function<Tensor(const TensorList&)>(f), {x}));
    CHECK(autograd::gradgradcheck(std::function<Tensor(const TensorList&)>(
                                      [&](const TensorList& in) { return a.f(in[0]) * in[0].narrow(0, 0, 1).sum(); }),
                                  {x}));
    const Tensor nothing = zeros({0, 2, 0}, {.requires_grad = true});
    CHECK(a.f(nothing).numel() == 0);
    CHECK(a.f(zeros({2, 3}, float32, meta)).device() == meta);
    CHECK(a.f(tensor({NAN, NAN})).isnan().all().item<bool>());
  }
}

TEST_CASE("activations in place give the same values and gradients") {
  for (const Named& a : activations()) {
    if (!a.f_) continue;
    CAPTURE(a.name);
    Tensor x = sample(), w = sample();
    x.requires_grad_(), w.requires_grad_();
    const Tensor want = a.f(x);
    want.sum().backward();
    Tensor y = w * 1;
    a.f_(y);
    y.sum().backward();
    CHECK(y.equal(want));
    CHECK(w.grad().equal(x.grad()));
    CHECK_THROWS_AS(a.f_(w), AutogradError);
  }
}

TEST_CASE("prelu has one slope, or one for each channel") {
  const Tensor x = tensor({{-1.0, 2.0}, {-3.0, -4.0}});
  CHECK(prelu(x, tensor({0.5})).to_vector<float>() == Floats{-0.5, 2, -1.5, -2});
  CHECK(prelu(x, tensor({0.5, 2.0})).to_vector<float>() == Floats{-0.5, 2, -1.5, -8});
  CHECK_THROWS_AS(prelu(x, tensor({1.0, 2.0, 3.0})), ShapeError);
  Tensor in = linspace(-1.3, 1.4, 12, float64).view({2, 3, 2}), w = tensor({0.1, 0.3, 0.7}, float64);
  in.requires_grad_(), w.requires_grad_();
  CHECK(autograd::gradcheck(
      std::function<Tensor(const TensorList&)>([](const TensorList& t) { return prelu(t[0], t[1]); }), {in, w}));
}

TEST_CASE("activations stay finite where their formulas overflow") {
  const Tensor x = tensor({-1e4, 1e4});
  CHECK(silu(x).to_vector<float>() == Floats{-0.f, 1e4f});
  CHECK(softplus(x).to_vector<float>() == Floats{0, 1e4f});
  CHECK(mish(x).to_vector<float>() == Floats{-0.f, 1e4f});
  CHECK(log_sigmoid(x).to_vector<float>() == Floats{-1e4f, 0});
  CHECK(elu(x).to_vector<float>() == Floats{-1, 1e4f});
  for (const Named& a : activations()) {
    CAPTURE(a.name);
    Tensor w = tensor({-1e4, 1e4});
    w.requires_grad_();
    a.f(w).sum().backward();
    CHECK(w.grad().isfinite().all().item<bool>());
  }
}

TEST_CASE("activations refuse what they do not take") {
  CHECK(contains(message_of<DTypeError>([] { gelu(tensor({1, 2})); }), "gelu: needs a floating dtype"));
  CHECK_THROWS_AS(gelu(ones({2}), "fast"), ValueError);
  CHECK_THROWS_AS(celu(ones({2}), 0), ValueError);
  CHECK_THROWS_AS(softplus(ones({2}), 0), ValueError);
  CHECK_THROWS_AS(softshrink(ones({2}), -1), ValueError);
  CHECK_THROWS_AS(hardtanh(ones({2}), 1, -1), ValueError);
  CHECK_THROWS_AS(hardtanh(zeros({2}, bool_)), DTypeError);
  CHECK_THROWS_AS(glu(ones({3})), ShapeError);
  CHECK_THROWS_AS(glu(ones({})), ShapeError);
  CHECK(hardtanh(tensor({-5, 0, 5})).dtype() == int64);
  CHECK(relu6(tensor({-5, 3, 9})).to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 3, 6});
  CHECK(threshold(tensor({1, 2, 3}), 2, 9).to_vector<std::int64_t>() == std::vector<std::int64_t>{9, 9, 3});
}
