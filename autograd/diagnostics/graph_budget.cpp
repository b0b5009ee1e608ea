// Memory that recorded graphs hold, and who holds them.
#include <fmt/format.h>
#include <taper/autograd/autograd_meta.h>
#include <taper/autograd/graph_view.h>
#include <taper/operator.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "accumulate_grad.h"
#include "graph.h"
#include "watch.h"

namespace taper {
namespace {

/// The bytes of a node, with those that it wraps, and of the memory it saved that is not in `seen` yet.
std::int64_t weight(const Node& node, std::unordered_set<const StorageImpl*>* seen) {
  std::int64_t bytes = 0;
  for (const Node* n = &node; n; n = n->wrapped()) bytes += std::int64_t(sizeof(Node));
  for (const Kept& k : kept_by(node)) {
    bytes += std::int64_t(sizeof(Saved) + sizeof(TensorImpl));
    for (const auto& [memory, of_leaf] : k.memory)
      if (!of_leaf && (!seen || seen->insert(memory.get()).second)) bytes += std::int64_t(memory->bytes());
  }
  return bytes;
}

std::int64_t unknown_in(const NodeRegistry& registry) {
  std::int64_t unknown = 0;
  for (const Node* n : registry.nodes)
    for (const Kept& k : kept_by(*n)) unknown += k.unknown;
  return unknown;
}

std::int64_t weigh(const NodeRegistry& registry) {
  std::unordered_set<const StorageImpl*> seen;
  std::unordered_set<const Node*> wrapped;
  for (const Node* n : registry.nodes)
    if (n->wrapped()) wrapped.insert(n->wrapped());
  std::int64_t bytes = 0;
  for (const Node* n : registry.nodes) {
    if (!wrapped.contains(n)) bytes += weight(*n, &seen);
    if (n->trace()) n->trace()->weighed = true;
  }
  return bytes;
}

/// How often each operator occurs, most frequent first.
class Census {
 public:
  void add(const Node& n) { ++count_[n.name()]; }
  /// "52 x add, 52 x linear and others".
  std::string str() const {
    std::vector<std::pair<std::int64_t, std::string>> ops;
    for (const auto& [name, n] : count_) ops.emplace_back(-n, name);
    std::sort(ops.begin(), ops.end());
    std::string s;
    for (std::size_t i = 0; i < std::min<std::size_t>(ops.size(), 3); ++i)
      s += fmt::format("{}{} x {}", i ? ", " : "", -ops[i].first, ops[i].second);
    return s + (ops.size() > 3 ? " and others" : "");
  }

