// Functions that the backward pass calls: on tensors, on leaves, on nodes.
#include <taper/autograd/engine.h>
#include <taper/autograd/hooks.h>
#include <taper/factory.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {
Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }
Tensor leaf(double v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }
}  // namespace

TEST_CASE("the first hook sees the gradient, the second replaces it", "[B86]") {
  Tensor x = leaf({1, 2});
  Values seen;
  x.register_hook([&](const Tensor& g) { seen = values(g); });
  x.register_hook([](const Tensor& g) { return g * 10; });
  (x * 3).sum().backward();
  CHECK(seen == Values{3, 3});
  CHECK(values(x.grad()) == Values{30, 30});
}

TEST_CASE("a hook on a shared tensor is called once with the sum", "[B86]") {
  Tensor x = leaf({1, 1});
  Tensor y = x * 2;
  std::vector<Values> seen;
  y.register_hook([&](const Tensor& g) { seen.push_back(values(g)); });
  (y * 2 + y * 3).sum().backward();
  CHECK(seen == std::vector<Values>{{5, 5}});
  CHECK(values(x.grad()) == Values{10, 10});
}

TEST_CASE("hooks on a node run in order: tensors', retained gradients, before, after, leaf") {
  Tensor x = leaf(2);
  Tensor y = x * 3;
  std::vector<std::string> order;
  const auto note = [&order](const char* what) { return [&order, what](const auto&...) { order.push_back(what); }; };
  y.grad_fn()->register_hook(note("node after"));
  y.grad_fn()->register_prehook(note("node before"));
  y.retain_grad();
  y.register_hook(note("tensor"));
  y.register_hook([&](const Tensor& g) { return g * 2; });
  x.register_post_accumulate_grad_hook(note("accumulated"));
  x.register_hook(note("leaf"));
  (y * 5).backward();
  CHECK(order == std::vector<std::string>{"tensor", "node before", "node after", "leaf", "accumulated"});
  CHECK(values(y.grad()) == Values{10});
  CHECK(values(x.grad()) == Values{30});
}

TEST_CASE("hooks of a node see and replace the gradients on both sides") {
  Tensor a = leaf(2), b = leaf(5);
  Tensor y = a * b;
  Gradients outputs, inputs;
  y.grad_fn()->register_prehook([](const Gradients& g) { return Gradients{g[0] * 10}; });
  y.grad_fn()->register_hook([&](const Gradients& in, const Gradients& out) {
    inputs = in, outputs = out;
    return Gradients{in[0], in[1] + 1};
  });
  y.backward();
  CHECK(values(outputs[0]) == Values{10});
  CHECK(values(inputs[0]) == Values{50});
  CHECK(values(inputs[1]) == Values{20});
  CHECK(values(a.grad()) == Values{50});
  CHECK(values(b.grad()) == Values{21});
}

TEST_CASE("what a hook returns must fit") {
  Tensor x = leaf({1, 2});
  const auto refused = [&](const auto& put) {
    Tensor y = x * x;
    put(y);
    return message_of<AutogradError>([&] { y.sum().backward(); });
  };
  CHECK(refused([](Tensor& y) { y.register_hook([](const Tensor&) { return ones({3}, float64); }); }) ==
        "hook on a result of mul: returned a gradient of float64[3] on cpu for a tensor of float64[2] on cpu; return "
        "one of the same shape and dtype, or nothing");
  CHECK(contains(refused([](Tensor& y) { y.register_hook([](const Tensor& g) { return g.to(float32); }); }),
                 "float32[2] on cpu for a tensor of float64[2]"));
  CHECK(contains(refused([](Tensor& y) {
                   y.grad_fn()->register_prehook([](const Gradients& g) { return Gradients{g[0], g[0]}; });
                 }),
                 "pre-hook of mul: returned 2 gradients for 1 outputs"));
  CHECK(contains(refused([](Tensor& y) {
                   y.grad_fn()->register_hook([](const Gradients& g, const Gradients&) { return Gradients{g[0]}; });
                 }),
                 "post-hook of mul: returned 1 gradients for 2 inputs"));
  CHECK(contains(refused([](Tensor& y) {
                   y.grad_fn()->register_hook([](const Gradients&, const Gradients&) {
                     return Gradients{ones({3}, float64), Tensor()};
                   });
                 }),
                 "backward of mul returned a gradient of shape [3]"));
  CHECK_FALSE(x.grad().defined());
  CHECK_THROWS_AS(x.register_hook(TensorHook()), ValueError);
}

