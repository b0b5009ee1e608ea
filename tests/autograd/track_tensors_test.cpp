// Leaks: what lives, who made it, and what keeps itself alive.
#include <taper/taper.h>

#include <algorithm>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

std::string table(const Owners& owners = {}) {
  std::string s;
  append_to(s, tensor_summary(owners));
  return s;
}

Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }

}  // namespace

TEST_CASE("a leak is found in three steps: counters, summary, holders", "[S160]") {
  nn::Linear model(4, 4);
  TensorList log;  // keeps each step's loss as a tensor
  const auto step = [&] {
    Tensor loss = mse_loss(model(ones({2, 4})), zeros({2, 4}));
    log.push_back(loss);
  };
  step();
  const TrackTensors scope;
  CHECK(scope.change() == LiveCounts{});

  step();
  const LiveCounts one = scope.change();
  step();
  const LiveCounts two = scope.change();
  CHECK(one.nodes > 0);
  CHECK(two.tensors == 2 * one.tensors);
  CHECK(two.nodes == 2 * one.nodes);
  CHECK(two.allocated_bytes == 2 * one.allocated_bytes);
  std::string counts;
  append_to(counts, two);
  CHECK(contains(counts, " nodes, "));

  const auto rows = tensor_summary({model, log});
  const auto losses = std::count_if(rows.begin(), rows.end(), [](const auto& t) { return t.made_by == "mse_loss"; });
  CHECK(losses == 2);
  const auto leaked = std::find_if(rows.begin(), rows.end(), [](const auto& t) { return t.made_by == "mse_loss"; });
  REQUIRE(leaked != rows.end());
  CHECK(leaked->name == "element 1 of a list");
  CHECK(leaked->requires_grad);
  CHECK(leaked->spec.dtype == float32);
  CHECK(leaked->spec.device == cpu);
  CHECK(leaked->bytes == 4);
  CHECK(leaked->references == 1);
  CHECK(leaked->memory_references == 1);
  CHECK_FALSE(leaked->made_at.empty());
  CHECK(contains(table({model, log}), "element 2 of a list, mse_loss at "));

  CHECK(who_holds(log[2], {log}).list.at(0).what == "element 2 of a list");
  log.resize(1);
  CHECK(scope.change() == LiveCounts{});
}

TEST_CASE("tensor_summary shows sizes, references and views that keep more than they show", "[S157][S160]") {
  const TrackTensors scope;
  Tensor part = zeros({1024, 1024}).view(-1).narrow(0, 0, 10);
  Tensor ids = arange(3);
  Tensor same = ids;
  const auto rows = tensor_summary();
  REQUIRE(rows.size() == 3);  // the whole lives on as the base of its view
  CHECK(rows[0].made_by == "zeros");
  CHECK(rows[0].keeps == 0);
  CHECK(rows[1].is_view);
  CHECK(rows[1].made_by == "slice");
  CHECK(rows[1].bytes == 40);
  CHECK(rows[1].memory_bytes == 4'194'304);
  CHECK(rows[1].memory_references == 2);
  CHECK(rows[1].keeps == Approx(104857.6));
  CHECK(rows[2].made_by == "arange");
  CHECK(rows[2].references == 2);
  CHECK(rows[2].spec.dtype == int64);
  CHECK_FALSE(rows[2].requires_grad);
  CHECK(contains(table(), "view keeps 104858× its size alive\n"));
  CHECK(contains(table(), "tensor                               bytes        memory  refs   mem  grad"));
}

TEST_CASE("memory that only the graph still has is in the summary", "[S160]") {
  const TrackTensors scope;
  Tensor x = leaf({1, 2, 3});
  Tensor y = exp(x.exp()).sum();
  const auto rows = tensor_summary();
  const auto saved = std::count_if(rows.begin(), rows.end(), [](const auto& t) { return t.made_by == "saved by exp"; });
  CHECK(saved == 2);
  CHECK(rows.size() == 4);
}

TEST_CASE("tensors from before the scope are seen when they are used", "[S160]") {
  Tensor x = ones({3});
  const TrackTensors scope;
  CHECK(tensor_summary().empty());
  {
    const TrackTensors inner;
    CHECK(x.sum().item<float>() == 3);
  }
  const auto rows = tensor_summary();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].made_by.empty());
  x = {};
  CHECK(tensor_summary().empty());
  x = zeros({2}).add_(1);
  REQUIRE(tensor_summary().size() == 1);
  CHECK(tensor_summary()[0].made_by == "zeros");
}

