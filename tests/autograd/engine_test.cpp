// Counting, ordering, accumulating: what the engine does with a graph.
#include <pthread.h>
#include <taper/autograd/engine.h>
#include <taper/autograd/hooks.h>
#include <taper/autograd/node.h>
#include <taper/factory.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>

#include <thread>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {
Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }
Tensor leaf(double v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }

/// Runs f on a thread with a stack of this many bytes.
void on_small_stack(std::size_t bytes, void (*f)()) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  const int sized = pthread_attr_setstacksize(&attributes, bytes);
  pthread_t thread;
  // No assertion while the other thread makes its own: Catch2 keeps them in one place.
  const int created = pthread_create(
      &thread, &attributes,
      [](void* p) -> void* {
        reinterpret_cast<void (*)()>(p)();
        return nullptr;
      },
      reinterpret_cast<void*>(f));
  if (created == 0) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  REQUIRE(sized == 0);
  REQUIRE(created == 0);
}
}  // namespace

TEST_CASE("a shared node runs once, with the sum of its gradients", "[B80]") {
  Tensor x = leaf(2);
  Tensor y = x * 3;
  (y * 2 + y * 5).backward();
  CHECK(values(x.grad()) == Values{21});

  Tensor a = leaf(2), b = leaf(3);
  Tensor c = a + b, d = a * b;
  Tensor z = (c + d) + c * d;
  CHECK(z.item<double>() == 41);
  z.backward();
  CHECK(values(a.grad()) == Values{25});
  CHECK(values(b.grad()) == Values{19});
}

TEST_CASE("leaves never share a gradient buffer, and gradients add up", "[B12]") {
  Tensor a = leaf({1, 2}), b = leaf({3, 4});
  (a + b).sum().backward();
  CHECK_FALSE(a.grad().is_alias_of(b.grad()));
  (a * 2).sum().backward();
  CHECK(values(a.grad()) == Values{3, 3});
  CHECK(values(b.grad()) == Values{1, 1});
}

TEST_CASE("the engine sums the gradient of a broadcast operand back to its shape", "[B22][S153]") {
  Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, float64), y = leaf({1, 1, 1});
  (x + y).sum().backward();
  CHECK(values(y.grad()) == Values{2, 2, 2});

  Tensor data = arange(24, {.dtype = float64}).view({2, 1, 4, 3});
  Tensor mask = ones({2, 1, 4, 1}, {.dtype = float64, .requires_grad = true});
  (data * mask).sum().backward();
  CHECK(mask.grad().sizes() == IntSpan{2, 1, 4, 1});
  CHECK(values(mask.grad()) == Values{3, 12, 21, 30, 39, 48, 57, 66});

  Tensor column = leaf({{1}, {2}}), row = leaf({{10, 20, 30}});
  (column * row).sum().backward();
  CHECK(values(column.grad()) == Values{60, 60});
  CHECK(values(row.grad()) == Values{3, 3, 3});

  Tensor s = leaf(2);
  (s * ones({2, 3}, float64)).sum().backward();
  CHECK(s.grad().dim() == 0);
  CHECK(values(s.grad()) == Values{6});
}

TEST_CASE("a second pass over a freed graph says how to keep it", "[B86]") {
  Tensor x = leaf(2);
  Tensor y = x * x;
  y.backward();
  const auto text = message_of<AutogradError>([&] { y.backward(); });
  CHECK(contains(text, "retain_graph"));
  CHECK(contains(text, "mul"));
  CHECK(values(x.grad()) == Values{4});

  Tensor z = x * x;
  z.backward({}, true);
  z.backward();
  CHECK(values(x.grad()) == Values{12});
}

TEST_CASE("roots are checked", "[B86][P7]") {
  Tensor x = leaf({1, 2});
  CHECK(contains(message_of<AutogradError>([&] { (x * 2).backward(); }), "more than one element"));
  CHECK(contains(message_of<AutogradError>([&] { ones({1}).backward(); }), "requires grad"));
  CHECK_THROWS_AS((x * 2).backward(ones({3}, float64)), ShapeError);
  CHECK_THROWS_AS((x * 2).backward(ones({2}, int64)), DTypeError);
  CHECK_THROWS_AS((x * 2).backward(ones({2}, float64, meta)), DeviceError);
  CHECK_FALSE(x.grad().defined());
  (x * 2).backward(ones({2}, float32));
  CHECK(x.grad().dtype() == float64);
  CHECK(values(x.grad()) == Values{2, 2});
}

