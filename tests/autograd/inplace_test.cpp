// Writes that several tensors see: versions, conflicts, views and their bases.
#include <taper/autograd/engine.h>
#include <taper/autograd/node.h>
#include <taper/factory.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {
Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }
Tensor fixed(std::initializer_list<TensorData> v) { return tensor(v, float64); }
}  // namespace

TEST_CASE("writes through any alias raise one version", "[S95]") {
  Tensor x = zeros({4});
  Tensor v = x.view({2, 2});
  x.add_(1);
  v.mul_(2);
  CHECK(x.version() == 2);
  CHECK(v.version() == 2);
  CHECK(x.detach().version() == 2);
  CHECK(x.clone().version() == 0);
}

TEST_CASE("in-place methods return the same tensor and allocate nothing", "[S99]") {
  Tensor x = ones({4}), y = ones({4});
  const auto before = memory_stats().allocations;
  CHECK(x.add_(y).is_same(x));
  CHECK(x.mul_(y).is_same(x));
  CHECK(x.copy_(y).is_same(x));
  CHECK(x.fill_(3).is_same(x));
  CHECK(x.zero_().is_same(x));
  CHECK(memory_stats().allocations == before);
}

TEST_CASE("a leaf that requires grad is protected before anything is written", "[B1][S98]") {
  Tensor x = leaf({1, 2, 3});
  const Tensor src = fixed({9, 9, 9});
  const auto refused = [&](auto&& write) {
    const auto text = message_of<AutogradError>(write);
    CHECK(contains(text, "leaf that requires grad"));
    CHECK(contains(text, "NoGradGuard"));
    CHECK(values(x) == Values{1, 2, 3});
    CHECK(x.version() == 0);
  };
  refused([&] { x.add_(1); });
  refused([&] { x.mul_(2); });
  refused([&] { x.copy_(src); });
  refused([&] { x.zero_(); });
  refused([&] { x.fill_(4); });
  refused([&] { x.index_put_({0}, 5); });
  {
    NoGradGuard no_grad;
    x.sub_(.5);
  }
  CHECK(values(x) == Values{.5, 1.5, 2.5});
  CHECK(x.version() == 1);
  CHECK(x.requires_grad());
}

TEST_CASE("a view of a leaf, and a leaf that is a view, are protected", "[P5]") {
  Tensor x = leaf({1, 2, 3});
  CHECK_THROWS_AS(x.slice(0, 0, 2).mul_(10), AutogradError);
  Tensor plain = fixed({1, 2, 3});
  Tensor v = plain.slice(0, 0, 2).requires_grad_();
  CHECK_THROWS_AS(v.mul_(10), AutogradError);
  CHECK(values(plain) == Values{1, 2, 3});
}

TEST_CASE("a destination that shows one location several times is refused", "[B2][S100]") {
  Tensor t = fixed({2});
  Tensor e = t.expand({1, 3});
  CHECK(contains(message_of<ShapeError>([&] { e.mul_(2); }), "clone() it first"));
  CHECK(values(t) == Values{2});
  Tensor pi = tensor({0.785398163}, float64);
  CHECK_THROWS_AS(pi.expand({3}).cos_(), ShapeError);
  CHECK(values(pi)[0] == 0.785398163);
  CHECK(t.version() == 0);
}

TEST_CASE("operands that overlap the destination give the out-of-place result", "[B3][P4]") {
  Tensor a = fixed({{10, 11, 12}, {20, 21, 22}, {30, 31, 32}});
  a.sub_(a.slice(0, 0, 1));
  CHECK(values(a) == Values{0, 0, 0, 10, 10, 10, 20, 20, 20});

  Tensor x = fixed({{1, 2}, {3, 4}});
  x.add_(x.t());
  CHECK(values(x) == Values{2, 5, 5, 8});

  Tensor y = fixed({1, 2, 3, 4});
  y.slice(0, 1, 3).add_(y.slice(0, 0, 2));
  CHECK(values(y) == Values{1, 3, 5, 4});

  Tensor z = fixed({1, 2, 3, 4});
  z.slice(0, 1, 4).copy_(z.slice(0, 0, 3));
  CHECK(values(z) == Values{1, 1, 2, 3});
}

TEST_CASE("a saved result that was overwritten is an error with both operators' names", "[B4][S96]") {
  Tensor x = leaf({1, 2, 3});
  Tensor o = x.sigmoid();
  o.detach().zero_();
  try {
    o.sum().backward();
    FAIL("the conflict was not seen");
  } catch (const InplaceConflictError& e) {
    CHECK(e.saved_by == "sigmoid");
    CHECK(e.modified_by == "zero_");
    CHECK(e.saved_version == 0);
    CHECK(e.current_version == 1);
    const std::string text = e.what();
    for (const char* part : {"backward of sigmoid", "zero_()", "version 0", "version 1", "clone()"})
      CHECK(contains(text, part));
  }
  CHECK_FALSE(x.grad().defined());

  Tensor h = x * 1;
  Tensor square = h * h;
  h.zero_();
  CHECK_THROWS_AS(square.sum().backward(), InplaceConflictError);
}