TEST_CASE("tensor_summary without a scope or owners is refused", "[S160]") {
  CHECK(contains(message_of<AutogradError>([] { tensor_summary(); }),
                 "tensor_summary: tensors are only remembered inside a TrackTensors scope"));
  nn::Linear model(2, 1);
  CHECK(tensor_summary({model}).size() == 2);
  CHECK(contains(table({model}), " weight\n"));
}

TEST_CASE("many short-lived tensors leave nothing in a scope, and a budget within it counts its own nodes") {
  Tensor x = leaf({1, 2});
  const LiveCounts before = LiveCounts::now();
  {
    const TrackTensors scope;
    for (int i = 0; i < 5000; ++i) Tensor y = x * 2;
    CHECK(tensor_summary().size() == 1);
    Tensor kept = x * 2;
    {
      const GraphBudget budget(1 << 20);
      Tensor more = x * 2;
      CHECK(budget.live_nodes() == 1);
    }
    CHECK(scope.change().nodes == 2);  // and x's sink
  }
  CHECK((LiveCounts::now() - before).tensors == 0);
}

TEST_CASE("graphs that save results, and gradients with a graph, have no circle", "[B83]") {
  const TrackTensors scope;
  {
    Tensor x = leaf({2, 3});
    Tensor y = x.exp();
    Tensor overwritten = x.exp();
    overwritten.mul_(overwritten.detach());
    y.retain_grad();
    Tensor z = (y.sigmoid() * x).sum();
    z.backward({}, true, true);
    (x.grad() * x).sum().backward({}, true, true);
    Tensor v = (x * 1).slice(0, 0, 1);
    v.tanh_();
    y.register_hook([weak = WeakPtr<TensorImpl>(y.impl_ptr())](const Tensor&) {});
    const CycleReport report = find_cycles({x, z});
    CHECK(report.cycles.empty());
    CHECK(report.nodes > 10);
    CHECK(report.closed_hooks == 0);
    CHECK(contains(report.str(), "0 circles of references among "));
  }
  CHECK(find_cycles().nodes == 0);
}

TEST_CASE("a hook that captured the tensor it is on is found, before and after the handles are gone", "[B83]") {
  const TrackTensors scope;
  HookHandle handle;
  {
    Tensor y = leaf({1, 2}).exp();
    handle = y.register_hook([list = TensorList{y, y}](const Tensor& g) { return g * list.size(); });
    const CycleReport report = find_cycles({y});
    REQUIRE(report.cycles.size() == 1);
    CHECK_FALSE(report.cycles[0].leaked);
    CHECK(report.cycles[0].objects == 3);
    CHECK(contains(report.str(), "outlives its handles: the tensor float64[2] on cpu, made by exp at "));
    CHECK(who_holds(y).count(Holder::Kind::hook) == 2);
  }
  const CycleReport report = find_cycles();
  REQUIRE(report.cycles.size() == 1);
  const ReferenceCycle& cycle = report.cycles[0];
  CHECK(cycle.leaked);
  REQUIRE(cycle.steps.size() == 2);
  CHECK(cycle.steps[0].link == "grad_fn");
  CHECK(contains(cycle.steps[1].object, "the node exp, called at "));
  CHECK(cycle.steps[1].link == "captured by a tensor hook");
  CHECK(contains(report.str(), "leaked: the tensor float64[2] on cpu"));
  CHECK(contains(report.str(), "let the hook use its argument"));

  handle.remove();
  CHECK(find_cycles().cycles.empty());
  CHECK(tensor_summary().empty());
}

