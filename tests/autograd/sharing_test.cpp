// What shares memory with what, what is part of the graph, and what each costs.
#include <taper/allocator.h>
#include <taper/autograd/node.h>
#include <taper/taper.h>

#include "tests/support/catch.h"
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
