// Packing what operations save for the backward pass.
#include <taper/autograd/engine.h>
#include <taper/autograd/saved_tensor_hooks.h>
#include <taper/factory.h>
#include <taper/ops/copy.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include <cmath>
#include <thread>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;
using autograd::SavedTensorHooks;

namespace {
Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }
Tensor same(const Tensor& t) { return t; }
}  // namespace

TEST_CASE("saved tensors go through pack when they are saved and through unpack when they are read") {
  Tensor x = leaf({1, 2, 3});
  int packed = 0, unpacked = 0;
  Tensor y;
  {
    const SavedTensorHooks hooks(
        [&](const Tensor& t) {
          ++packed;
          CHECK_FALSE(GradMode::is_enabled());
          CHECK_FALSE(t.requires_grad());
          return t.to(float32);
        },
        [&](const Tensor& t) {
          ++unpacked;
          return t.to(float64);
        });
    y = (x * x).exp().sum();
    CHECK(packed == 3);  // x twice, and the result of exp
  }
  (x * x).sum();
  CHECK(packed == 3);
  CHECK(unpacked == 0);
  y.backward();
  CHECK(unpacked == 3);
  CHECK(values(x.grad())[1] == Approx(4 * std::exp(4.0)).epsilon(1e-6));
}

TEST_CASE("of nested hooks the innermost counts, and only on its thread") {
  Tensor x = leaf({1, 2});
  int outer = 0, inner = 0;
  const auto count = [](int& n) {
    return [&n](const Tensor& t) {
      ++n;
      return t;
    };
  };
  const SavedTensorHooks first(count(outer), same);
  {
    const SavedTensorHooks second(count(inner), same);
    x* x;
    CHECK(inner == 2);
    CHECK(outer == 0);
    std::thread([&] { x* x; }).join();
    CHECK(inner == 2);
  }
  x* x;
  CHECK(outer == 2);
  try {
    const SavedTensorHooks third(count(inner), same);
    throw 1;
  } catch (int) {
  }
  CHECK(SavedTensorHooks::active() == &first);
}

TEST_CASE("what was packed may be of any type, and goes with the graph") {
  Tensor x = leaf({3});
  const auto counter = std::make_shared<int>();
  struct Kept {
    std::shared_ptr<int> counter;
    double value;
  };
  const auto run = [&] {
    const SavedTensorHooks hooks(
        [&](const Tensor& t) {
          return Kept{counter, t.item<double>()};
        },
        [](const Kept& k) { return tensor({k.value}, {.dtype = float64}); });
    return x * x;
  };
  Tensor y = run();
  CHECK(counter.use_count() == 3);
  y.backward();
  CHECK(counter.use_count() == 1);
  CHECK(values(x.grad()) == Values{6});
  CHECK(contains(message_of<AutogradError>([&] { y.backward(); }), "retain_graph"));
  run();
  CHECK(counter.use_count() == 1);
}

TEST_CASE("hooks that keep the memory itself do not lose the check for writes", "[S96][B4]") {
  Tensor x = leaf({1, 2, 3});
  Tensor o;
  {
    const SavedTensorHooks hooks(same, same);
    o = x.sigmoid();
  }
  o.detach().zero_();
  const auto text = message_of<InplaceConflictError>([&] { o.sum().backward(); });
  CHECK(contains(text, "sigmoid"));
  CHECK(contains(text, "zero_"));

  const autograd::SaveOnCpu scope;
  o = x.sigmoid();
  o.detach().zero_();
  CHECK_THROWS_AS(o.sum().backward(), InplaceConflictError);
}

TEST_CASE("hooks that copy make later writes harmless") {
  Tensor x = leaf({1, 2, 3});
  Tensor y;
  {
    const SavedTensorHooks hooks([](const Tensor& t) { return t.clone(); }, same);
    y = (x * 1).square();
  }
  Tensor h = x * 1;
  {
    const SavedTensorHooks hooks([](const Tensor& t) { return t.clone(); }, same);
    y = h.square();
  }
  h.detach().zero_();
  y.sum().backward();
  CHECK(values(x.grad()) == Values{2, 4, 6});
}

