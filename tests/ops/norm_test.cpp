#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/compare.h>
#include <taper/ops/norm.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include "support/catch.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {

Tensor normal(IntSpan sizes, bool requires_grad = false) {
  return randn(sizes, {.dtype = float64, .requires_grad = requires_grad});
}
Tensor numbers(std::initializer_list<TensorData> v, bool requires_grad = false) {
  return tensor(v, {.dtype = float64, .requires_grad = requires_grad});
}
bool close(const Tensor& t, std::vector<double> expected) {
  const std::vector<double> v = t.detach().to(float64).to_vector<double>();
  if (v.size() != expected.size()) return false;
  for (std::size_t i = 0; i < v.size(); ++i)
    if (v[i] != Approx(expected[i]).margin(2e-6)) return false;
  return true;
}

/// The definition in other operators.
Tensor written_out(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& var,
                   double eps) {
  IntVec column(std::size_t(x.dim()), 1);
  column[1] = x.size(1);
  Tensor y = (x - mean.view(column)) / (var.view(column) + eps).sqrt();
  if (weight.defined()) y = y * weight.view(column);
  return bias.defined() ? y + bias.view(column) : y;
}

}  // namespace

TEST_CASE("batch_norm normalizes each channel by its batch", "[norm][B46]") {
  const Tensor x = numbers({{1.0}, {2.0}, {3.0}, {6.0}});
  Tensor mean = zeros({1}, float64), var = ones({1}, float64);
  const Tensor y = batch_norm(x, {}, {}, mean, var, true);

  CHECK(close(y, {-1.069043, -0.534522, 0, 1.603565}));
  CHECK(close(mean, {0.3}));
  CHECK(close(var, {1.366667}));  // the unbiased 4.666667 * 0.1 + 0.9
  CHECK(mean.version() == 1);
  CHECK(var.version() == 1);

  Tensor image_mean = zeros({1}, float64), image_var = ones({1}, float64);
  batch_norm(numbers({1.0, 2.0, 3.0, 4.0}).view({1, 1, 2, 2}), {}, {}, image_mean, image_var, true);
  CHECK(close(image_mean, {0.25}));
  CHECK(close(image_var, {1.066667}));
}

TEST_CASE("batch_norm's gradient goes through the statistics", "[norm][B46]") {
  const Tensor x = numbers({{1.0}, {2.0}, {4.0}}, true);
  batch_norm(x, {}, {}, {}, {}, true).backward(numbers({{1.0}, {0.0}, {0.0}}));

  CHECK(close(x.grad(), {0.229082, -0.343620, 0.114538}));
}

TEST_CASE("batch_norm in eval uses the running statistics and keeps them", "[norm]") {
  manual_seed(1);
  const Tensor x = normal({3, 2, 4}), weight = numbers({2.0, -1.0}), bias = numbers({0.5, 1.0});
  Tensor mean = numbers({0.25, -1.0}), var = numbers({4.0, 0.5});
  const Tensor y = batch_norm(x, weight, bias, mean, var, false, 0.1, 0.5);

  CHECK(allclose(y, written_out(x, weight, bias, mean, var, 0.5)));
  CHECK(close(mean, {0.25, -1}));
  CHECK(mean.version() == 0);
  CHECK(allclose(batch_norm(x, {}, {}, mean, var, false), written_out(x, {}, {}, mean, var, 1e-5)));
}

TEST_CASE("batch_norm takes any rank, layout and strides", "[norm]") {
  manual_seed(2);
  const Tensor weight = normal({3}), bias = normal({3});
  for (const IntVec& sizes : {IntVec{5, 3}, IntVec{4, 3, 7}, IntVec{2, 3, 5, 4}, IntVec{2, 3, 2, 3, 2}}) {
    const Tensor x = normal(sizes);
    IntVec dims = {0};
    for (std::int64_t d = 2; d < x.dim(); ++d) dims.push_back(d);
    const Tensor expected = written_out(x, weight, bias, x.mean(dims), x.var(dims, 0), 1e-5);

    CHECK(allclose(batch_norm(x, weight, bias, {}, {}, true), expected));
    CHECK(allclose(batch_norm(x.to(float32), weight.to(float32), bias.to(float32), {}, {}, true), expected.to(float32),
                   1e-4, 1e-5));
    if (x.dim() < 3) continue;
    const Tensor last = batch_norm(x.contiguous(MemoryFormat::channels_last), weight, bias, {}, {}, true);
    CHECK(last.is_contiguous(MemoryFormat::channels_last));
    CHECK(allclose(last, expected));
    const Tensor turned = x.transpose(0, -1).contiguous().transpose(0, -1);
    CHECK(allclose(batch_norm(turned, weight, bias, {}, {}, true), expected));
  }
  const Tensor x = normal({4, 3}), wide = normal({6});
  const Tensor mean = x.mean(IntVec{0}), var = x.var(IntVec{0}, 0);
  CHECK(allclose(batch_norm(x, wide.slice(0, 0, 6, 2), {}, {}, {}, true),
                 written_out(x, wide.slice(0, 0, 6, 2), {}, mean, var, 1e-5)));
}

