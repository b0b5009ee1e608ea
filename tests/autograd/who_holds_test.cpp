// Who keeps memory alive, and what it is used for.
#include <taper/allocator.h>
#include <taper/taper.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;
using Kind = Holder::Kind;

namespace {

/// The text of the only holder of this kind.
std::string what(const Holders& h, Kind kind) {
  std::string found;
  for (const Holder& holder : h.list)
    if (holder.kind == kind) {
      CHECK(found.empty());
      found = holder.what;
    }
  return found;
}

void check_sum(const Holders& h) {
  std::int64_t sum = 0;
  for (const Holder& holder : h.list) sum += holder.references;
  CAPTURE(h.str());
  CHECK(sum == h.references);
}

}  // namespace

TEST_CASE("who_holds names every kind of holder of one block", "[S158]") {
  nn::Linear model(3, 2);
  optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  Tensor& weight = model.weight;
  const Tensor other_name = weight;
  const Tensor view = weight.detach().select(0, 1);
  Tensor loss = model(ones({4, 3}, {.requires_grad = true})).sum();
  Tensor leaf = ones({2, 3}, {.requires_grad = true});
  leaf.set_grad(weight.detach());
  const HookHandle hook = loss.register_hook([weight](const Tensor& g) { return g * weight.sum().item<float>(); });
  const Storage raw = weight.storage();  // which nothing that is given leads to

  const Holders h = who_holds(weight, {model, optimizer, loss, leaf, view});

  check_sum(h);
  CHECK(h.references == 8);
  CHECK(h.count(Kind::handle) == 1);  // other_name; `weight` is the module's own
  CHECK(h.count(Kind::view) == 1);
  CHECK(what(h, Kind::view) == "float32[3] by detach -> select");
  CHECK(h.count(Kind::graph) == 1);
  CHECK(what(h, Kind::graph) == "linear saved it as its input 'weight', in the graph of float32[] on cpu");
  CHECK(h.count(Kind::gradient) == 1);
  CHECK(what(h, Kind::gradient) == "float32[2, 3] by detach: grad() of float32[2, 3] on cpu");
  CHECK(h.count(Kind::module) == 1);
  CHECK(what(h, Kind::module) == "weight");
  CHECK(h.count(Kind::optimizer) == 1);
  CHECK(h.count(Kind::hook) == 1);
  CHECK(what(h, Kind::hook) == "captured by a tensor hook of sum");
  CHECK(h.count(Kind::unknown) == 1);
  const std::string text = h.str();
  CHECK(contains(text, "float32[2, 3] on cpu, in 24 B of memory, has 8 references\n"));
  CHECK(contains(text, "  graph        1  linear saved it as its input 'weight'"));
  CHECK(contains(text, "  unknown      1  tensors, or graphs, that nothing given leads to\n"));
}

TEST_CASE("an optimizer holds parameters and its state", "[S158][S161]") {
  nn::Linear first(2, 2), second(2, 1);
  optim::Adam optimizer({{first.parameters(), {}}, {second.parameters(), {.lr = 0.1}}});
  second(first(ones({1, 2}))).sum().backward();
  optimizer.step();

  CHECK(what(who_holds(first.weight, {optimizer}), Kind::optimizer) == "optimizer group 0: parameter 0 of Adam");
  CHECK(what(who_holds(second.bias, {optimizer}), Kind::optimizer) == "optimizer group 1: parameter 3 of Adam");
  const Tensor state = optimizer.state_dict().at("state.2.exp_avg_sq");
  const Holders h = who_holds(state, {optimizer});
  CHECK(what(h, Kind::optimizer) == "optimizer group 1: exp_avg_sq of parameter 2 of Adam");
  CHECK(h.references == 2);

  Tensor kept = second.bias;
  CHECK(who_holds(kept, {second, optimizer}).references == 3);
}

