// GraphBudget: a graph that grows from step to step is found, and who holds it.
#include <taper/taper.h>

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

template <class F>
GraphBudgetError budget_error_of(F&& f) {
  try {
    f();
  } catch (const GraphBudgetError& e) {
    return e;
  }
  FAIL("the budget was not enforced");
  throw 0;
}

}  // namespace

TEST_CASE("a loss summed as a tensor exceeds the budget, and the message names the sum", "[S106][S159]") {
  nn::Linear model(8, 8);
  const GraphBudget budget(40000);
  Tensor total = zeros({});
  int step = 0;

  const GraphBudgetError e = budget_error_of([&] {
    for (; step < 1000; ++step) {
      Tensor loss = mse_loss(model(ones({4, 8})), zeros({4, 8}));
      total = total + loss;
      model.zero_grad();
      loss.backward();
    }
  });

  CHECK(step > 5);
  CHECK(step < 100);
  CHECK(e.budget == 40000);
  CHECK(e.bytes > 40000);
  CHECK(e.nodes >= 3 * step);
  CHECK(e.held_by == "add");
  CHECK_FALSE(e.held_at.empty());
  const std::string text = e.what();
  CHECK(contains(text, "GraphBudget: the recorded graph takes 40"));
  CHECK(contains(text, "more than the 40 kB it may; "));
  CHECK(contains(text, "the result of add (float32[] on cpu), called at " + e.held_at + ", with "));
  CHECK(contains(text, " x add"));
  CHECK(contains(text, "; what is kept across steps should be item() or detach()"));
}

TEST_CASE("item() and detach() keep within the budget", "[S106][S159]") {
  nn::Linear model(8, 8);
  const GraphBudget budget(40000);
  double total = 0;
  Tensor kept = zeros({});
  for (int step = 0; step < 100; ++step) {
    Tensor loss = mse_loss(model(ones({4, 8})), zeros({4, 8}));
    total += loss.item<double>();
    kept = kept + loss.detach();
    model.zero_grad();
    loss.backward();
  }
  CHECK(total > 0);
  CHECK(budget.live_nodes() == 0);
  CHECK(budget.live_bytes() == 0);
}

TEST_CASE("saved memory counts, the memory of leaves does not") {
  Tensor w = ones({10000}, {.requires_grad = true});
  const GraphBudget budget(30000);
  Tensor y = w * w;
  CHECK(budget.live_bytes() < 2000);
  const auto e = budget_error_of([&] { Tensor z = exp(w); });
  CHECK(e.bytes > 40000);
}

TEST_CASE("memory that saved-tensor hooks keep counts as what they keep", "[S106]") {
  Tensor w = ones({1000}, {.dtype = float64, .requires_grad = true});
  const GraphBudget budget(1 << 20);
  const auto bytes_of = [&](auto pack, auto unpack) {
    const autograd::SavedTensorHooks hooks(pack, unpack);
    const Tensor y = exp(w * 1);
    return graph_stats(y).saved_bytes;
  };
  using Names = std::pair<std::optional<Tensor>, int>;
  CHECK(bytes_of([](const Tensor& t) { return t; }, [](const Tensor& t) { return t; }) == 8000);
  CHECK(bytes_of([](const Tensor& t) { return t.to(float32); }, [](const Tensor& t) { return t.to(float64); }) == 4000);
  CHECK(bytes_of(
            [](const Tensor& t) {
              return TensorList{t, t, t.clone()};
            },
            [](const TensorList& ts) { return ts[0]; }) == 16000);
  CHECK(bytes_of([](const Tensor& t) { return Names(t, 1); }, [](const Names& n) { return *n.first; }) == 8000);
  CHECK(budget.live_bytes() == 0);

  const autograd::SaveOnCpu on_cpu;
  const Tensor kept = exp(w * 1);
  CHECK(budget.live_bytes() > 8000);
  CHECK(budget.live_bytes() < 10000);
}