TEST_CASE("writing through the pointer of a saved tensor is seen", "[P10]") {
  Tensor a = leaf({1, 2}), b = fixed({3, 4});
  Tensor y = (a * b).sum();
  b.mutable_data<double>()[0] = 100;
  CHECK_THROWS_AS(y.backward(), InplaceConflictError);
}

TEST_CASE("a write that nobody saved is no error", "[S97]") {
  Tensor x = leaf({1, 2});
  Tensor h = x + 1;
  h.add_(1);
  h.sum().backward();
  CHECK(values(x.grad()) == Values{1, 1});
}

TEST_CASE("an in-place operation whose rule needs the old value keeps a copy of it") {
  Tensor x = leaf({2, 3}), w = leaf({5, 7});
  Tensor y = x * 1;
  y.mul_(w);
  y.sum().backward();
  CHECK(values(x.grad()) == Values{5, 7});
  CHECK(values(w.grad()) == Values{2, 3});

  Tensor z = leaf({2, 3});
  Tensor p = z * 1;
  p.pow_(3);
  p.sum().backward();
  CHECK(values(z.grad()) == Values{12, 27});
}

TEST_CASE("an in-place write through a view changes the base's gradient", "[B6][S72][S101]") {
  Tensor x = leaf({1, 2, 3, 4});
  Tensor y = x * 2;
  y.slice(0, 1, 3).mul_(10);
  y.sum().backward();
  CHECK(values(x.grad()) == Values{2, 20, 20, 2});

  Tensor u = leaf({1, 2, 3, 4});
  Tensor b = u * 1;
  b.slice(0, 0, 2).slice(0, 0, 1).mul_(7);
  (b * fixed({1, 2, 3, 4})).sum().backward();
  CHECK(values(u.grad()) == Values{7, 2, 3, 4});

  Tensor m = ones({2, 3}, {.dtype = float64, .requires_grad = true});
  Tensor t = m * 2;
  t.t().mul_(3);
  t.sum().backward();
  CHECK(values(m.grad()) == Values(6, 6.0));
}

TEST_CASE("a view taken before the base was written follows the base") {
  Tensor x = leaf({1, 2, 3});
  Tensor y = x * 1;
  Tensor v = y.slice(0, 0, 2);
  y.mul_(5);
  CHECK(v.grad_fn());
  v.sum().backward();
  CHECK(values(x.grad()) == Values{5, 5, 0});
}

TEST_CASE("a base without history gets one when a tracked value is written into its view") {
  Tensor w = leaf({7, 8});
  Tensor base = zeros({4}, float64);
  Tensor v = base.slice(0, 1, 3);
  v.copy_(w);
  CHECK(base.requires_grad());
  (base * fixed({1, 2, 3, 4})).sum().backward();
  CHECK(values(w.grad()) == Values{2, 3});
}

TEST_CASE("indexed assignment sends gradients to both sides", "[B8]") {
  Tensor x = leaf({1, 2, 3, 4});
  Tensor y = x.clone();
  y.index_put_({0}, y[1] * 5);
  y.sum().backward();
  CHECK(values(x.grad()) == Values{0, 6, 1, 1});

  Tensor a = leaf({1, 2, 3, 4}), w = leaf({10, 20});
  Tensor b = a.clone();
  b.index_put_({Slice(1, 3)}, w);
  (b * fixed({1, 2, 3, 4})).sum().backward();
  CHECK(values(a.grad()) == Values{1, 0, 0, 4});
  CHECK(values(w.grad()) == Values{2, 3});

  Tensor c = leaf({1, 2, 3, 4});
  Tensor d = c.clone();
  d.index_put_({tensor({true, false, true, false})}, 0);
  d.sum().backward();
  CHECK(values(c.grad()) == Values{0, 1, 0, 1});
}

TEST_CASE("the gradient of a view that overlaps itself sums after a rebuild", "[P1]") {
  Tensor a = leaf({1});
  Tensor x = a + a;
  Tensor e = x.expand({1, 4});
  x.add_(fixed({1}));
  e.sum().backward();
  CHECK(values(a.grad()) == Values{8});
}

TEST_CASE("a view made without recording sends its base nothing", "[P2]") {
  Tensor w = leaf({1, 2});
  Tensor q = w * fixed({3, 4});
  Tensor t;
  {
    NoGradGuard no_grad;
    t = q.slice(0, 0, 1);
  }
  CHECK_FALSE(t.grad_fn());
  Tensor d = q.slice(0, 0, 1) - t;
  (d * d).sum().backward();
  CHECK(values(w.grad()) == Values{0, 0});
  CHECK(contains(message_of<AutogradError>([&] { t.mul_(q.slice(0, 1, 2)); }), "NoGradGuard"));
}