TEST_CASE("batch_norm updates running statistics that are views", "[norm]") {
  manual_seed(3);
  const Tensor x = normal({8, 2});
  Tensor both = zeros({2, 2}, float64);
  batch_norm(x, {}, {}, both.select(1, 0), both.select(1, 1), true, 1.0);

  CHECK(allclose(both.select(1, 0), x.mean(IntVec{0})));
  CHECK(allclose(both.select(1, 1), x.var(IntVec{0}, 1)));
  CHECK(both.version() == 2);
}

TEST_CASE("batch_norm has first and second derivatives", "[norm]") {
  manual_seed(4);
  const Tensor weight = normal({2}, true), bias = normal({2}, true);
  const Tensor mean = normal({2}), var = rand({2}, {.dtype = float64}) + 0.5;
  for (const IntVec& sizes : {IntVec{4, 2}, IntVec{3, 2, 2}, IntVec{2, 2, 2, 3}})
    for (const bool training : {true, false})
      for (const bool is_last : {true, false}) {
        Tensor x = normal(sizes);
        if (is_last && x.dim() > 2) x = x.contiguous(MemoryFormat::channels_last);
        x.requires_grad_();
        const auto f = [&](const TensorList& in) {
          return batch_norm(in[0], in[1], in[2], training ? Tensor() : mean, training ? Tensor() : var, training, 0.1,
                            1e-2);
        };
        CHECK(autograd::gradcheck(f, {x, weight, bias}));
        CHECK(autograd::gradgradcheck(f, {x, weight, bias}));
        const auto without_weight = [&](const TensorList& in) { return f({in[0], Tensor(), Tensor()}); };
        CHECK(autograd::gradcheck(without_weight, {x}));
      }
}

TEST_CASE("batch_norm differentiates any subset of its arguments", "[norm]") {
  manual_seed(5);
  const Tensor values[] = {normal({4, 3}), normal({3}), normal({3})};
  for (int subset = 1; subset < 8; ++subset) {
    TensorList in;
    for (int i = 0; i < 3; ++i) in.push_back(values[i].clone().requires_grad_(subset >> i & 1));
    CHECK(autograd::gradcheck([](const TensorList& t) { return batch_norm(t[0], t[1], t[2], {}, {}, true, 0.1, 1e-2); },
                              in));
  }
}

TEST_CASE("a gradient recorded for second derivatives equals the plain one", "[norm]") {
  manual_seed(6);
  const Tensor x = normal({3, 2, 4}, true), weight = normal({2}, true), g = normal({3, 2, 4});
  for (const bool training : {true, false}) {
    const auto gradients = [&](bool recorded) {
      const Tensor y = batch_norm(x, weight, {}, zeros({2}, float64), ones({2}, float64), training);
      return autograd::grad({y}, {x, weight}, {g}, {.create_graph = recorded});
    };
    const TensorList plain = gradients(false), recorded = gradients(true);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(allclose(plain[i], recorded[i]));
      CHECK(recorded[i].requires_grad());
    }
  }
}

TEST_CASE("running statistics may change between forward and backward", "[norm]") {
  manual_seed(7);
  Tensor a = normal({4, 2}, true);
  const Tensor b = normal({4, 2}, true);
  Tensor mean = zeros({2}, float64), var = ones({2}, float64);
  const Tensor y = batch_norm(a, {}, {}, mean, var, true) * batch_norm(b, {}, {}, mean, var, true);
  CHECK_NOTHROW(y.sum().backward());

  const Tensor z = batch_norm(a, {}, {}, mean, var, false);
  const Tensor expected = (var + 1e-5).rsqrt();
  a.zero_grad();
  var.fill_(100);
  z.sum().backward();
  CHECK(allclose(a.grad(), expected.expand({4, 2})));
}