TEST_CASE("hooks are refused where they would never run") {
  CHECK(contains(message_of<AutogradError>([] { ones({1}).register_hook([](const Tensor&) {}); }), "requires_grad_()"));
  CHECK(contains(message_of<AutogradError>([] { ones({1}).register_post_accumulate_grad_hook([](const Tensor&) {}); }),
                 "does not require grad"));
  Tensor y = leaf(1) * 2;
  CHECK(contains(message_of<AutogradError>([&] { y.register_post_accumulate_grad_hook([](const Tensor&) {}); }),
                 "register_hook()"));
  CHECK_THROWS_AS(ones({1}).retain_grad(), AutogradError);
}

TEST_CASE("every registration is undone by its handle, within a pass too") {
  Tensor x = leaf(1);
  Tensor y = x * 2;
  std::vector<int> calls;
  HookHandle third;
  HookHandle self = y.register_hook([&](const Tensor&) { calls.push_back(1), self.remove(), third.remove(); });
  y.register_hook([&](const Tensor&) { calls.push_back(2); });
  third = y.register_hook([&](const Tensor&) { calls.push_back(3); });
  HookHandle before = y.grad_fn()->register_prehook([&](const Gradients&) { calls.push_back(4); });
  HookHandle after = y.grad_fn()->register_hook([&](const Gradients&, const Gradients&) { calls.push_back(5); });
  HookHandle leafs = x.register_post_accumulate_grad_hook([&](const Tensor&) { calls.push_back(6); });
  y.backward({}, true);
  CHECK(calls == std::vector<int>{1, 2, 4, 5, 6});

  calls.clear();
  before.remove(), before.remove(), after.remove(), leafs.remove();
  y.backward({}, true);
  CHECK(calls == std::vector<int>{2});
  HookHandle().remove();
}

TEST_CASE("a hook registered by a hook runs in the same pass") {
  Tensor x = leaf(1);
  int calls = 0;
  x.register_hook([&](const Tensor&) { x.register_hook([&](const Tensor&) { ++calls; }); });
  (x * 1).backward();
  CHECK(calls == 1);
}

TEST_CASE("a handle outlives its tensor, and keeps nothing of what the hook captured") {
  auto captured = std::make_shared<int>(1);
  HookHandle handle;
  {
    Tensor y = leaf(1) * 2;
    handle = y.register_hook([captured](const Tensor&) {});
    CHECK(captured.use_count() == 2);
  }
  CHECK(captured.use_count() == 1);
  handle.remove();
}

TEST_CASE("a post-accumulate hook sees the leaf with its new gradient, and may step and drop it") {
  Tensor w = leaf({1, 2}), v = leaf({3, 4});
  w.register_post_accumulate_grad_hook([](Tensor t) {
    CHECK_FALSE(GradMode::is_enabled());
    t.sub_(t.grad() * 0.5);
    t.zero_grad();
  });
  (w * v).sum().backward();
  CHECK(values(w) == Values{-0.5, 0});
  CHECK_FALSE(w.grad().defined());
  CHECK(values(v.grad()) == Values{1, 2});
}