TEST_CASE("what cannot be named is counted all the same", "[S158]") {
  Tensor x = ones({3}, {.requires_grad = true});
  CHECK(who_holds(x).references == 1);
  std::vector<Tensor> copies(5, x);
  CHECK(who_holds(x).count(Kind::handle) == 6);
  Tensor y = x * x;
  const Holders unknown = who_holds(x);
  check_sum(unknown);
  CHECK(unknown.count(Kind::handle) == 6);
  CHECK(unknown.count(Kind::unknown) == 2);  // mul saved it twice
  const Holders known = who_holds(x, {y, copies});
  check_sum(known);
  CHECK(known.references == unknown.references);
  CHECK(known.count(Kind::unknown) == 0);
  CHECK(known.count(Kind::graph) == 2);
  CHECK(contains(known.str(), "  handle       1  element 4 of a list\n"));
  CHECK(known.count(Kind::handle) == 6);

  const Holders named_twice = who_holds(x, {copies, y, copies, y});
  check_sum(named_twice);
  CHECK(named_twice.references == known.references);
}

TEST_CASE("references of a view that nothing leads to are said to look like handles", "[S158]") {
  Tensor x = ones({3});
  const Tensor view = x.narrow(0, 0, 1);
  const Holders hidden = who_holds(x);
  check_sum(hidden);
  CHECK(hidden.count(Kind::unknown) == 1);
  CHECK(what(hidden, Kind::handle) ==
        "variables, containers or captures of the program; as many as 1 may be views that are counted as unknown");
  const Holders shown = who_holds(x, {view});
  CHECK(shown.references == 2);
  CHECK(what(shown, Kind::handle) == "variables, containers or captures of the program");
  CHECK(shown.count(Kind::view) == 1);
}

TEST_CASE("memory that is gone is said to be in the allocator's cache", "[S158]") {
  Tensor x = ones({1000});
  const WatchedMemory memory(x);
  const Holders before = who_holds(memory);
  CHECK(before.references == 1);
  CHECK(before.count(Kind::unknown) == 1);
  CHECK(who_holds(memory, {x}).count(Kind::view) == 1);
  CHECK(x.use_count() == 1);
  CHECK(x.storage()->use_count() == 1);

  x = {};

  const Holders after = who_holds(memory);
  CHECK(after.references == 0);
  CHECK(contains(after.str(), "float32[1000] on cpu, in 4 kB of memory, has 0 references\n"));
  if (memory_is_pooled()) {
    REQUIRE(after.list.size() == 1);
    CHECK(after.list[0].kind == Kind::cache);
    CHECK(contains(after.str(), "nobody: the memory was given back to the allocator, which keeps "));
  } else {
    CHECK(contains(after.str(), "nothing holds it: the memory was given back to the system"));
  }
  CHECK(contains(message_of<ValueError>([&] { who_holds(x); }), "who_holds: the tensor is undefined"));
}

TEST_CASE("a stored output holds what its graph saved, a number does not", "[S158][S159]") {
  Tensor w = ones({2}, {.requires_grad = true});
  Tensor batch = ones({2});
  TensorList kept;
  std::vector<float> numbers;
  for (int i = 0; i < 3; ++i) kept.push_back((batch * w).sum());

  const Holders h = who_holds(batch, {kept});
  check_sum(h);
  CHECK(h.count(Kind::graph) == 3);
  CHECK(contains(h.str(), "mul saved it as its input 'self', in the graph of element 2 of a list"));

  for (Tensor& t : kept) numbers.push_back(t.item<float>());
  kept.clear();
  CHECK(numbers[2] == 2);
  CHECK(who_holds(batch).references == 1);
}

TEST_CASE("what saved-tensor hooks keep is held by the graph", "[S158]") {
  Tensor x = ones({3}), w = ones({3}, {.requires_grad = true}), y;
  {
    const autograd::SavedTensorHooks hooks([](const Tensor& t) { return t; }, [](const Tensor& t) { return t; });
    y = x * w;
  }
  const Holders h = who_holds(x, {y});
  check_sum(h);
  CHECK(h.count(Kind::unknown) == 0);
  CHECK(what(h, Kind::graph) ==
        "float32[3] that owns the memory: kept by saved-tensor hooks for the input 'self' of mul, in the graph of "
        "float32[3] on cpu");
  CHECK(memory_use({y}).saved_activations == 12);

  Tensor batch = ones({3}) * 2;
  Tensor z = autograd::checkpoint([&](const Tensor& t) { return exp(t * w).sum(); }, batch);
  const Holders region = who_holds(batch, {z});
  check_sum(region);
  CHECK(region.count(Kind::graph) == 1);
  CHECK(region.count(Kind::unknown) == 0);
}