TEST_CASE("hooks must return what was saved, and leave it as it is") {
  Tensor x = leaf({1, 2});
  const auto message = [&](auto pack, auto unpack) {
    return message_of<AutogradError>([&] {
      const SavedTensorHooks hooks(pack, unpack);
      (x * x).sum().backward();
    });
  };
  CHECK(message(same, [](const Tensor& t) { return t.to(float32); }) ==
        "saved tensor hooks of mul: the unpack hook returned float32[2] on cpu for a tensor of float64[2] on cpu; it "
        "must return the same shape, dtype and device");
  CHECK(contains(message(same, [](const Tensor&) { return Tensor(); }), "returned undefined"));
  CHECK(contains(message(
                     [](Tensor t) {
                       t.zero_();
                       return t;
                     },
                     same),
                 "the pack hook wrote to"));
}

TEST_CASE("second derivatives go through packed tensors") {
  Tensor x = leaf({2, 3});
  const SavedTensorHooks hooks([](const Tensor& t) { return t.clone(); }, [](const Tensor& t) { return t.clone(); });
  Tensor y = (x * x * x).exp().log().sum();  // x^3
  Tensor g = autograd::grad({y}, {x}, {}, {.create_graph = true})[0];
  g.sum().backward();
  CHECK(values(g)[0] == Approx(12));
  CHECK(values(x.grad())[0] == Approx(12));
  CHECK(values(x.grad())[1] == Approx(18));
}

TEST_CASE("writes in place work under hooks") {
  Tensor x = leaf({1, 2, 3});
  const SavedTensorHooks hooks([](const Tensor& t) { return t.clone(); }, same);
  Tensor y = x * 2;
  y.narrow(0, 0, 2).exp_();
  y.mul_(y.detach());
  y.sum().backward();
  const double e2 = std::exp(2.0), e4 = std::exp(4.0);
  CHECK(values(x.grad())[0] == Approx(2 * e2 * e2));
  CHECK(values(x.grad())[1] == Approx(2 * e4 * e4));
  CHECK(values(x.grad())[2] == 12);
}

TEST_CASE("SaveOnCpu changes no gradient") {
  Tensor w = leaf({{1, 2}, {3, 4}}), x = leaf({{1}, {2}});
  {
    const autograd::SaveOnCpu scope;
    matmul(w, x).square().sum().backward();
  }
  const Tensor gw = w.grad(), gx = x.grad();
  w.zero_grad(), x.zero_grad();
  matmul(w, x).square().sum().backward();
  CHECK(values(gw) == values(w.grad()));
  CHECK(values(gx) == values(x.grad()));
}

TEST_CASE("packed tensors leave no node behind", "[B83]") {
  const auto before = live_nodes();
  {
    Tensor x = leaf({1, 2});
    const SavedTensorHooks hooks(same, same);
    Tensor y = x.exp();
    y.mul_(y.detach());
    (x * x).sum().backward({}, true, true);
  }
  CHECK(live_nodes() == before);
}

TEST_CASE("scopes of saved-tensor hooks may end in any order") {
  int outer_packs = 0, inner_packs = 0;
  const auto counting = [](int& packs) {
    return std::make_unique<autograd::SavedTensorHooks>([&packs](const Tensor& t) { return ++packs, t; },
                                                        [](const Tensor& t) { return t; });
  };
  const Tensor x = ones({2}, {.dtype = float64, .requires_grad = true});
  auto outer = counting(outer_packs), inner = counting(inner_packs);
  outer.reset();
  static_cast<void>(x.exp());
  CHECK(inner_packs == 1);
  inner.reset();
  static_cast<void>(x.exp());
  CHECK(inner_packs == 1);
  CHECK(outer_packs == 0);
  CHECK(autograd::SavedTensorHooks::active() == nullptr);
}