TEST_CASE("several roots are walked in one pass") {
  Tensor x = leaf({1, 2});
  Tensor y = x * 2;
  autograd::backward({y.sum(), (y * y).sum(), y}, {{}, {}, ones({2}, float64)});
  CHECK(values(x.grad()) == Values{2 + 8 + 2, 2 + 16 + 2});
  Tensor w = leaf(3);
  Tensor z = w * w;
  autograd::backward({z, z});
  CHECK(values(w.grad()) == Values{12});
}

TEST_CASE("backward to chosen inputs leaves the others alone") {
  Tensor a = leaf(2), b = leaf(3);
  Tensor middle = a * b;
  (middle * middle).backward({}, {}, false, {a});
  CHECK(values(a.grad()) == Values{36});
  CHECK_FALSE(b.grad().defined());
  Tensor again = a * b;
  (again * again).backward({}, {}, false, {again});
  CHECK(values(again.grad()) == Values{12});
  CHECK(values(a.grad()) == Values{36});
}

TEST_CASE("grad returns gradients and touches no leaf") {
  Tensor a = leaf(2), b = leaf(3), unused = leaf(1);
  Tensor y = a * a * b;
  const TensorList g = autograd::grad({y}, {a, b}, {}, {.retain_graph = true});
  CHECK(values(g[0]) == Values{12});
  CHECK(values(g[1]) == Values{4});
  CHECK_FALSE(a.grad().defined());
  CHECK(contains(message_of<AutogradError>([&] { autograd::grad({y}, {unused}, {}, {.retain_graph = true}); }),
                 "allow_unused"));
  CHECK_FALSE(autograd::grad({y}, {unused}, {}, {.allow_unused = true})[0].defined());
  CHECK_THROWS_AS(autograd::grad({a * b}, {}), ValueError);
  CHECK_THROWS_AS(autograd::grad({a * b}, {ones({1})}), AutogradError);
}

TEST_CASE("create_graph gives derivatives of derivatives") {
  Tensor x = leaf(3);
  Tensor y = x * x * x;
  Tensor first = autograd::grad({y}, {x}, {}, {.create_graph = true})[0];
  CHECK(values(first) == Values{27});
  Tensor second = autograd::grad({first}, {x}, {}, {.create_graph = true})[0];
  CHECK(values(second) == Values{18});
  CHECK(values(autograd::grad({second}, {x}, {}, {.retain_graph = true})[0]) == Values{6});
  first.backward();
  CHECK(values(x.grad()) == Values{18});
}

TEST_CASE("a chain of 200 000 nodes is run and freed on a stack of 256 KiB", "[B82]") {
  on_small_stack(256 * 1024, [] {
    Tensor x = ones({1}, {.requires_grad = true});
    Tensor y = x;
    for (int i = 0; i < 200000; ++i) y = y + 1;
    y.backward();
    CHECK(x.grad().item<float>() == 1);
    Tensor dropped = x;
    for (int i = 0; i < 200000; ++i) dropped = dropped * 1;
    dropped = Tensor();
  });
  CHECK(live_nodes() == 0);
}

TEST_CASE("no gradient is lost when threads share leaves", "[P6][B84]") {
  Tensor x = leaf({1, 2});
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&x] {
      for (int k = 0; k < 100; ++k) (x * 2).sum().backward();
    });
  for (auto& t : threads) t.join();
  CHECK(values(x.grad()) == Values{1600, 1600});
}

TEST_CASE("two threads walk one graph at once", "[P6]") {
  Tensor x = leaf({1, 2, 3});
  Tensor y = (x * x * x).sum();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&y] {
      for (int k = 0; k < 50; ++k) y.backward({}, true);
    });
  for (auto& t : threads) t.join();
  CHECK(values(x.grad()) == Values{600, 2400, 5400});
}

TEST_CASE("no graph is made under NoGradGuard, and the mode is restored on exceptions", "[S111]") {
  Tensor x = leaf(2);
  const auto before = live_nodes();
  {
    NoGradGuard no_grad;
    const Tensor y = x * x;
    CHECK_FALSE(y.requires_grad());
    {
      EnableGradGuard record;
      CHECK((x * x).requires_grad());
    }
    CHECK_FALSE(GradMode::is_enabled());
    std::thread([] { CHECK(GradMode::is_enabled()); }).join();
  }
  try {
    NoGradGuard no_grad;
    throw 1;
  } catch (int) {
  }
  CHECK(GradMode::is_enabled());
  CHECK(live_nodes() <= before + 1);  // the leaf's accumulator
}