TEST_CASE("a post-accumulate hook runs for each accumulation, and only then") {
  Tensor x = leaf(2), other = leaf(3);
  std::vector<Values> seen;
  x.register_post_accumulate_grad_hook([&](const Tensor& t) { seen.push_back(values(t.grad())); });
  Tensor y = x * x * other;
  y.backward({}, true);
  y.backward({}, true, false, {x});
  CHECK(seen == std::vector<Values>{{12}, {24}});
  autograd::grad({y}, {x}, {}, {.retain_graph = true});
  y.backward({}, true, false, {other});
  CHECK(seen.size() == 2);
}

TEST_CASE("a post-accumulate hook may run a pass of its own to the same leaf", "[B84]") {
  Tensor x = leaf(3);
  int depth = 0;
  x.register_post_accumulate_grad_hook([&](const Tensor& t) {
    if (++depth > 1) return;
    const EnableGradGuard record;
    (t * 10).backward();
  });
  (x * 1).backward();
  CHECK(depth == 2);
  CHECK(values(x.grad()) == Values{11});
}

TEST_CASE("hooks stay on a leaf that takes other data", "[S105]") {
  Tensor p = leaf({1, 2});
  int seen = 0, accumulated = 0;
  HookHandle handle = p.register_hook([&](const Tensor&) { ++seen; });
  p.register_post_accumulate_grad_hook([&](const Tensor&) { ++accumulated; });
  Tensor before = (p * 2).sum();
  p.set_data(ones({3}, float64));
  CHECK(p.requires_grad());
  CHECK(p.is_leaf());
  (p * 2).sum().backward();
  CHECK(values(p.grad()) == Values{2, 2, 2});
  CHECK(seen == 1);
  CHECK(accumulated == 1);
  handle.remove();
  (p * 2).sum().backward();
  CHECK(seen == 1);
  CHECK(accumulated == 2);
}

TEST_CASE("a hook belongs to the value before a write in place, a retained gradient to the tensor") {
  Tensor x = leaf({1, 2});
  Tensor y = x * 2;
  Values old_value, written;
  y.register_hook([&](const Tensor& g) { old_value = values(g); });
  y.retain_grad();
  y.mul_(10);
  y.register_hook([&](const Tensor& g) { written = values(g); });
  (y * 3).sum().backward();
  CHECK(old_value == Values{30, 30});
  CHECK(written == Values{3, 3});
  CHECK(values(y.grad()) == Values{3, 3});
  CHECK(values(x.grad()) == Values{60, 60});
}

TEST_CASE("a gradient is retained by a base and its views when one of them is written") {
  Tensor x = leaf({1, 2, 3});
  Tensor y = x * 2;
  Tensor head = y.narrow(0, 0, 2), tail = y.narrow(0, 1, 2);
  y.retain_grad(), head.retain_grad(), tail.retain_grad();
  Values seen;
  head.register_hook([&](const Tensor& g) { seen = values(g); });
  head.mul_(10);
  CHECK(tail.grad_fn());  // rebuilt from the base's
  (y.sum() + tail.sum() * 5 + head.sum() * 7).backward();
  CHECK(values(y.grad()) == Values{8, 13, 6});
  CHECK(values(tail.grad()) == Values{5, 5});
  CHECK(values(head.grad()) == Values{7, 7});
  CHECK(seen.empty());  // the value it watched is used by nothing but the write
  CHECK(values(x.grad()) == Values{160, 260, 12});
}

TEST_CASE("a hook on a view and one on its base each see their own gradient") {
  Tensor x = leaf({1, 2, 3});
  Tensor y = x * 1;
  Tensor v = y.narrow(0, 1, 1);
  v.register_hook([](const Tensor& g) { return g * 2; });
  Values seen;
  y.register_hook([&](const Tensor& g) { seen = values(g); });
  (v.sum() + y.sum()).backward();
  CHECK(seen == Values{1, 3, 1});
  CHECK(values(x.grad()) == Values{1, 3, 1});
}

