// Activation checkpointing: forget, and compute again.
#include <taper/allocator.h>
#include <taper/taper.h>

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;
using autograd::checkpoint;

namespace {
Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }
}  // namespace

TEST_CASE("a checkpointed region gives the same values and gradients, also to what it captured") {
  Tensor x = leaf({1, 2, 3}), w = leaf({0.5, 1, 2});
  int calls = 0;
  const auto fn = [&](const Tensor& t) {
    ++calls;
    return (t * w).exp().square() * t;
  };
  fn(x).sum().backward();
  const Tensor gx = x.grad(), gw = w.grad();
  x.zero_grad(), w.zero_grad();
  calls = 0;

  Tensor y = checkpoint(fn, x);
  CHECK(calls == 1);
  y.sum().backward();
  CHECK(calls == 2);
  CHECK(values(x.grad()) == values(gx));
  CHECK(values(w.grad()) == values(gw));
}

TEST_CASE("inputs need not require grad, and outputs may be several") {
  Tensor x = tensor({1, 2}, float64), w = leaf({3, 4});
  const TensorList out = checkpoint(
      [&](const TensorList& in) {
        return TensorList{(in[0] * w).exp(), in[0] * in[0], in[1].defined() ? in[1] : w * w};
      },
      {x, Tensor()});
  CHECK(out.size() == 3);
  CHECK_FALSE(out[1].requires_grad());
  (out[0].log().sum() + out[2].sum()).backward();
  CHECK(values(w.grad())[0] == Approx(1 + 6));
  CHECK(values(w.grad())[1] == Approx(2 + 8));
}

TEST_CASE("a region keeps its inputs only, until the backward pass needs the rest") {
  const std::int64_t n = 100'000;
  Tensor x = ones({n}, {.requires_grad = true});
  const auto fn = [](const Tensor& t) { return t.exp().sin().exp().cos().exp().sum(); };
  const auto live = [] { return memory_stats().allocated_bytes; };
  const auto before = live();
  Tensor plain = fn(x);
  const auto kept_plain = live() - before;
  plain = {};
  Tensor y = checkpoint(fn, x);
  const auto kept = live() - before;
  CHECK(kept_plain >= 3 * 4 * n);
  CHECK(kept < 4 * n);
  y.backward();
  y = {};
  x.zero_grad();
  CHECK(live() <= before + 1024);
}

TEST_CASE("the second call draws the random numbers of the first, and nobody else notices") {
  Tensor x = ones({1000}, {.dtype = float64, .requires_grad = true});
  manual_seed(7);
  Tensor y = checkpoint([](const Tensor& t) { return dropout(t * t, 0.5) * t; }, x);
  const Tensor mask = (y.detach() != 0).to(float64);
  const RandomStream after = default_generator().state();
  rand({10});
  const RandomStream then = default_generator().state();
  y.sum().backward();
  CHECK(values(x.grad()) == values(mask * 6));
  CHECK(default_generator().state().stream == then.stream);
  CHECK(after.stream + 1 == then.stream);
}

TEST_CASE("random numbers of a generator that is not put back are an error") {
  Tensor x = leaf({1, 2});
  Generator own(3);
  const auto fn = [&own](const Tensor& t) { return (t * rand({2}, {.dtype = float64}, own)).exp(); };
  Tensor y = checkpoint(fn, x);
  CHECK(contains(message_of<AutogradError>([&] { y.sum().backward(); }), "other random numbers"));
  y = checkpoint(
      [](const Tensor& t) {
        Generator fresh(3);
        return (t * rand({2}, {.dtype = float64}, fresh)).exp();
      },
      x);
  y.sum().backward();
  CHECK(x.grad().defined());
  y = checkpoint([&own](const Tensor& t) { return t.exp() * rand({2}, {.dtype = float64}, own); }, x);
  CHECK_THROWS_AS(y.sum().backward(), AutogradError);
}

TEST_CASE("batch norm counts and averages once") {
  nn::BatchNorm1d plain(3), again(3);
  const Tensor data = randn({8, 3});
  Tensor x = data.clone().requires_grad_(), z = data.clone().requires_grad_();
  plain(x).square().sum().backward();
  Tensor y = checkpoint([&](const Tensor& t) { return again(t).square(); }, z);
  const Tensor mean = again.running_mean.clone();
  y.sum().backward();
  CHECK(again.num_batches_tracked.item<int>() == 1);
  CHECK(values(again.running_mean) == values(mean));
  CHECK(values(again.running_mean) == values(plain.running_mean));
  CHECK(values(again.running_var) == values(plain.running_var));
  CHECK(values(z.grad()) == values(x.grad()));
  CHECK(values(again.weight.grad()) == values(plain.weight.grad()));
}

