// Backward passes on several threads, inside one another, and over graphs too long for a stack.
#include <pthread.h>
#include <taper/autograd/engine.h>
#include <taper/autograd/hooks.h>
#include <taper/autograd/node.h>
#include <taper/factory.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include <thread>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/values.h"

using namespace taper;

// No assertion while other threads run: Catch2 keeps them in one place.
namespace {

Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }

template <class F>
void on_threads(int n, F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([&f, i] { f(i); });
  for (auto& t : threads) t.join();
}

bool on_small_stack(std::size_t bytes, void (*f)()) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  bool ok = pthread_attr_setstacksize(&attributes, bytes) == 0;
  pthread_t thread;
  const auto run = [](void* p) -> void* {
    reinterpret_cast<void (*)()>(p)();
    return nullptr;
  };
  ok = ok && pthread_create(&thread, &attributes, run, reinterpret_cast<void*>(f)) == 0;
  if (ok) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return ok;
}

/// The gradients of a small network whose numbers are made from i.
std::vector<double> gradients_of_network(int i) {
  const auto parameter = [&](IntSpan sizes, int salt) {
    const std::int64_t n = SizesAndStrides::contiguous(sizes).numel();
    Tensor t = ((arange(n, {.dtype = float32}) * 0.37 + (i + salt)).sin() * 0.5).view(sizes).detach();
    return t.requires_grad_();
  };
  Tensor w = parameter({16, 16}, 1), b = parameter({16}, 2), x = parameter({8, 16}, 3);
  for (int step = 0; step < 10; ++step) {
    Tensor h = x.matmul(w) + b;
    h.select(0, step % 8).mul_(b);
    h.slice(1, 0, 8).tanh_();
    (h * h).mean().backward();
  }
  std::vector<double> all;
  for (const Tensor& t : {w, b, x})
    for (const double g : values(t.grad())) all.push_back(g);
  return all;
}

}  // namespace

TEST_CASE("independent graphs on parallel threads give the gradients of one after the other, bit for bit", "[B84]") {
  constexpr int kThreads = 8;
  std::vector<std::vector<double>> serial, parallel(kThreads);
  for (int i = 0; i < kThreads; ++i) serial.push_back(gradients_of_network(i));
  on_threads(kThreads, [&](int i) { parallel[std::size_t(i)] = gradients_of_network(i); });
  CHECK(parallel == serial);
}

TEST_CASE("graphs that share leaves lose no gradient: 8 threads of 100 passes are 800", "[B84]") {
  Tensor x = leaf({1, 2, 3}), w = leaf({4, 5, 6});
  on_threads(8, [&](int) {
    for (int k = 0; k < 100; ++k) (x * w).sum().backward();
  });
  CHECK(values(x.grad()) == Values{3200, 4000, 4800});
  CHECK(values(w.grad()) == Values{800, 1600, 2400});
}

TEST_CASE("threads that meet at a view whose history must be rebuilt build it once") {
  for (int round = 0; round < 20; ++round) {
    Tensor x = leaf({1, 2, 3});
    Tensor y = x * 1;
    const Tensor v = y.slice(0, 0, 2);
    y.mul_(2);
    on_threads(4, [&](int) { v.sum().backward({}, true); });
    CHECK(values(x.grad()) == Values{8, 8, 0});
  }
}

TEST_CASE("threads may be the first to ask a view for its history, whose base became a result meanwhile", "[B84]") {
  for (int round = 0; round < 50; ++round) {
    Tensor x = leaf({1, 2, 3});
    Tensor y = ones({3}, {.dtype = float64});
    const Tensor v = y.slice(0, 0, 2);  // nothing to remember yet
    y.mul_(x);
    std::vector<int> tracked(4);
    on_threads(4, [&](int i) {
      tracked[std::size_t(i)] = v.requires_grad() && !v.is_leaf();
      (v * 2).sum().backward({}, true);
    });
    CHECK(tracked == std::vector<int>{1, 1, 1, 1});
    CHECK(values(x.grad()) == Values{8, 8, 0});
  }
}

TEST_CASE("threads that meet at an untracked view of a leaf add to one gradient", "[B84]") {
  for (int round = 0; round < 50; ++round) {
    Tensor x = leaf({1, 2, 3});
    Tensor v;
    {
      const NoGradGuard no_grad;
      v = x.slice(0, 0, 2);
    }
    on_threads(4, [&](int) { (v * 2).sum().backward(); });
    CHECK(values(v.grad()) == Values{8, 8});
    CHECK_FALSE(x.grad().defined());
  }
}