TEST_CASE("a type of the program's says what it keeps; of any other the message says that it cannot be known") {
  struct Halves {
    Tensor low, high;
    void visit_tensors(const Callback<void(const Tensor&)>& f) const { f(low), f(high); }
  };
  Tensor w = ones({1000}, {.dtype = float64, .requires_grad = true});
  {
    const GraphBudget budget(9000);
    const autograd::SavedTensorHooks hooks(
        [](const Tensor& t) {
          return Halves{t.narrow(0, 0, 500).clone(), t.narrow(0, 500, 500).clone()};
        },
        [](const Halves& h) {
          return cat({h.low, h.high});
        });
    const Tensor first = exp(w);
    const auto e = budget_error_of([&] { exp(w); });
    CHECK(e.bytes > 16000);
    CHECK_FALSE(contains(e.what(), "not counting"));
    first.sum().backward();
    CHECK(w.grad().min().item<double>() == Approx(std::exp(1.0)));
  }
  const GraphBudget budget(1000);
  const autograd::SavedTensorHooks hooks([](const Tensor& t) { return t.to_vector<double>(); },
                                         [](const std::vector<double>&) { return ones({1000}, float64); });
  const Tensor first = exp(w);
  CHECK(graph_stats(first).by_op[0].unknown + graph_stats(first).by_op[1].unknown == 1);
  const auto e = budget_error_of([&] {
    for (TensorList all;;) all.push_back(exp(w));
  });
  CHECK(e.bytes < 3000);
  CHECK(contains(e.what(), "nodes, not counting "));
  CHECK(contains(e.what(), " tensors that saved-tensor hooks keep in a form of their own, more than the 1 kB it may"));
}

TEST_CASE("a checkpointed region counts its inputs, not what it will compute again") {
  Tensor w = ones({1000}, {.dtype = float64, .requires_grad = true});
  const GraphBudget budget(1 << 20);
  const auto several = [&](const Tensor& x) { return exp(sin(cos(x * w))); };
  const Tensor x = w * 2;
  const Tensor whole = several(x);
  const std::int64_t plain = budget.live_bytes();
  CHECK(plain > 4 * 8000);  // x, its product with w, and two functions of it
  const Tensor again = autograd::checkpoint(several, x);
  CHECK(budget.live_bytes() - plain < 8000);
  CHECK(graph_stats(again).saved_bytes == 8000);  // x
  CHECK(graph_stats(again).unknown == 0);
  CHECK(graph_stats(autograd::checkpoint(several, w)).saved_bytes == 0);  // a leaf, which lives anyway
}

TEST_CASE("gradients that keep their graph are named as such", "[B83]") {
  Tensor x = ones({100}, {.requires_grad = true});
  const GraphBudget budget(100000);
  const auto e = budget_error_of([&] {
    for (int i = 0; i < 10000; ++i) (x * x * x).sum().backward({}, {}, /*create_graph=*/true);
  });
  CHECK(contains(e.what(), "a leaf's grad(), which came from a backward pass with create_graph"));
  x.set_grad({});
}

TEST_CASE("of nested budgets the smallest counts, and scopes end cleanly", "[S111]") {
  Tensor x = ones({1000}, {.requires_grad = true});
  {
    const GraphBudget outer(3000);
    {
      const GraphBudget inner(1000000);
      CHECK_THROWS_AS(exp(x), GraphBudgetError);
    }
    CHECK_THROWS_AS(exp(x), GraphBudgetError);
    const NoGradGuard no_grad;
    CHECK(exp(x).numel() == 1000);
  }
  CHECK(exp(x).requires_grad());
  CHECK_THROWS_AS(GraphBudget(-1), ValueError);
}

TEST_CASE("100 stored outputs keep 100 graphs, detached ones none", "[S106]") {
  Tensor x = ones({3}, {.requires_grad = true});
  const GraphBudget budget(1 << 20);
  TensorList kept;
  for (int i = 0; i < 100; ++i) kept.push_back(x * 2);
  CHECK(budget.live_nodes() == 100);
  {
    const GraphBudget smaller(1000);
    CHECK(contains(message_of<GraphBudgetError>([&] { kept.push_back(x * 2); }),
                   "101 results hold it (101 x mul), most of all the result of mul (float32[3] on cpu), called at "));
  }
  for (Tensor& t : kept) t = t.detach();
  CHECK(budget.live_nodes() == 0);
}

TEST_CASE("a part of the graph is never said to be larger than the whole") {
  Tensor x = ones({10000}, {.requires_grad = true});
  Tensor before = exp(exp(exp(x)));  // which the scope did not see
  const GraphBudget budget(41000);
  const auto e = budget_error_of([&] {
    before = exp(before);
    before = exp(before);
  });
  CHECK(contains(e.what(), "takes 81 kB in 2 nodes"));
  CHECK(contains(e.what(), ", with 81 kB in 2 x exp; "));
}

TEST_CASE("a write through a view is one node with what it wraps") {
  Tensor x = ones({100}, {.requires_grad = true});
  Tensor y = x * 1;
  const GraphBudget budget(10000);
  const std::int64_t before = budget.live_bytes();
  y.narrow(0, 0, 50).exp_();
  const std::int64_t bytes = budget.live_bytes() - before;
  CHECK(bytes > 400);
  CHECK(bytes < 400 + 5 * 400);
}