TEST_CASE("a retained gradient is the caller's own", "[B86]") {
  Tensor x = leaf({1, 1});
  Tensor y = x * 2;
  y.retain_grad(), y.retain_grad();
  CHECK(y.retains_grad());
  CHECK_FALSE(x.retains_grad());
  Tensor g = ones({2}, float64);
  y.backward(g, true);
  y.grad().mul_(5);
  CHECK(values(g) == Values{1, 1});
  CHECK(values(x.grad()) == Values{2, 2});
  y.backward(g);
  CHECK(values(y.grad()) == Values{6, 6});
}

TEST_CASE("hooks act on what grad() returns", "[B86]") {
  Tensor x = leaf({1, 1});
  Tensor y = x * 2;
  x.register_hook([](const Tensor& g) { return g * 3; });
  y.register_hook([](const Tensor& g) { return g * 5; });
  const TensorList g = autograd::grad({y.sum()}, {x, y});
  CHECK(values(g[0]) == Values{30, 30});
  CHECK(values(g[1]) == Values{5, 5});
}

TEST_CASE("a hook is recorded with create_graph", "[B83]") {
  const auto before = live_nodes();
  {
    Tensor x = leaf(3);
    Tensor y = x * x;
    HookHandle hook = y.register_hook([](const Tensor& g) { return g * g * 2; });
    Tensor z = y * y;  // dz/dy = 2 x^2, hooked: 8 x^4; dz/dx = 16 x^5
    Tensor g = autograd::grad({z}, {x}, {}, {.create_graph = true})[0];
    CHECK(values(g) == Values{16 * 243});
    hook.remove();  // the second pass goes through y too
    CHECK(values(autograd::grad({g}, {x})[0]) == Values{80 * 81});
  }
  CHECK(live_nodes() == before);
}

TEST_CASE("a hook that throws leaves the pass, and the graph can be walked again") {
  Tensor x = leaf(1);
  Tensor y = x * 2;
  HookHandle bad = y.register_hook([](const Tensor&) { throw ValueError("no"); });
  CHECK_THROWS_AS(y.backward({}, true), ValueError);
  CHECK(GradMode::is_enabled());
  bad.remove();
  y.backward();
  CHECK(values(x.grad()) == Values{2});
}

TEST_CASE("a hook that writes to the gradient it was given is an error, since others share it") {
  Tensor a = leaf({1, 2}), b = leaf({3, 4});
  a.register_hook([](const Tensor& g) {
    Tensor h = g;
    h.mul_(10);
  });
  CHECK(contains(message_of<AutogradError>([&] { (a + b).backward(ones({2}, float64)); }), "return a new tensor"));

  Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  y.grad_fn()->register_prehook([](const Gradients& g) {
    Tensor h = g[0];
    h.zero_();
    return Gradients();
  });
  CHECK(contains(message_of<AutogradError>([&] { y.backward(ones({2}, float64)); }),
                 "pre-hook of mul: wrote to a gradient"));
}

TEST_CASE("hooks that are taken off leave nothing behind, whatever the order") {
  const Tensor x = ones({2}, {.dtype = float64, .requires_grad = true});
  const auto token = std::make_shared<int>(0);
  int calls = 0;
  const auto add = [&] { return x.register_hook([token, &calls](const Tensor&) { ++calls; }); };
  HookHandle last = add();
  for (int i = 0; i < 100; ++i) {
    HookHandle next = add();
    last.remove();
    last = std::move(next);
    CHECK(token.use_count() == 2);  // the captured one, and ours
  }
  x.sum().backward();
  CHECK(calls == 1);
}

TEST_CASE("a hook may take itself and others off while they run") {
  const Tensor x = ones({2}, {.dtype = float64, .requires_grad = true});
  std::string called;
  std::vector<HookHandle> handles(3);
  handles[0] = x.register_hook([&](const Tensor&) {
    called += 'a';
    handles[0].remove(), handles[1].remove();
  });
  handles[1] = x.register_hook([&](const Tensor&) { called += 'b'; });
  handles[2] = x.register_hook([&](const Tensor&) { called += 'c'; });
  x.sum().backward();
  CHECK(called == "ac");
  x.sum().backward();
  CHECK(called == "acc");
}