TEST_CASE("regions nest") {
  Tensor x = leaf({0.1, 0.2}), w = leaf({1.5, 2.5});
  int outer = 0, inner = 0;
  const auto inside = [&](const Tensor& t) {
    ++inner;
    return (t * w).exp().sin();
  };
  const auto run = [&](const auto& part) {
    return [&](const Tensor& t) {
      ++outer;
      Tensor h = (t * t).exp();
      h = part(h) * h;
      return part(h.cos()) * w;
    };
  };
  run(inside)(x).sum().backward();
  const Tensor gx = x.grad(), gw = w.grad();
  x.zero_grad(), w.zero_grad();
  outer = inner = 0;
  const auto before = live_nodes();
  {
    const auto part = [&](const Tensor& t) { return checkpoint(inside, t); };
    Tensor y = checkpoint(run(part), x);
    CHECK(outer == 1);
    y.sum().backward();
    CHECK(outer == 2);
    CHECK(inner == 6);  // twice each in both calls of the outer region, and once more for its own backward pass
    CHECK(values(x.grad()) == values(gx));
    CHECK(values(w.grad()) == values(gw));
  }
  CHECK(live_nodes() == before);
}

TEST_CASE("a graph with regions can be kept, and differentiated twice") {
  Tensor x = leaf({2, 3});
  const auto cube = [](const Tensor& t) { return t * t * t; };
  Tensor y = checkpoint(cube, x).sum();
  y.backward({}, true);
  y.backward({}, true);
  CHECK(values(x.grad()) == Values{24, 54});
  Tensor g = autograd::grad({y}, {x}, {}, {.create_graph = true})[0];
  CHECK(values(g) == Values{12, 27});
  CHECK(values(autograd::grad({g.sum()}, {x})[0]) == Values{12, 18});
}

TEST_CASE("a second call that differs is an error, never another gradient") {
  Tensor x = leaf({1, 2, 3, 4});
  int call = 0;
  const auto message = [&](auto fn) {
    call = 0;
    Tensor y = checkpoint(fn, x).sum();
    std::string text = message_of<AutogradError>([&] { y.backward({}, true); });
    CHECK(message_of<AutogradError>([&] { y.backward(); }) == text);  // nothing half done is used
    CHECK_FALSE(x.grad().defined());
    return text;
  };
  CHECK(message([&](const Tensor& t) { return t.narrow(0, 0, ++call == 1 ? 4 : 2).exp(); }) ==
        "checkpoint: called again in the backward pass, fn does other work than the first time: as tensor number 0 it "
        "saved float64[4] on cpu, now float64[2] on cpu; fn must depend on nothing that changes but its inputs and "
        "default_generator()");
  CHECK(contains(message([&](const Tensor& t) { return ++call == 1 ? t.exp().exp() : t.exp(); }),
                 "saved float64[4] on cpu, now nothing"));
  CHECK(contains(message([&](const Tensor& t) { return ++call == 1 ? t.exp() : t.exp().exp(); }),
                 "saved nothing, now float64[4] on cpu"));
}

TEST_CASE("writes to an input or to a saved value are found in regions too", "[B4]") {
  Tensor x = leaf({1, 2});
  Tensor h = x * 1;
  Tensor y = checkpoint([](const Tensor& t) { return t.exp(); }, h);
  h.detach().zero_();
  CHECK(contains(message_of<InplaceConflictError>([&] { y.sum().backward(); }), "inputs[0]"));

  Tensor z = checkpoint(
      [](const Tensor& t) {
        Tensor e = t.exp();
        Tensor out = e * 2;
        e.zero_();
        return out;
      },
      x);
  const auto text = message_of<InplaceConflictError>([&] { z.sum().backward(); });
  CHECK(contains(text, "backward of exp"));
  CHECK(contains(text, "zero_"));
}

TEST_CASE("an exception in a region passes through and leaves everything as it was") {
  Tensor x = leaf({1, 2});
  int calls = 0;
  const auto fn = [&](const Tensor& t) {
    if (++calls != 1) throw 7;
    return t.exp();
  };
  Tensor y = checkpoint(fn, x);
  CHECK_THROWS_AS(y.sum().backward(), int);
  CHECK_THROWS_AS(checkpoint(fn, x), int);
  CHECK(autograd::SavedTensorHooks::active() == nullptr);
  CHECK_FALSE(Recomputation::is_active());
  CHECK(GradMode::is_enabled());
}

TEST_CASE("without recording a region is a plain call") {
  Tensor x = leaf({1, 2});
  const NoGradGuard no_grad;
  int calls = 0;
  Tensor y = checkpoint(
      [&](const Tensor& t) {
        ++calls;
        CHECK_FALSE(GradMode::is_enabled());
        return t * 2;
      },
      x);
  CHECK_FALSE(y.requires_grad());
  CHECK(calls == 1);
}