 private:
  std::unordered_map<std::string, std::int64_t> count_;
};

/// A node that no other node leads to: a tensor holds it, and with it everything behind it, of which counts what was
/// recorded within the scope.
struct Holder {
  const Node* node = nullptr;
  std::int64_t bytes = 0;
  Census behind;
};

Holder what_is_behind(const Node& root, const std::unordered_set<const Node*>& recorded) {
  Holder h{&root, 0, {}};
  std::unordered_set<const StorageImpl*> seen;
  std::unordered_set<const Node*> met{&root};
  std::vector<const Node*> stack{&root};
  while (!stack.empty()) {
    const Node& n = *stack.back();
    stack.pop_back();
    h.bytes += weight(n, &seen);
    h.behind.add(n);
    for (const Edge& e : n.edges())
      if (e && recorded.contains(e.node.get()) && met.insert(e.node.get()).second) stack.push_back(e.node.get());
  }
  return h;
}

std::vector<const Node*> holders_in(const NodeRegistry& registry) {
  std::unordered_set<const Node*> inner;
  for (const Node* n : registry.nodes)
    for (const Node* part = n; part; part = part->wrapped()) {
      if (part != n) inner.insert(part);
      for (const Edge& e : part->edges())
        if (e) inner.insert(e.node.get());
    }
  std::vector<const Node*> roots;
  for (const Node* n : registry.nodes)
    if (!inner.contains(n)) roots.push_back(n);
  return roots;
}

Holder largest_of(const std::vector<const Node*>& roots, const NodeRegistry& registry) {
  const std::unordered_set<const Node*> recorded(registry.nodes.begin(), registry.nodes.end());
  Holder largest;
  const std::size_t step = 1 + roots.size() / 256;  // of very many, some
  for (std::size_t i = 0; i < roots.size(); i += step) {
    Holder h = what_is_behind(*roots[roots.size() - 1 - i], recorded);
    if (h.bytes > largest.bytes) largest = std::move(h);
  }
  return largest;
}

/// Whether some leaf's grad() is the result of this node: a backward pass with create_graph left it there.
bool is_gradient_of_leaf(const Node& node, const NodeRegistry& registry) {
  for (const Node* n : registry.nodes)
    for (const Edge& e : n->edges())
      if (const auto* sink = dynamic_cast<const AccumulateGrad*>(e.node.get()))
        if (const Tensor leaf = sink->leaf(); leaf.defined() && leaf.grad().defined())
          if (const AutogradMeta* m = meta_of(leaf.grad()); m && m->grad_fn.get() == &node) return true;
  return false;
}

/// The message's middle: who holds the graph.
std::string describe(const Holder& largest, const std::vector<const Node*>& roots, const NodeRegistry& registry) {
  std::string s;
  const auto say = [&s](const auto&... parts) { (append_to(s, parts), ...); };
  Census holders;
  for (const Node* n : roots) holders.add(*n);
  if (roots.size() == 1)
    say("it is held by ");
  else
    say(roots.size(), " results hold it (", holders.str(), "), most of all ");
  if (is_gradient_of_leaf(*largest.node, registry)) {
    say("a leaf's grad(), which came from a backward pass with create_graph");
  } else {
    say("the result of ", largest.node->name());
    if (largest.node->num_outputs() > 0) say(" (", largest.node->output(0), ")");
    say(called_at(*largest.node));
  }
  say(", with ", readable_bytes(largest.bytes), " in ", largest.behind.str());
  return s;
}

}  // namespace

void check_budget() {
  Watch& w = Watch::of_this_thread();
  if (!w.registry) return;
  NodeRegistry& registry = *w.registry;
  std::unique_lock lock(registry.mutex);
  // The bound counts what each node saved, shared or not, and not what died: weighing everything can wait until it
  // says that the budget is spent.
  for (auto n = registry.nodes.rbegin(); n != registry.nodes.rend(); ++n) {
    if (!(*n)->trace() || (*n)->trace()->weighed) break;
    (*n)->trace()->weighed = true;
    w.weight_bound += weight(**n, nullptr);
  }
  if (w.weight_bound <= w.budget) return;
  w.weight_bound = weigh(registry);
  if (w.weight_bound <= w.budget) return;

  const std::vector<const Node*> roots = holders_in(registry);
  const Holder holder = largest_of(roots, registry);
  const std::int64_t unknown = unknown_in(registry);
  GraphBudgetError error(fmt::format(
      "GraphBudget: the recorded graph takes {} in {} nodes{}, more than the {} it may; {}; what is kept across steps "
      "should be item() or detach()",
      readable_bytes(w.weight_bound), registry.nodes.size(),
      unknown > 0
          ? fmt::format(", not counting {} tensors that saved-tensor hooks keep in a form of their own", unknown)
          : "",
      readable_bytes(w.budget), describe(holder, roots, registry)));
  error.budget = w.budget;
  error.bytes = w.weight_bound;
  error.nodes = std::int64_t(registry.nodes.size());
  error.held_by = holder.node->name();
  error.held_at = holder.node->trace() ? holder.node->trace()->recorded_at.str() : "";
  lock.unlock();
  throw error;
}

GraphBudget::GraphBudget(std::int64_t bytes) {
  check<ValueError>(bytes >= 0, "GraphBudget: ", bytes, " bytes; expected 0 or more");
  Watch& w = Watch::of_this_thread();
  outer_budget_ = w.registry ? w.budget : -1;
  if (!w.registry) {
    w.registry = std::make_shared<NodeRegistry>();
    w.weight_bound = 0;
  }
  w.budget = outer_budget_ < 0 ? bytes : std::min(bytes, outer_budget_);
  w.begin_scope();
}

GraphBudget::~GraphBudget() {
  Watch& w = Watch::of_this_thread();
  w.end_scope();
  w.budget = outer_budget_;
  if (outer_budget_ < 0) w.registry = nullptr;
}

std::int64_t GraphBudget::live_bytes() const {
  NodeRegistry& registry = *Watch::of_this_thread().registry;
  const std::lock_guard lock(registry.mutex);
  return weigh(registry);
}

std::int64_t GraphBudget::live_nodes() const {
  NodeRegistry& registry = *Watch::of_this_thread().registry;
  const std::lock_guard lock(registry.mutex);
  return std::int64_t(registry.nodes.size());
}

}  // namespace taper
