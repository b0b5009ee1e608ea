// What shares memory with what, what is part of the graph, and what each costs.
#include <taper/allocator.h>
#include <taper/autograd/node.h>
#include <taper/taper.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

TEST_CASE("a replay buffer keeps values, not graphs and not memory that goes on changing", "[S94]") {
  const Tensor weight = tensor({1.0, 2.0}, {.requires_grad = true});
  Tensor state = tensor({1.0, 1.0});
  { const Tensor first = state * weight; }  // makes the node that collects weight's gradient
  const auto nodes = live_nodes();

  TensorList buffer;
  for (int step = 0; step < 3; ++step) {
    const Tensor output = state * weight;
    buffer.push_back(output.clone().detach());
    state.add_(1);
  }

  CHECK(live_nodes() == nodes);
  CHECK(values(buffer[0]) == Values{1, 2});
  CHECK(values(buffer[2]) == Values{3, 6});
  buffer[0].fill_(7);
  CHECK(values(buffer[1]) == Values{2, 4});
  CHECK_FALSE(buffer[0].requires_grad());
  CHECK(buffer[0].is_leaf());
}

TEST_CASE("no way of writing to a tensor's memory escapes the version", "[S104]") {
  const auto conflict = [](void (*write)(Tensor&)) {
    const Tensor x = tensor({1.0, 2.0, 3.0}, {.requires_grad = true});
    Tensor y = x.sigmoid();
    const auto before = y.version();
    write(y);
    CHECK(y.version() > before);
    CHECK_THROWS_AS(y.sum().backward(), InplaceConflictError);
    CHECK_FALSE(x.grad().defined());
  };
  conflict([](Tensor& y) { y.detach().zero_(); });
  conflict([](Tensor& y) { y.detach().mutable_data<float>()[0] = 0; });
  conflict([](Tensor& y) {
    const NoGradGuard no_grad;
    y.view({3, 1}).mul_(0);
  });
  conflict([](Tensor& y) {
    Tensor other;
    other = y.detach();
    other.select(0, 1).fill_(0);
  });
}

TEST_CASE("a chain in place needs less memory at its peak than one out of place", "[S107]") {
  const auto peak = [](auto chain) {
    Tensor x = full({1000}, 0.5);
    reset_peak_memory_stats();
    const auto before = memory_stats().allocated_bytes;
    chain(x);
    return memory_stats().max_allocated_bytes - before;
  };

  CHECK(peak([](Tensor& x) { x.mul_(2).add_(1).relu_(); }) == 0);
  CHECK(peak([](Tensor& x) { x = x.mul(2).add(1).relu(); }) >= 4000);
}

TEST_CASE("a small view keeps all of the memory it looks at, a clone only its own", "[S157]") {
  const auto before = memory_stats().allocated_bytes;
  Tensor part = zeros({1024, 1024}).view(-1).narrow(0, 0, 10);
  CHECK(part.nbytes() == 40);
  CHECK(part.storage()->bytes() == 4'194'304);
  CHECK(memory_stats().allocated_bytes - before == 4'194'304);

  part = part.clone();
  CHECK(part.storage()->bytes() == 40);
  CHECK(memory_stats().allocated_bytes - before == 40);
}

TEST_CASE("the Hessian of a product is right at zeros", "[B29]") {
  const auto gradient = [](const Tensor& x) {
    return autograd::grad({taper::prod(x)}, {x}, {}, {.create_graph = true})[0];
  };
  const auto leaf = [](std::initializer_list<TensorData> v) { return tensor(v, float64).requires_grad_(); };
  CHECK(values(gradient(leaf({2, 0, 3, 4}))) == Values{0, 24, 0, 0});
  CHECK(values(gradient(leaf({2, 0, 3, 0}))) == Values{0, 0, 0, 0});
  CHECK(values(gradient(leaf({0}))) == Values{1});

  const Tensor x = leaf({2, 3, 0, 0}), g = gradient(x);
  std::vector<Values> hessian;
  for (int i = 0; i < 4; ++i) hessian.push_back(values(autograd::grad({g[i]}, {x}, {}, {.retain_graph = true})[0]));
  CHECK(hessian == std::vector<Values>{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 6}, {0, 0, 6, 0}});
}

TEST_CASE("set_ refuses what has a history, recording or not", "[S105]") {
  Tensor x = tensor({1, 2}, {.dtype = float64, .requires_grad = true}), b = tensor({5, 6}, float64);
  Tensor y = x * 2, plain = zeros({1}, float64);
  for (const bool recording : {true, false}) {
    const GradModeGuard mode(recording);
    CHECK(contains(message_of<AutogradError>([&] { y.set_(b); }), "has a history"));
    CHECK(contains(message_of<AutogradError>([&] { plain.set_(y); }), "use source.detach()"));
  }
  const Tensor part = y.narrow(0, 0, 1);
  const NoGradGuard no_grad;
  CHECK(contains(message_of<AutogradError>([&] { plain.set_(part); }), "use source.detach()"));
  CHECK(values(y) == Values{2, 4});
  x.set_(b);
  CHECK(x.is_alias_of(b));
}

TEST_CASE("a recorded write to memory that set_ or set_data shares is refused", "[B1]") {
  Tensor w = tensor({1, 2}, {.dtype = float64, .requires_grad = true});
  for (const bool by_set : {true, false}) {
    Tensor lender = zeros({4}, float64), t = zeros({2}, float64);
    const auto take = [&](const Tensor& from) { by_set ? void(t.set_(from)) : t.set_data(from); };
    take(lender.narrow(0, 0, 2));
    CHECK(contains(message_of<AutogradError>([&] { t.add_(w); }), "that of another tensor (float64[4] on cpu)"));
    CHECK_THROWS_AS(t.narrow(0, 0, 1).add_(w.narrow(0, 0, 1)), AutogradError);
    t.add_(1);  // nothing that a history would tell
    CHECK(values(lender) == Values{1, 1, 0, 0});

    take(ones({2}, float64));  // nobody else's any more
    t.add_(w);
    CHECK(t.requires_grad());
    t = zeros({2}, float64);
    take(lender.narrow(0, 0, 2));
    lender = {};
    CHECK_NOTHROW(t.mul_(w));
  }
}

TEST_CASE("set_data gives a result only what its gradient fits", "[S105]") {
  Tensor x = tensor({1}, {.dtype = float64, .requires_grad = true});
  Tensor y = x * 2;
  CHECK(contains(message_of<AutogradError>([&] { y.set_data(zeros({3}, float64)); }), "is the result of mul"));
  CHECK_THROWS_AS(y.set_data(zeros({1}, float32)), AutogradError);
  y.set_data(tensor({7}, float64));
  (y * y).sum().backward();
  CHECK(values(x.grad()) == Values{28});
}

TEST_CASE("a write to a view whose base was cut off says so") {
  Tensor x = tensor({1, 2}, {.dtype = float64, .requires_grad = true});
  Tensor y = x * 2, v = y.narrow(0, 0, 1);
  y.detach_();
  CHECK(contains(message_of<AutogradError>([&] { v.mul_(2); }), "was cut off from its own by detach_()"));
  y.mul_(2);
  CHECK(contains(message_of<AutogradError>([&] { v.mul_(2); }), "was cut off from its own by detach_()"));
  Tensor told = y.narrow(0, 0, 1).requires_grad_();
  CHECK(contains(message_of<AutogradError>([&] { told.mul_(2); }), "into a leaf that requires grad"));
}