TEST_CASE("inside TrackTensors nothing has to be given, and places are named", "[S158]") {
  const TrackTensors scope;
  Tensor x = ones({3}, {.requires_grad = true});
  Tensor v = x.slice(0, 0, 2), d = x.detach();
  Tensor y = exp(x) * x;
  const Holders h = who_holds(x);
  check_sum(h);
  CHECK(h.count(Kind::handle) == 1);
  CHECK(h.count(Kind::view) == 2);
  CHECK(h.count(Kind::graph) == 1);
  CHECK(h.count(Kind::unknown) == 0);
  CHECK(contains(h.str(), "mul saved it as its input 'other', called at "));
  CHECK(contains(h.str(), "float32[2] by slice, made at "));
}

TEST_CASE("a small view is said to keep its memory alive while nothing larger shows it", "[S157]") {
  Tensor whole = zeros({1024, 1024});
  Tensor part = whole.view(-1).narrow(0, 0, 10);
  CHECK_FALSE(contains(who_holds(part, {whole}).str(), "its size alive"));
  CHECK(who_holds(part).largest_shown == 4'194'304);  // the base is known to have another handle

  whole = {};
  const Holders h = who_holds(part);
  check_sum(h);
  CHECK(h.bytes == 40);
  CHECK(h.memory_bytes == 4'194'304);
  CHECK(h.references == 1);
  CHECK(contains(h.str(), "\nview keeps 104858× its size alive; clone() it to keep only its own\n"));

  part = part.clone();
  CHECK(who_holds(part).memory_bytes == 40);
  CHECK_FALSE(contains(who_holds(part).str(), "its size alive"));
}

TEST_CASE("memory_use gives each category its bytes after a step of Adam", "[S154][S156]") {
  nn::Linear model(999, 1);  // 1000 parameters
  optim::Adam optimizer(model.parameters());
  Tensor batch = ones({4, 999});
  {
    const MemoryUse before = memory_use({model, optimizer});
    CHECK(before.parameters == 4000);
    CHECK(before.gradients == 0);
    CHECK(before.optimizer_state == 0);
  }
  Tensor loss = model(batch).sum();
  CHECK(memory_use({model, optimizer, loss}).saved_activations == 4 * 999 * 4);
  loss.backward();
  optimizer.step();

  const MemoryUse use = memory_use({model, optimizer, loss});
  CHECK(use.parameters == 4000);
  CHECK(use.gradients == 4000);
  CHECK(use.optimizer_state == 8000);
  CHECK(use.saved_activations == 0);
  CHECK(use.workspace == 0);
  const MemoryStats stats = memory_stats();
  CHECK(use.parameters + use.buffers + use.gradients + use.optimizer_state + use.saved_activations +
            use.other_tensors ==
        stats.allocated_bytes);
  CHECK(use.other_tensors >= 4 * 999 * 4);
  CHECK(use.cached == stats.cached_bytes());

  const std::string text = use.str();
  for (const char* line : {"parameters", "buffers", "gradients", "optimizer state", "saved activations",
                           "other tensors", "workspace", "allocator rounding", "objects", "allocator cache"})
    CHECK(contains("\n" + text, "\n" + std::string(line) + ' '));
  CHECK(contains(text, "parameters                     4000 bytes"));
  CHECK(contains(text, "not counted here: 0 bytes of these tensors in memory of other allocators"));
  CHECK(contains(text, "drivers and the contexts of accelerators"));
}

TEST_CASE("memory_use counts a block once, and tells memory from elsewhere apart", "[S154]") {
  nn::Linear model(10, 10), tied(10, 10);
  tied.weight = model.weight;
  CHECK(memory_use({model, tied}).parameters == 400 + 40 + 40);
  CHECK(memory_use({model, model}).parameters == 440);

  float numbers[6] = {};
  Tensor outside = from_blob(numbers, {6});
  CHECK(memory_use({model, outside}).elsewhere == 24);
  CHECK(memory_use({outside}).parameters == 0);
  CHECK(memory_use({empty({1000}, {.device = meta})}).elsewhere == 0);
  nn::BatchNorm1d norm(8);
  CHECK(memory_use({norm}).buffers == 2 * 8 * 4 + 8);  // mean, variance, and a count in int64
}
