// Which history a view has, and which writes would make it a lie: what the fuzzer found, one case each, and the rules
// of item "views and in-place" that inplace_test.cpp does not show.
#include <taper/autograd/engine.h>
#include <taper/autograd/hooks.h>
#include <taper/autograd/node.h>
#include <taper/factory.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/tensor_index.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }
Tensor fixed(std::initializer_list<TensorData> v) { return tensor(v, float64); }

template <class F>
Tensor without_grad(F f) {
  const NoGradGuard no_grad;
  return f();
}

/// x.grad() after y = x * 1, write(y) and (y * weights).sum().backward().
template <class F>
Values gradient_after(const Tensor& x, const Tensor& weights, F write) {
  Tensor y = x * 1;
  write(y);
  (y * weights).sum().backward();
  return values(x.grad());
}

}  // namespace

TEST_CASE("a write through any view reaches the base's gradient, and only where the view looks", "[S72]") {
  const Tensor w = fixed({{1, 2}, {3, 4}});
  const auto check_view = [&](auto view, const Values& expected) {
    Tensor x = leaf({{5, 6}, {7, 8}});
    CHECK(gradient_after(x, w, [&](Tensor& y) { view(y).mul_(10); }) == expected);
  };
  check_view([](const Tensor& y) { return y.select(1, 0); }, {10, 2, 30, 4});
  check_view([](const Tensor& y) { return y.slice(0, 1, 2); }, {1, 2, 30, 40});
  check_view([](const Tensor& y) { return y.t(); }, {10, 20, 30, 40});
  check_view([](const Tensor& y) { return y.diagonal(); }, {10, 2, 3, 40});
  check_view([](const Tensor& y) { return y.as_strided({2}, {3}, 0); }, {10, 2, 3, 40});
  check_view([](const Tensor& y) { return y.view({4}).slice(0, 1, 3); }, {1, 20, 30, 4});
  check_view([](const Tensor& y) { return y.unsqueeze(0).select(2, 1).squeeze(0); }, {1, 20, 3, 40});
  check_view([](const Tensor& y) { return y.t().select(0, 0).slice(0, 1, 2); }, {1, 2, 30, 4});
}

TEST_CASE("writes to the base and to its views interleave") {
  Tensor x = leaf({1, 2, 3});
  Tensor y = x * 1;
  Tensor v = y.slice(0, 0, 2), u = v.select(0, 1);
  y.mul_(2);  // 2, 4, 6
  v.mul_(y.slice(0, 1, 3).detach().clone());
  y.add_(1);
  u.mul_(5);
  const IntrusivePtr<Node> before = v.grad_fn();
  y.mul_(3);
  CHECK(v.grad_fn() != before);

  v.sum().backward();
  CHECK(values(x.grad()) == Values{2 * 4 * 3, 2 * 6 * 5 * 3, 0});
}

TEST_CASE("a view of memory that holds nothing may be written, wherever it lies") {
  Tensor x = leaf({1, 2, 3});
  Tensor y = x * 1;
  Tensor nothing = y.slice(0, 3, 3);
  nothing.mul_(2);
  y.slice(0, 1, 1).zero_();
  y.sum().backward();
  CHECK(values(x.grad()) == Values{1, 1, 1});
}

TEST_CASE("a write beside the tensor that is viewed is refused: no history could tell of it") {
  const Tensor whole = fixed({1, 2, 3, 4});
  const Tensor part = whole.slice(0, 0, 2).detach(), even = whole.slice(0, 0, 4, 2).detach();
  Tensor beside = part.as_strided({2}, {1}, 2), between = even.as_strided({2}, {1}, 0);
  Tensor w = leaf({5, 6});
  CHECK_THROWS_WITH(beside.mul_(w), Catch::Contains("reaches outside"));
  CHECK_THROWS_WITH(between.mul_(w), Catch::Contains("reaches outside"));
  CHECK(values(whole) == Values{1, 2, 3, 4});
  Tensor repeated = fixed({1}).expand({3}).detach();
  CHECK_THROWS_AS(repeated.select(0, 0).copy_(w.select(0, 0)), ShapeError);
}