TEST_CASE("hooks of leaves and of nodes are looked into as well", "[B83]") {
  Tensor x = leaf({1, 2}), y = x * 2;
  const auto link_of = [](const CycleReport& r) {
    return r.cycles.size() == 1 ? r.cycles[0].steps.back().link : std::to_string(r.cycles.size());
  };
  HookHandle h = x.register_post_accumulate_grad_hook([x](const Tensor&) {});
  CHECK(link_of(find_cycles({x})) == "captured by a post-accumulate-grad hook");
  h.remove();
  h = y.grad_fn()->register_prehook([node = y.grad_fn()](const Gradients&) {});
  CHECK(link_of(find_cycles({y})) == "captured by a pre-hook");
  h.remove();
  h = y.grad_fn()->register_hook([y](const Gradients&, const Gradients&) {});
  CHECK(link_of(find_cycles({y})) == "captured by a post-hook");
  h.remove();
  // A tensor further down, whose graph leads back.
  Tensor z = y.sum();
  h = y.register_hook([z](const Tensor&) {});
  const CycleReport report = find_cycles({y, z});
  REQUIRE(report.cycles.size() == 1);
  CHECK(report.cycles[0].steps.size() == 3);
  h.remove();
  CHECK(find_cycles({y, z}).cycles.empty());
}

TEST_CASE("hooks that keep nothing alive are not accused, and those that cannot be told are counted", "[B83]") {
  const TrackTensors scope;
  Tensor x = leaf({1}), y = x * 2;
  y.register_hook([weak = WeakPtr<TensorImpl>(y.impl_ptr())](const Tensor&) {});
  y.register_hook([owned = std::make_unique<int>(1)](const Tensor&) {});
  const CycleReport report = find_cycles({y});
  CHECK(report.cycles.empty());
  CHECK(report.closed_hooks == 1);
  CHECK(contains(report.str(), "not looked into: 1 hooks that cannot be copied, or keep"));

  TensorHook shared([y](const Tensor&) {});  // the program has this function, so what it captured is not lost
  HookHandle handle = register_hook(y, shared);
  y = {};
  const CycleReport kept = find_cycles();
  REQUIRE(kept.cycles.size() == 1);
  CHECK_FALSE(kept.cycles[0].leaked);
  shared = {};
  CHECK(find_cycles().cycles.at(0).leaked);
  handle.remove();
}

TEST_CASE("what saved-tensor hooks keep is followed", "[B83]") {
  const TrackTensors scope;
  Tensor x = leaf({1, 2}), y = x * 2;
  Tensor z;
  {
    const autograd::SavedTensorHooks hooks([&](const Tensor&) { return std::make_pair(z, 1); },
                                           [](const auto& p) { return p.first; });
    z = y + 3;
    Tensor last = z * z;
    CHECK(find_cycles({last}).cycles.empty());  // from last to z, and not back
  }
  {
    struct Opaque {
      std::shared_ptr<Tensor> value;
    };
    const autograd::SavedTensorHooks hooks([](const Tensor& t) { return Opaque{std::make_shared<Tensor>(t)}; },
                                           [](const Opaque& o) { return *o.value; });
    z = exp(y);
    CHECK(find_cycles({z}).closed_hooks == 1);
  }
  std::string s = find_cycles({z}).str();
  CHECK(contains(s, "not looked into: 1 hooks"));
}

TEST_CASE("gradients of each other, set by hand, are a circle", "[B83]") {
  const TrackTensors scope;
  Tensor x = leaf({1, 2}), y = leaf({3, 4});
  x.set_grad(y);
  y.set_grad(x);
  const WeakPtr<TensorImpl> later(x.impl_ptr());
  CHECK_FALSE(find_cycles({x}).cycles.at(0).leaked);
  x = {}, y = {};
  const CycleReport report = find_cycles();
  REQUIRE(report.cycles.size() == 1);
  CHECK(report.cycles[0].leaked);
  CHECK(report.cycles[0].steps.size() == 2);
  CHECK(contains(report.str(), "--grad()--> "));
  CHECK(contains(report.cycles[0].remedy, "zero_grad()"));
  Tensor(later.lock()).set_grad({});
  CHECK(find_cycles().cycles.empty());
}

TEST_CASE("circles are looked for in deep graphs without a deep stack", "[B82][B83]") {
  Tensor x = leaf({1});
  Tensor y = x;
  for (int i = 0; i < 200000; ++i) y = y + x;
  const CycleReport report = find_cycles({y});
  CHECK(report.cycles.empty());
  CHECK(report.nodes == 200001);
  CHECK(who_holds(x, {y}).references == 1);
}