TEST_CASE("a region may write in place to what it made itself") {
  Tensor x = leaf({1, 2});
  Tensor y = checkpoint(
      [](const Tensor& t) {
        Tensor h = t * t;
        h.narrow(0, 0, 1).mul_(10);
        h.exp_();
        return h.log();
      },
      x);
  y.sum().backward();
  CHECK(values(x.grad())[0] == Approx(20));
  CHECK(values(x.grad())[1] == Approx(4));
}

TEST_CASE("a long chain of regions is freed without deep recursion", "[B82]") {
  const auto before = live_nodes();
  {
    Tensor x = leaf({1});
    Tensor y = x;
    for (int i = 0; i < 20'000; ++i) y = checkpoint([](const Tensor& t) { return (t * t).sqrt(); }, y);
    y.backward();
    CHECK(values(x.grad())[0] == Approx(1));
    for (int i = 0; i < 20'000; ++i) y = checkpoint([](const Tensor& t) { return (t * t).sqrt(); }, y);
  }
  CHECK(live_nodes() == before);
}

TEST_CASE("a weight that changes between a checkpointed forward pass and its backward pass is a conflict") {
  Tensor x = tensor({2.0}, {.dtype = float64, .requires_grad = true});
  Tensor w = tensor({3.0}, {.dtype = float64, .requires_grad = true});
  const Tensor y = autograd::checkpoint([w](const Tensor& t) { return t * w * w; }, x);
  {
    const NoGradGuard step;
    w.mul_(10);
  }
  CHECK(contains(message_of<AutogradError>([&] { y.sum().backward(); }), "mul_() has changed its memory"));
  CHECK_FALSE(x.grad().defined());

  Tensor buffer = tensor({3.0}, float64);
  const Tensor z = autograd::checkpoint([buffer](const Tensor& t) { return t * buffer; }, x);
  buffer.fill_(100);
  CHECK(contains(message_of<AutogradError>([&] { z.sum().backward(); }), "fill_() has changed its memory"));
}

TEST_CASE("memory that a region reads and does not save is a conflict when it has changed") {
  Tensor x = leaf({1, 2}), w = leaf({3, 4});
  const auto conflict = [&](const auto& fn, const auto& change) {
    Tensor y = checkpoint(fn, x);
    change();
    const auto text = message_of<InplaceConflictError>([&] { y.sum().backward({}, true); });
    CHECK(message_of<InplaceConflictError>([&] { y.sum().backward(); }) == text);
    CHECK_FALSE(x.grad().defined());
    return text;
  };
  Tensor b = tensor({5, 6}, float64);
  CHECK(conflict([b](const Tensor& t) { return (t + b).exp(); }, [&] { b.fill_(1); }) ==
        "checkpoint: what fn gave to add as 'other' (float64[2] on cpu) was at version 0, but fill_() has changed its "
        "memory since, now at version 1, so that called again for the backward pass fn would compute something else; "
        "make a new tensor with full_like(), or clone() before writing");
  conflict([b](const Tensor& t) { return (t * b.select(0, 0).item<double>()).exp(); }, [&] { b.select(0, 0).mul_(2); });
  conflict([b](const Tensor& t) { return t.exp().masked_fill(b > 5, 0).exp(); },
           [&] { b.mutable_data<double>()[0] = 9; });
  conflict([b](const Tensor& t) { return checkpoint([b](const Tensor& u) { return (u + b).exp(); }, t).exp(); },
           [&] { b.add_(1); });
  conflict([w](const Tensor& t) { return (t + w).exp(); },
           [&] {
             const NoGradGuard step;
             w.sub_(1);
           });
  conflict([b](const Tensor& t) { return t * b.data<double>()[1] * t; }, [&] { b.zero_(); });

  // Read after the last tensor that is saved, it makes no difference.
  Tensor y = checkpoint([b](const Tensor& t) { return t.exp() + b; }, x);
  b.fill_(1);
  y.sum().backward();
  CHECK(values(x.grad())[0] == Approx(std::exp(1.0)));
}

TEST_CASE("a region that reads another tensor the second time is an error") {
  Tensor x = leaf({1, 2}), b = tensor({5, 6}, float64);
  const auto message = [&](const auto& fn, const auto& change) {
    Tensor y = checkpoint(fn, x);
    change();
    return message_of<AutogradError>([&] { y.sum().backward(); });
  };
  CHECK(message([&](const Tensor& t) { return (t + b).exp(); }, [&] { b = b + 1; }) ==
        "checkpoint: called again in the backward pass, fn gave to add as 'other' (float64[2] on cpu) memory that was "
        "not there the first time; fn must depend on nothing that changes but its inputs and default_generator(): "
        "capture tensors by value, and pass what changes as an input");
  Tensor c = tensor({5, 6}, float64), used = b;
  CHECK(
      contains(message([&](const Tensor& t) { return (t + used).exp(); }, [&] { used = c; }), "that it did not read"));
  Tensor state = tensor({1, 1}, float64);
  CHECK(contains(message(
                     [&](const Tensor& t) {
                       state = (t * state).exp().detach();
                       return (t + state).exp();
                     },
                     [] {}),
                 "that was not there the first time"));

  state = Tensor();
  CHECK(contains(message(
                     [&](const Tensor& t) {
                       if (!state.defined()) state = zeros({2}, float64);
                       state = (t * state).exp().detach();
                       return (t + state).exp();
                     },
                     [] {}),
                 "that was not there the first time"));

  // What the first call makes to keep it is there the second time.
  Tensor mask, waves;
  Tensor y = checkpoint(
      [&](const Tensor& t) {
        if (!mask.defined()) mask = tensor({0, 1}, float64);
        if (!waves.defined()) waves = (b - b).cos();
        return (t * mask * waves).exp();
      },
      x);
  y.sum().backward();
  CHECK(values(x.grad()) == Values{0, std::exp(2.0)});
}

TEST_CASE("a region may write to older memory, unless it then reads what was there") {
  Tensor x = leaf({1, 2}), scratch = zeros({2}, float64), count = zeros({1}, float64);
  const auto fn = [=](const Tensor& t) mutable {
    const NoGradGuard no_grad;
    count.add_(1);
    scratch.copy_(t).mul_(2);
    const EnableGradGuard record;
    return (t * scratch).exp();
  };
  Tensor y = checkpoint(fn, x), again = checkpoint(fn, x);
  (y + again).sum().backward();
  CHECK(values(x.grad())[0] == Approx(2 * 2 * std::exp(2.0)));

  Tensor part = ones({4}, float64);
  x.zero_grad();
  y = checkpoint(
      [=](const Tensor& t) mutable {
        {
          const NoGradGuard no_grad;
          part.narrow(0, 1, 2).copy_(t);
        }
        return (t * part.narrow(0, 0, 2)).exp();
      },
      x);
  y.sum().backward();
  CHECK(values(x.grad())[1] == Approx(std::exp(2.0)));

  nn::Embedding rows(3, 2, {.max_norm = 0.5});
  const Tensor at = tensor({0, 2, 0});
  y = checkpoint([&](const Tensor& t) { return (t * rows(at)).exp(); }, ones({3, 2}, {.requires_grad = true}));
  const Tensor renormed = rows.weight.detach().clone();
  y.sum().backward();
  CHECK(values(rows.weight) == values(renormed));
  CHECK(rows.weight.grad().defined());

  y = checkpoint([=](const Tensor& t) mutable { return (t * count.add_(1)).exp(); }, x);
  CHECK(contains(message_of<InplaceConflictError>([&] { y.sum().backward(); }), "add_() has changed its memory"));
}

TEST_CASE("modules that count and average may be called often in regions") {
  Tensor x = randn({4, 3, 5}, {.requires_grad = true});
  for (const std::optional<double> momentum : {std::optional(0.1), std::optional<double>()}) {
    nn::BatchNorm1d norm(3, {.momentum = momentum});
    nn::InstanceNorm1d instance(3, {.affine = true, .track_running_stats = true});
    const auto fn = [&](const Tensor& t) { return norm(instance(norm(t).exp()).exp()).exp(); };
    const TensorList y = {checkpoint(fn, x), checkpoint(fn, x)};
    CHECK_NOTHROW((y[0] * y[1]).sum().backward());
    norm.eval();
    Tensor z = checkpoint(fn, x);
    CHECK_NOTHROW(z.sum().backward());
    z = checkpoint(fn, x);
    norm.train();
    norm(x);
    CHECK_THROWS_AS(z.sum().backward(), AutogradError);
  }
}

TEST_CASE("regions are watched beside other scopes") {
  Tensor x = leaf({1, 2}), b = tensor({5, 6}, float64);
  const DetectAnomaly scope;
  Tensor y = checkpoint([&](const Tensor& t) { return (t + b).exp(); }, x);
  y.sum().backward();
  CHECK(values(x.grad())[0] == Approx(std::exp(6.0)));
  y = checkpoint([&](const Tensor& t) { return (t + b).exp(); }, x);
  b.add_(1);
  try {
    y.sum().backward();
    FAIL("no conflict");
  } catch (const InplaceConflictError& e) {
    CHECK(e.saved_by == "add");
    CHECK(e.saved_as == "other");
    CHECK(e.modified_by == "add_");
    CHECK(e.saved_version + 1 == e.current_version);
    CHECK_FALSE(e.saved_at.empty());
    CHECK_FALSE(e.modified_at.empty());
  }
  CHECK(mutation_log(b).size() == 1);
}
