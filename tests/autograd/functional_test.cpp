// Jacobians, Hessians and their products with vectors, and what grad() checks.
#include <taper/autograd/engine.h>
#include <taper/autograd/functional.h>
#include <taper/autograd/node.h>
#include <taper/factory.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;
namespace F = taper::autograd::functional;

namespace {
Tensor t64(std::initializer_list<TensorData> v) { return tensor(v, float64); }
Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }
}  // namespace

TEST_CASE("the jacobian has the shape of the output, then that of the input") {
  const Tensor x = t64({{1, 2, 3}, {4, 5, 6}});
  const Tensor j = F::jacobian([](const Tensor& t) { return t.sum({1}).square(); }, x);
  CHECK(j.sizes() == IntSpan{2, 2, 3});
  CHECK(values(j) == Values{12, 12, 12, 0, 0, 0, 0, 0, 0, 30, 30, 30});
  CHECK_FALSE(j.requires_grad());
  CHECK_FALSE(x.requires_grad());
  CHECK(F::jacobian([](const Tensor& t) { return t.sum(); }, x).sizes() == IntSpan{2, 3});
  CHECK(F::jacobian([](const Tensor& t) { return t.narrow(0, 0, 0); }, x).sizes() == IntSpan{0, 3, 2, 3});
}

TEST_CASE("several inputs or outputs of a jacobian are a list, several of both a list of lists") {
  const Tensor a = t64({1, 2}), b = t64({3});
  const TensorList by_output = F::jacobian([](const Tensor& t) { return TensorList{t * 2, t.sum()}; }, a);
  CHECK(by_output.size() == 2);
  CHECK(values(by_output[0]) == Values{2, 0, 0, 2});
  CHECK(values(by_output[1]) == Values{1, 1});

  const TensorList by_input = F::jacobian([](const TensorList& in) { return in[0] * in[1]; }, TensorList{a, b});
  CHECK(by_input.size() == 2);
  CHECK(values(by_input[0]) == Values{3, 0, 0, 3});
  CHECK(by_input[1].sizes() == IntSpan{2, 1});
  CHECK(values(by_input[1]) == Values{1, 2});

  const std::vector<TensorList> both = F::jacobian(
      [](const TensorList& in) {
        return TensorList{in[0].sum(), in[1] * in[1]};
      },
      TensorList{a, b});
  CHECK(values(both[0][0]) == Values{1, 1});
  CHECK(values(both[0][1]) == Values{0});
  CHECK(values(both[1][0]) == Values{0, 0});
  CHECK(values(both[1][1]) == Values{6});
  CHECK(both[1][0].sizes() == IntSpan{1, 2});
}

TEST_CASE("the hessian of a quadratic form is its symmetric matrix") {
  const Tensor m = t64({{1, 2}, {3, 4}}), x = t64({5, 6});
  const auto form = [&](const Tensor& t) { return dot(t, matmul(m, t)); };
  CHECK(values(F::hessian(form, x)) == Values{2, 5, 5, 8});

  const Tensor y = t64({7});
  const auto h = F::hessian([](const TensorList& in) { return (in[0].square() * in[1]).sum(); }, TensorList{x, y});
  CHECK(values(h[0][0]) == Values{14, 0, 0, 14});
  CHECK(values(h[0][1]) == Values{10, 12});
  CHECK(h[0][1].sizes() == IntSpan{2, 1});
  CHECK(values(h[1][0]) == Values{10, 12});
  CHECK(values(h[1][1]) == Values{0});
  CHECK(values(F::hessian([](const Tensor& t) { return t.sum(); }, x)) == Values{0, 0, 0, 0});
  CHECK(contains(message_of<ShapeError>([&] { F::hessian([](const Tensor& t) { return t * t; }, x); }),
                 "must return one tensor of one element"));
}

TEST_CASE("vjp and jvp are the jacobian times a vector from the left and from the right") {
  const Tensor x = t64({1, 2, 3});
  const auto f = [](const Tensor& t) { return t.narrow(0, 0, 2) * t.narrow(0, 1, 2); };  // x0 x1, x1 x2
  const Tensor j = F::jacobian(f, x), u = t64({5, 7}), v = t64({1, -1, 2});
  const auto [left_out, left] = F::vjp(f, x, u);
  CHECK(values(left_out) == Values{2, 6});
  CHECK(values(left) == values(matmul(u, j)));
  const auto [right_out, right] = F::jvp(f, x, v);
  CHECK(values(right_out) == Values{2, 6});
  CHECK(values(right) == values(matmul(j, v)));
  CHECK_FALSE(left.requires_grad());
  CHECK_FALSE(right_out.requires_grad());
}

TEST_CASE("vjp and jvp keep the structure of inputs and outputs") {
  const Tensor a = t64({1, 2}), b = t64({3});
  const auto two = [](const TensorList& in) { return TensorList{in[0] * in[1], in[1].square()}; };
  const auto [out, grads] = F::vjp(two, TensorList{a, b}, {t64({1, 1}), t64({10})});
  CHECK(out.size() == 2);
  CHECK(values(grads[0]) == Values{3, 3});
  CHECK(values(grads[1]) == Values{63});
  const auto [same, change] = F::jvp(two, TensorList{a, b}, {t64({1, 0}), t64({2})});
  CHECK(values(same[1]) == Values{9});
  CHECK(values(change[0]) == Values{5, 4});
  CHECK(values(change[1]) == Values{12});

  const auto one = [](const TensorList& in) { return (in[0] * in[1]).sum(); };
  const auto [total, by_both] = F::vjp(one, TensorList{a, b});
  CHECK(values(total) == Values{9});
  CHECK(values(by_both[1]) == Values{3});
  CHECK(values(F::jvp([](const Tensor& t) { return t * t64({1, 2}); }, b).second) == Values{1, 2});
}