TEST_CASE("metadata is allocated when gradients are asked for, not before", "[S108][S109][S110]") {
  Tensor x = ones({2});
  CHECK(x.impl()->autograd_meta() == nullptr);
  CHECK_FALSE(x.requires_grad());
  CHECK_FALSE(x.grad().defined());
  CHECK_FALSE(x.grad_fn());
  CHECK(x.is_leaf());
  CHECK(x.output_nr() == 0);
  x.requires_grad_();
  CHECK(x.impl()->autograd_meta() != nullptr);
  CHECK(x.is_leaf());
  const Tensor y = x * 2;
  CHECK(y.grad_fn());
  CHECK(std::string(y.grad_fn()->name()) == "mul");
  CHECK_FALSE(y.is_leaf());
}

TEST_CASE("only floating tensors have gradients", "[S112]") {
  CHECK(contains(message_of<AutogradError>([] { arange(3).requires_grad_(); }), "int64[3] on cpu"));
}

TEST_CASE("stored outputs keep the graph, detached ones do not", "[S106][S159]") {
  Tensor x = leaf(2);
  const auto before = live_nodes();
  {
    TensorList stored;
    for (int i = 0; i < 100; ++i) stored.push_back(x * 2);
    CHECK(live_nodes() >= before + 100);
    for (Tensor& t : stored) t = t.detach();
    CHECK(live_nodes() <= before + 1);  // the leaf's accumulator
  }
}

TEST_CASE("detach is a fresh leaf that shares memory", "[S93][S103]") {
  Tensor x = leaf({1, 2, 3});
  Tensor y = x.detach();
  CHECK_FALSE(y.requires_grad());
  y[0].fill_(999);
  CHECK(x.detach()[0].item<double>() == 999);
  Tensor z = (x * 2).detach().requires_grad_();
  CHECK(z.is_leaf());
  z.sum().backward();
  CHECK_FALSE(x.grad().defined());
  CHECK(values(z.grad()) == Values{1, 1, 1});
}

TEST_CASE("a node's output leads back to its leaf", "[S10]") {
  Tensor x = leaf(1);
  const Tensor y = x * 2;
  CHECK(y.grad_fn()->edges()[0].node);
  y.backward();
  CHECK(x.grad().defined());
}

TEST_CASE("hooks see the summed gradient once, in order, and may replace it", "[B86]") {
  Tensor x = leaf({1, 1});
  Tensor y = x * 2;
  std::vector<int> order;
  int calls = 0;
  register_hook(y, [&](const Tensor& g) {
    order.push_back(1), ++calls;
    CHECK(values(g) == Values{5, 5});
    return Tensor();
  });
  register_hook(y, [&](const Tensor& g) {
    order.push_back(2);
    return g * 10;
  });
  HookHandle removed = register_hook(y, [&](const Tensor&) {
    order.push_back(3);
    return Tensor();
  });
  removed.remove();
  (y * 2 + y * 3).sum().backward();
  CHECK(calls == 1);
  CHECK(order == std::vector<int>{1, 2});
  CHECK(values(x.grad()) == Values{100, 100});
  CHECK_THROWS_AS(register_hook(ones({1}), [](const Tensor&) { return Tensor(); }), AutogradError);
}

TEST_CASE("retain_grad keeps the gradient of a result", "[B86]") {
  Tensor x = leaf(2);
  Tensor y = x * x;
  y.retain_grad();
  (y + y).backward();
  CHECK(values(y.grad()) == Values{2});
  CHECK(values(x.grad()) == Values{8});
}

TEST_CASE("a gradient that arrives shared is not written into", "[P8]") {
  Tensor a = leaf({1, 1}), b = leaf({1, 1});
  Tensor sum = a + b;  // sends the same tensor both ways
  Tensor g = ones({2}, float64);
  sum.backward(g);
  a.grad().mul_(10);
  CHECK(values(b.grad()) == Values{1, 1});
  CHECK(values(g) == Values{1, 1});
  (a + b).backward(g);
  (a + b).backward(g);
  CHECK(values(g) == Values{1, 1});
}