TEST_CASE("a view made before its base is tracked stays untracked", "[P2]") {
  Tensor x = fixed({1, 2, 3});
  Tensor v = x.slice(0, 0, 2);
  x.requires_grad_();
  CHECK_FALSE(v.requires_grad());
  CHECK_FALSE((v * 2).requires_grad());
}

TEST_CASE("results of split and unbind may not be written in place while recording") {
  Tensor x = leaf({1, 2, 3, 4});
  Tensor y = x * 1;
  CHECK(contains(message_of<AutogradError>([&] { y.split(2)[0].mul_(2); }), "narrow()"));
  CHECK(contains(message_of<AutogradError>([&] { y.unbind()[0].mul_(2); }), "select()"));
  NoGradGuard no_grad;
  Tensor z = fixed({1, 2});
  z.unbind()[0].mul_(2);
  CHECK(values(z) == Values{2, 2});
}

TEST_CASE("second derivatives pass through a write into a view") {
  Tensor x = leaf({1, 2, 3});
  Tensor y = x * x;
  y.slice(0, 0, 2).mul_(x.slice(0, 0, 2));  // x^3 in the first two
  Tensor g = autograd::grad({y.sum()}, {x}, {}, {.create_graph = true})[0];
  CHECK(values(g) == Values{3, 12, 6});
  CHECK(values(autograd::grad({g.sum()}, {x})[0]) == Values{6, 12, 2});
}

TEST_CASE("set_data keeps the tensor's identity and lets go of its older views", "[S105]") {
  Tensor p = leaf({1, 2});
  Tensor old_view = p.view({2, 1});
  Tensor q = fixed({5, 6, 7});
  p.set_data(q);
  CHECK(p.data_ptr() == q.data_ptr());
  CHECK(p.requires_grad());
  CHECK(p.is_leaf());
  CHECK(p.sizes() == IntSpan{3});
  (p * 2).sum().backward();
  CHECK(values(p.grad()) == Values{2, 2, 2});
  CHECK(old_view.sizes() == IntSpan{2, 1});
  CHECK_FALSE(old_view.is_view());
}

TEST_CASE("detach_ cuts a tensor off and refuses views") {
  Tensor x = leaf({1, 2});
  Tensor y = x * 2;
  y.detach_();
  CHECK(y.is_leaf());
  CHECK_FALSE(y.requires_grad());
  Tensor z = x * 2;
  CHECK_THROWS_AS(z.slice(0, 0, 1).detach_(), AutogradError);
  CHECK_THROWS_AS((x * 2).requires_grad_(false), AutogradError);
}

TEST_CASE("sharing memory, having a history and being another object are three things", "[S102]") {
  Tensor x = leaf({1, 2});
  const auto facts = [&](const Tensor& t) {
    return std::vector<bool>{t.is_alias_of(x), bool(t.grad_fn()), !t.is_same(x)};
  };
  CHECK(facts(x.view({2})) == std::vector<bool>{true, true, true});
  CHECK(facts(x.detach()) == std::vector<bool>{true, false, true});
  CHECK(facts(x.clone()) == std::vector<bool>{false, true, true});
  CHECK(facts(x.clone().detach()) == std::vector<bool>{false, false, true});
  Tensor copy = x.clone().detach();
  copy.fill_(0);
  CHECK(values(x) == Values{1, 2});
}

TEST_CASE("writes through views of a tensor without elements are recorded") {
  Tensor a = zeros({0, 2});
  a.requires_grad_();
  Tensor b = a * 1;
  b.slice(1, 1, 2).mul_(3);
  b.index_put_({Slice(), 1}, 0);
  b.sum().backward();
  CHECK(a.grad().sizes() == IntSpan{0, 2});
}

TEST_CASE("as_strided does not reach elements whose gradient would be lost") {
  Tensor a = ones({6});
  a.requires_grad_();
  const Tensor part = a.slice(0, 0, 2), gaps = a.slice(0, 0, 6, 2);
  CHECK_THROWS_AS(part.as_strided({4}, {1}, 0), AutogradError);
  CHECK_THROWS_AS(gaps.as_strided({5}, {1}, 0), AutogradError);
  CHECK_THROWS_AS(a.slice(0, 2, 4).as_strided({2}, {1}, 0), AutogradError);
  CHECK(part.detach().as_strided({4}, {1}, 0).numel() == 4);
  gaps.as_strided({2, 2}, {2, 2}, 0).sum().backward();
  CHECK(a.grad().to_vector<float>() == std::vector<float>{1, 0, 2, 0, 1, 0});
}