TEST_CASE("a view that retains its gradient is rebuilt on one thread while another walks its old history", "[B84]") {
  for (int round = 0; round < 50; ++round) {
    Tensor x = leaf({1, 2, 3});
    Tensor y = x * 1;
    const Tensor v = y.slice(0, 0, 2);
    v.retain_grad();
    const Tensor before = v.sum();
    y.mul_(2);
    on_threads(2, [&](int i) {
      if (i == 0)
        before.backward({}, true);
      else
        (v * 1).sum().backward({}, true);
    });
    CHECK(values(x.grad()) == Values{3, 3, 0});
  }
}

TEST_CASE("one retained graph is walked from several threads, to leaves and to results", "[B84]") {
  Tensor x = leaf({1, 2, 3});
  const Tensor h = x * x, y = (h * x).sum();
  std::vector<double> from_grad(8);
  on_threads(8, [&](int i) {
    for (int k = 0; k < 50; ++k) {
      if (i % 2)
        y.backward({}, true);
      else
        from_grad[std::size_t(i)] += values(autograd::grad({y}, {h}, {}, {.retain_graph = true})[0])[1];
    }
  });
  CHECK(values(x.grad()) == Values{600, 2400, 5400});
  CHECK(from_grad == std::vector<double>{100, 0, 100, 0, 100, 0, 100, 0});
}

TEST_CASE("a backward pass may start another inside a hook, over another graph or its own", "[B84]") {
  Tensor x = leaf({1, 2}), inner = leaf({5, 6});
  Tensor h = x * 3;
  const Tensor kept = (inner * inner).sum(), own = (x * x).sum();
  int calls = 0;
  register_hook(h, [&](const Tensor& g) {
    ++calls;
    const EnableGradGuard record;
    kept.backward({}, true);
    (inner * 2).sum().backward();
    own.backward({}, true);  // adds to x while x is yet to get its gradient from outside
    return g * 10;
  });
  (h * 2).sum().backward();
  CHECK(calls == 1);
  CHECK(values(inner.grad()) == Values{12, 14});
  CHECK(values(x.grad()) == Values{2 + 60, 4 + 60});
}

TEST_CASE("a hook that sees a leaf's new gradient may start another pass over that leaf", "[B84]") {
  Tensor x = leaf({1, 2});
  int calls = 0;
  HookHandle handle = register_post_accumulate_grad_hook(x, [&](const Tensor& t) {
    const EnableGradGuard record;
    if (++calls == 1) (t * 10).sum().backward();
  });
  (x * 2).sum().backward();
  CHECK(calls == 2);
  CHECK(values(x.grad()) == Values{12, 12});
  handle.remove();
}

TEST_CASE("a chain of a million nodes is built, run and freed on a stack of 256 KiB", "[B82]") {
  static double gradient;
  static long long left;
  gradient = 0, left = -1;
  const bool ran = on_small_stack(256 * 1024, [] {
    const auto before = live_nodes();
    {
      Tensor x = ones({1}, {.requires_grad = true});
      Tensor y = x;
      for (int i = 0; i < 1000000; ++i) y = y + 1;
      y.backward();
      gradient = x.grad().item<float>();
      y = Tensor();
      Tensor dropped = x;
      for (int i = 0; i < 1000000; ++i) dropped = dropped * 1;
    }
    left = live_nodes() - before;
  });
  CHECK(ran);
  CHECK(gradient == 1);
  CHECK(left == 0);
}

TEST_CASE("a chain of views and writes a hundred thousand long needs no deep stack either", "[B82]") {
  static bool right;
  static long long left;
  right = false, left = -1;
  const bool ran = on_small_stack(256 * 1024, [] {
    const auto before = live_nodes();
    {
      Tensor x = ones({2}, {.requires_grad = true});
      Tensor y = x * 1;
      for (int i = 0; i < 100000; ++i) y.select(0, i % 2).add_(1);
      y.sum().backward({}, true);
      right = x.grad().to_vector<float>() == std::vector<float>{1, 1};
    }
    left = live_nodes() - before;
  });
  CHECK(ran);
  CHECK(right);
  CHECK(left == 0);
}

TEST_CASE("graphs die with their handles: saved results, histories of gradients, rebuilt views", "[B83]") {
  const auto nodes = live_nodes();
  const auto tensors = live_tensors();
  {
    Tensor x = leaf({2, 3});
    Tensor y = x.exp();                             // saves its own result
    y.sum().backward({}, true, true);               // grad() has a history that leads to x
    (x.grad() * x).sum().backward({}, true, true);  // and again
    y.retain_grad();
    (y * y).sum().backward({}, true, true);  // y.grad() has a history that leads to y
    Tensor z = x.sigmoid() * 1;
    Tensor v = z.slice(0, 0, 1);
    z.mul_(x);
    v.tanh_();  // base -> write -> saved result, view -> base
    v.sum().backward({}, true, true);
    register_hook(z, [weak = WeakPtr<TensorImpl>(z.impl_ptr())](const Tensor& g) { return g; });
  }
  CHECK(live_nodes() == nodes);
  CHECK(live_tensors() == tensors);
}