TEST_CASE("zero_grad drops the gradient or fills it") {
  Tensor x = leaf({1, 2});
  x.sum().backward();
  Tensor kept = x.grad();
  x.zero_grad(false);
  CHECK(values(kept) == Values{0, 0});
  x.zero_grad();
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("a gradient can be set, and must fit") {
  Tensor x = leaf({1, 2});
  x.set_grad(ones({2}, float64));
  CHECK(values(x.grad()) == Values{1, 1});
  CHECK_THROWS_AS(x.set_grad(ones({3}, float64)), ShapeError);
  CHECK_THROWS_AS(x.set_grad(ones({2})), DTypeError);
  CHECK_THROWS_AS(x.set_grad(x), AutogradError);
  x.set_grad({});
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("the graph holds no tensor that holds the graph", "[B83]") {
  const auto before = live_nodes();
  {
    Tensor x = leaf(2);
    Tensor y = x.exp();  // saves its own result
    y.mul_(y.detach());
    Tensor z = x * x;
    z.backward({}, true, true);  // x.grad() has a history that leads to x
  }
  CHECK(live_nodes() == before);
}

TEST_CASE("a recorded gradient of an intermediate result leads to those computed after it", "[S98]") {
  Tensor x = leaf({1, 2, 3});
  const Tensor h = x.transpose(0, 0).square(), y = (h * h * h).sum();  // y = h^3, dy/dh = 3 h^2, dy/dx = dy/dh 2 x

  const TensorList g = autograd::grad({y}, {h, x}, {}, {.create_graph = true});

  const Tensor seed = ones({3}, float64);
  CHECK(values(autograd::grad({g[1]}, {g[0]}, {seed}, {.retain_graph = true})[0]) == Values{2, 4, 6});
  CHECK(values(autograd::grad({g[1]}, {x}, {seed})[0]) == Values{30, 30 * 16, 30 * 81});
  Tensor mine = g[0];
  const NoGradGuard no_grad;
  mine.zero_();  // what was handed out is the caller's
  CHECK(values(g[1]) == Values{6, 3 * 16 * 4, 3 * 81 * 6});
}

TEST_CASE("a gradient of a leaf is a value of its own, though another was computed from the same numbers") {
  Tensor x = leaf({2, 3}), w = leaf({4, 5});
  const Tensor h = w * w, y = h * (x + h);  // dy/dx = h, which is a part of dy/dw too
  const TensorList g = autograd::grad({y}, {x, w}, {ones({2}, float64)}, {.create_graph = true});
  CHECK(values(g[0]) == Values{16, 25});
  CHECK_THROWS_AS(autograd::grad({g[1].sum()}, {g[0]}, {}, {.retain_graph = true}), AutogradError);
  y.sum().backward({}, true, true);
  CHECK_THROWS_AS(autograd::grad({w.grad().sum()}, {x.grad()}), AutogradError);
  x.set_grad({}), w.set_grad({});
}

TEST_CASE("the gradient of a transposed intermediate result leads on too, and lies in order") {
  Tensor x = tensor({{0.5, 0.25}, {-0.5, 0.75}}, {.dtype = float64, .requires_grad = true});
  const Tensor t = x.t(), y = t.clamp(-1, 1);
  const TensorList g = autograd::grad({y}, {t, x}, {ones({2, 2}, float64)}, {.create_graph = true});
  CHECK(g[0].is_contiguous());
  const TensorList by = autograd::grad({g[1]}, {g[0]}, {tensor({{1, 2}, {3, 4}}, float64)});
  CHECK(values(by[0]) == Values{1, 3, 2, 4});
}

TEST_CASE("a gradient that is asked for twice keeps its history, also where the caller records nothing") {
  Tensor x = leaf({2, 3});
  const Tensor h = x.exp(), y = (h * h).sum();
  const NoGradGuard no_grad;
  const TensorList g = autograd::grad({y}, {h, h, x, x}, {}, {.create_graph = true});
  for (const Tensor& t : g) CHECK(t.grad_fn());
  for (std::size_t i = 0; i < g.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) CHECK_FALSE(g[i].is_alias_of(g[k]));
}

TEST_CASE("what a derivative does not read may be written: the bounds of clamp have the slope zero", "[S96]") {
  Tensor x = leaf({-3, 2});
  const Tensor g = autograd::grad({x.clamp(-1, 4)}, {x}, {ones({2}, float64)}, {.create_graph = true})[0];
  {
    const NoGradGuard no_grad;
    x.mul_(3);
  }
  CHECK(values(autograd::grad({g}, {x}, {ones({2}, float64)})[0]) == Values{0, 0});  // whatever x is by now
}