TEST_CASE("what does not depend on the inputs has zero derivatives, or is an error if strict") {
  const Tensor x = t64({1, 2}), y = t64({3});
  const auto constant = [](const Tensor&) { return ones({2}, float64); };
  const auto first = [](const TensorList& in) { return in[0].sum(); };
  const auto integer = [](const Tensor& t) { return t.argmax(); };
  CHECK(values(F::jacobian(constant, x)) == Values{0, 0, 0, 0});
  CHECK(values(F::jacobian(integer, x)) == Values{0, 0});
  CHECK(values(F::vjp(first, TensorList{x, y}).second[1]) == Values{0});
  CHECK(values(F::jvp(constant, x, x).second) == Values{0, 0});
  CHECK(values(F::jvp(integer, x, x).second) == Values{0});
  CHECK_THROWS_AS(F::jacobian(constant, x, {.strict = true}), AutogradError);
  CHECK(contains(message_of<AutogradError>([&] { F::vjp(first, TensorList{x, y}, {}, {.strict = true}); }), "input 1"));
  CHECK_THROWS_AS(F::jvp(constant, x, x, {.strict = true}), AutogradError);
  CHECK_THROWS_AS(F::hessian([](const Tensor& t) { return t.sum(); }, x, {.strict = true}), AutogradError);
}

TEST_CASE("with create_graph the results are part of the caller's graph") {
  Tensor x = leaf({2, 3}), w = leaf({5, 7});
  const auto f = [&](const Tensor& t) { return t * t * t * w; };
  const Tensor j = F::jacobian(f, x, {.create_graph = true});
  j.sum().backward();  // sum 3 x^2 w
  CHECK(values(x.grad()) == Values{60, 126});
  CHECK(values(w.grad()) == Values{12, 27});
  x.zero_grad(), w.zero_grad();
  F::jvp(f, x, ones({2}, float64), {.create_graph = true}).second.sum().backward();
  CHECK(values(x.grad()) == Values{60, 126});
  x.zero_grad();
  F::vjp(f, x, ones({2}, float64), {.create_graph = true}).second.sum().backward();
  CHECK(values(x.grad()) == Values{60, 126});
  x.zero_grad();
  F::hessian([&](const Tensor& t) { return f(t).sum(); }, x, {.create_graph = true}).sum().backward();
  CHECK(values(x.grad()) == Values{30, 42});
}

TEST_CASE("derivatives of functions leave gradients and modes alone, and say what is wrong") {
  Tensor x = leaf({1, 2});
  const auto square = [](const Tensor& t) { return t * t; };
  {
    const NoGradGuard no_grad;
    CHECK(values(F::jacobian(square, x)) == Values{2, 0, 0, 4});
    CHECK_FALSE(GradMode::is_enabled());
  }
  CHECK_FALSE(x.grad().defined());
  CHECK(contains(message_of<ValueError>([&] { F::vjp(square, x); }), "v can be left out only for a single output"));
  CHECK(contains(message_of<ValueError>([&] { F::jvp(square, x); }), "single input"));
  CHECK_THROWS_AS(F::vjp(square, x, t64({1, 2, 3})), ShapeError);
  CHECK_THROWS_AS(F::jvp(square, x, t64({1, 2, 3})), ShapeError);
  CHECK_THROWS_AS(F::jacobian(square, arange(3)), AutogradError);
  CHECK_THROWS_AS(F::jacobian(square, Tensor()), ValueError);
  CHECK_THROWS_AS(F::jacobian([](const TensorList& in) { return in[0]; }, TensorList{}), ValueError);
  CHECK_THROWS_AS(F::jacobian([](const Tensor&) { return Tensor(); }, x), ValueError);
  CHECK_THROWS_AS(F::vjp([](const TensorList& in) { return in; }, TensorList{x}, {x, x}), ValueError);
}

TEST_CASE("grad checks its arguments, and captures roots and repeated inputs", "[B86]") {
  Tensor x = leaf({1, 2});
  Tensor y = x * x, s = y.sum();
  CHECK_THROWS_AS(autograd::grad({}, {x}), ValueError);
  CHECK_THROWS_AS(autograd::grad({s}, {}), ValueError);
  CHECK_THROWS_AS(autograd::grad({Tensor()}, {x}), ValueError);
  CHECK_THROWS_AS(autograd::grad({s}, {Tensor()}), ValueError);
  CHECK_THROWS_AS(autograd::grad({y}, {x}), AutogradError);
  CHECK_THROWS_AS(autograd::grad({y}, {x}, {ones({3}, float64)}), ShapeError);
  CHECK_THROWS_AS(autograd::grad({s}, {x}, {{}, {}}), AutogradError);
  CHECK_THROWS_AS(autograd::grad({x.detach().sum()}, {x}), AutogradError);
  CHECK_THROWS_AS(autograd::grad({s}, {ones({1})}, {}, {.allow_unused = true}), AutogradError);

  const TensorList g = autograd::grad({s}, {s, y, x, x}, {}, {.retain_graph = true});
  CHECK(values(g[0]) == Values{1});
  CHECK(values(g[1]) == Values{1, 1});
  CHECK(values(g[2]) == Values{2, 4});
  CHECK(values(g[3]) == Values{2, 4});
  CHECK(values(autograd::grad({y, s}, {x}, {t64({10, 100}), {}}, {.retain_graph = true})[0]) == Values{22, 404});
  CHECK_FALSE(g[2].requires_grad());
  CHECK(autograd::grad({s}, {x}, {}, {.create_graph = true})[0].requires_grad());
  autograd::grad({s}, {x});
  CHECK_THROWS_AS(autograd::grad({s}, {x}), AutogradError);
  CHECK_FALSE(x.grad().defined());
}