TEST_CASE("a view made before its base became a leaf cannot be used to write into the leaf", "[B1]") {
  Tensor x = fixed({1, 2, 3});
  Tensor v = x.slice(0, 0, 2), part = x.unbind()[2];
  x.requires_grad_();
  CHECK_THROWS_WITH(v.mul_(2), Catch::Contains("a view of a leaf that requires grad"));
  CHECK_THROWS_WITH(part.zero_(), Catch::Contains("a view of a leaf that requires grad"));
  CHECK(values(x) == Values{1, 2, 3});
  const NoGradGuard no_grad;
  v.mul_(2);
  CHECK(values(x) == Values{2, 4, 3});
}

TEST_CASE("a base cut off by detach_ cuts off the views that are written afterwards") {
  Tensor x = leaf({1, 2, 3});
  Tensor y = x * 2;
  const Tensor v = y.slice(0, 0, 2);
  Tensor u = y.slice(0, 1, 3);
  y.detach_();
  v.sum().backward({}, true);  // as it was when the view was made
  CHECK(values(x.grad()) == Values{2, 2, 0});
  CHECK_THROWS_AS(u.mul_(leaf({1, 1})), AutogradError);

  y.mul_(3);
  x.zero_grad();
  v.sum().backward();
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("results of one call may be read until the memory is written, and then say why not") {
  Tensor x = leaf({1, 2, 3, 4});
  for (int way = 0; way < 3; ++way) {
    Tensor y = x * 1;
    const Tensor part = way == 0 ? y.split(2)[0] : way == 1 ? y.chunk(2)[1] : y.unbind()[0];
    CHECK((part * 2).requires_grad());
    CHECK_THROWS_AS(part.view({-1}).mul_(2), AutogradError);
    y.mul_(2);
    CHECK(part.requires_grad());
    CHECK_THROWS_WITH(part * 2, Catch::Contains("one of several results"));
    CHECK_THROWS_WITH(Tensor(part).requires_grad_(false), Catch::Contains("result of"));
    (y * 1).sum().backward();
  }
  CHECK(values(x.grad()) == Values{6, 6, 6, 6});
}

TEST_CASE("requires_grad_ on views: a leaf of its own, unless its base has a history") {
  Tensor plain = fixed({1, 2, 3});
  Tensor v = plain.slice(0, 0, 2).requires_grad_();
  CHECK(v.is_leaf());
  CHECK_FALSE(plain.requires_grad());
  plain.mul_(2);  // allowed: the leaf is the view, and nothing was saved
  (v * v).sum().backward();
  CHECK(values(v.grad()) == Values{4, 8});

  Tensor x = leaf({1, 2});
  Tensor y = x * 1;
  Tensor of_result = y.slice(0, 0, 1).requires_grad_();
  CHECK_FALSE(of_result.is_leaf());
  CHECK_THROWS_AS(of_result.requires_grad_(false), AutogradError);
}

TEST_CASE("a leaf that became a result takes no gradient from before") {
  Tensor plain = fixed({1, 2, 3});
  Tensor v = plain.slice(0, 0, 2).requires_grad_();
  const Tensor y = v * 3;
  plain.mul_(leaf({1, 2, 3}));
  CHECK_FALSE(v.is_leaf());
  CHECK_THROWS_WITH(y.sum().backward(), Catch::Contains("became the result of"));
}

TEST_CASE("a leaf that stopped requiring grad takes no gradient") {
  Tensor x = leaf({1, 2}), w = leaf({3, 4});
  const Tensor y = (x * w).sum();
  x.requires_grad_(false);
  y.backward({}, true);
  CHECK_FALSE(x.grad().defined());
  CHECK(values(w.grad()) == Values{1, 2});
  x.requires_grad_();
  y.backward();
  CHECK(values(x.grad()) == Values{3, 4});
}

TEST_CASE("a gradient never arrives in another shape or dtype than its leaf has by now", "[S105]") {
  Tensor x = leaf({1, 2});
  const Tensor y = (x * 2).sum();
  x.set_data(fixed({7, 8, 9}));
  CHECK_THROWS_WITH(y.backward({}, true), Catch::Contains("float64[2] on cpu") && Catch::Contains("set_data()"));
  x.set_data(tensor({7, 8}, float32));
  CHECK_THROWS_WITH(y.backward({}, true), Catch::Contains("float32[2] on cpu"));
  x.set_data(fixed({5, 6}));
  y.backward();
  CHECK(values(x.grad()) == Values{2, 2});

  x.set_data(fixed({7, 8, 9}));
  CHECK_THROWS_WITH((x * 2).sum().backward(), Catch::Contains("zero_grad()"));
  x.zero_grad();
  (x * 2).sum().backward();
  CHECK(values(x.grad()) == Values{2, 2, 2});
}

TEST_CASE("a view made without recording outlives the memory of its base", "[S105]") {
  Tensor x = leaf({2, 3});
  Tensor v = without_grad([&] { return x.slice(0, 0, 1); });
  CHECK(v.requires_grad());
  x.set_data(fixed({4}));
  CHECK_FALSE(v.requires_grad());
  CHECK(v.is_leaf());
  CHECK_FALSE((v * 2).requires_grad());
  v.mul_(2);
  CHECK(values(v) == Values{4});
  CHECK_NOTHROW(v.requires_grad_(false));
}

TEST_CASE("set_data on the base leaves the gradients of its older views alone", "[S105]") {
  Tensor x = leaf({2, 3});
  const Tensor v = x.slice(0, 0, 1);
  x.set_data(fixed({7, 8}));
  CHECK_FALSE(v.is_view());
  (v * 2).sum().backward();
  CHECK(values(x.grad()) == Values{2, 0});
}

TEST_CASE("resize_ is for tensors without gradients", "[S108]") {
  Tensor x = leaf({1, 2}), b = fixed({3, 4});
  CHECK_THROWS_AS(x.resize_({3}), AutogradError);
  CHECK_THROWS_AS(x.resize_({2}), AutogradError);
  CHECK_THROWS_AS((x * 1).resize_({3}), AutogradError);
  CHECK_THROWS_AS(without_grad([&] { return x.resize_({3}); }), AutogradError);
  CHECK_THROWS_AS(b.detach().resize_({3}), AutogradError);

  const Tensor y = (x * b).sum();
  b.resize_({64});  // new memory; what the graph keeps is as it was
  y.backward();
  CHECK(values(x.grad()) == Values{3, 4});
  Tensor shorter = b.slice(0, 0, 1);
  shorter.resize_({2});
  CHECK(values(shorter) == Values{3, 4});
}

TEST_CASE("the tensors that grad returns share no memory with each other or with what was passed in", "[B12]") {
  Tensor a = leaf({1, 2}), b = leaf({3, 4}), seed = fixed({1, 1});
  TensorList g = autograd::grad({a + b, a}, {a, b, a}, {seed, seed});
  g[0].mul_(10);
  CHECK(values(g[1]) == Values{1, 1});
  CHECK(values(g[2]) == Values{2, 2});
  CHECK(values(seed) == Values{1, 1});
  g[1].zero_();
  CHECK(values(seed) == Values{1, 1});
  Tensor of_sum = autograd::grad({a.sum()}, {a})[0];
  of_sum.mul_(3);  // not one number shown twice
  CHECK(values(of_sum) == Values{3, 3});
}

TEST_CASE("a pass that asks for some gradients keeps no half of another") {
  Tensor x = leaf({1, 2});
  Tensor y = x.sum();
  const Tensor asked = y.expand({1});
  y.retain_grad();
  int calls = 0;
  register_hook(y, [&](const Tensor&) {
    ++calls;
    return Tensor();
  });
  const Tensor z = asked * y;
  autograd::grad({z}, {asked}, {}, {.retain_graph = true});
  CHECK(calls == 0);
  CHECK_FALSE(y.grad().defined());
  z.backward();
  CHECK(calls == 1);
  CHECK(values(y.grad()) == Values{6});
}

TEST_CASE("overlapping sources of copy_ and indexed assignment give the out-of-place result", "[B3]") {
  Tensor x = leaf({1, 2, 3, 4});
  Tensor y = x * 1;
  y.slice(0, 1, 4).copy_(y.slice(0, 0, 3));
  CHECK(values(y) == Values{1, 1, 2, 3});
  (y * fixed({1, 10, 100, 1000})).sum().backward();
  CHECK(values(x.grad()) == Values{11, 100, 1000, 0});

  Tensor z = fixed({{1, 2}, {3, 4}});
  z.index_put_({tensor({0, 1})}, z.t());
  CHECK(values(z) == Values{1, 3, 2, 4});
  Tensor m = fixed({1, 2, 3});
  m.index_put_({tensor({false, true, true})}, m.slice(0, 0, 2));
  CHECK(values(m) == Values{1, 1, 2});
  Tensor f = fixed({1, 2, 3});
  f.fill_(f.select(0, 2));
  CHECK(values(f) == Values{3, 3, 3});
  Tensor s = fixed({1, 2, 3});
  s.mul_(s.select(0, 1));
  CHECK(values(s) == Values{2, 4, 6});
}