TEST_CASE("batch_norm with momentum 0 leaves the running statistics alone", "[norm]") {
  Tensor mean = zeros({2}, float64), var = ones({2}, float64);
  batch_norm(normal({4, 2}), {}, {}, mean, var, true, 0);

  CHECK(equal(mean, zeros({2}, float64)));
  CHECK(equal(var, ones({2}, float64)));
  CHECK(mean.version() == 0);
}

TEST_CASE("batch_norm of no elements touches nothing", "[norm]") {
  Tensor mean = zeros({3}), var = ones({3});
  const Tensor x = zeros({0, 3, 2}, {.requires_grad = true});
  const Tensor weight = ones({3}, {.requires_grad = true});
  const Tensor y = batch_norm(x, weight, {}, mean, var, true);
  CHECK(y.sizes() == IntSpan{0, 3, 2});
  y.sum().backward();

  CHECK(x.grad().sizes() == x.sizes());
  CHECK(equal(weight.grad(), zeros({3})));
  CHECK(equal(mean, zeros({3})));
  CHECK(mean.version() == 0);
  CHECK(batch_norm(zeros({0}), {}, {}, zeros({0}), zeros({0}), true).numel() == 0);
}

TEST_CASE("batch_norm gives shapes without memory on meta", "[norm]") {
  const Tensor x = empty({2, 3, 4, 4}, {.device = meta});
  CHECK(batch_norm(x, {}, {}, {}, {}, true).sizes() == x.sizes());
}

TEST_CASE("wrong arguments of batch_norm are refused and change nothing", "[norm]") {
  const Tensor x = ones({2, 3});
  Tensor mean = zeros({3}), var = ones({3});

  CHECK_THROWS_WITH(batch_norm(x, {}, {}, zeros({2}), ones({2}), false),
                    Contains("running_mean is float32[2] on cpu") && Contains("3 channels"));
  CHECK_THROWS_WITH(batch_norm(x, ones({2}), {}, mean, var, true), Contains("weight is float32[2] on cpu"));
  CHECK_THROWS_WITH(batch_norm(x, {}, {}, {}, {}, false), Contains("undefined"));
  CHECK_THROWS_WITH(batch_norm(x, {}, {}, mean, {}, true), Contains("go together"));
  CHECK_THROWS_WITH(batch_norm(ones({1, 3}), {}, {}, mean, var, true),
                    Contains("Expected more than 1 value per channel when training, got x float32[1, 3] on cpu"));
  CHECK_THROWS_AS(batch_norm(ones({1, 3, 1, 1}), {}, {}, mean, var, true), ValueError);
  CHECK_NOTHROW(batch_norm(ones({1, 3}), {}, {}, mean, var, false));
  CHECK_THROWS_AS(batch_norm(ones({3}), {}, {}, mean, var, true), ShapeError);
  CHECK_THROWS_AS(batch_norm(x, ones({3}, float64), {}, mean, var, true), DTypeError);
  CHECK_THROWS_AS(batch_norm(x, {}, {}, zeros({3}, int64), var, true), DTypeError);
  CHECK_THROWS_AS(batch_norm(x.to(int64), {}, {}, {}, {}, true), DTypeError);
  CHECK_THROWS_AS(batch_norm(x, {}, {}, zeros({3}, {.requires_grad = true}), var, true), AutogradError);
  CHECK_THROWS_AS(batch_norm(x, {}, {}, zeros({1}).expand({3}), var, true), ShapeError);
  CHECK(equal(mean, zeros({3})));
  CHECK(mean.version() == 0);
}

TEST_CASE("running statistics that require grad are refused in evaluation too") {
  Tensor mean = zeros({2}), var = ones({2});
  mean.requires_grad_();
  CHECK_THROWS_AS(batch_norm(ones({3, 2}), {}, {}, mean, var, false), AutogradError);
  const NoGradGuard no_grad;
  CHECK(batch_norm(ones({3, 2}), {}, {}, mean, var, false).numel() == 6);
}
