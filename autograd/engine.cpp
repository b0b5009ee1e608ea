// The backward pass, in the order it happens: find every node the roots depend on and count the edges into it, run
// each node when all its gradients have arrived, send what it returns along its edges.
//
// Everything a pass needs to remember is in one table of its own, nothing in the nodes, so that two threads can walk
// one graph. Nothing here is recursive: a graph can be a chain of a million nodes.
#include <taper/autograd/autograd_meta.h>
#include <taper/autograd/engine.h>
#include <taper/autograd/hooks.h>
#include <taper/factory.h>
#include <taper/promotion.h>

#include <algorithm>

#include "accumulate_grad.h"
#include "diagnostics/watch.h"
#include "fit_gradient.h"

namespace taper {

Tensor sum_to_size(const Tensor& self, IntSpan sizes);

Tensor refit_gradient(Tensor g, const TensorSpec& want, const char* from, std::size_t i) {
  // A 0-dim tensor on the cpu goes with operands of any device, and its gradient comes back.
  const bool is_number = want.device.is_cpu() && want.dim() == 0;
  check<AutogradError>((g.device() == want.device || is_number) && is_floating(g.dtype()), "backward of ", from,
                       " returned a gradient of ", g.spec(), " for argument ", i, ", a tensor of ", want);
  if (g.sizes() != want.sizes()) {
    // The shape must be one that `want` broadcasts to; anything else is a mistake of the rule.
    bool broadcast = g.dim() >= want.dim();
    for (int d = 1; broadcast && d <= want.dim(); ++d) {
      const std::int64_t have = g.size(-d), need = want.sizes()[std::size_t(want.dim() - d)];
      broadcast = need == have || need == 1;
    }
    check<AutogradError>(broadcast, "backward of ", from, " returned a gradient of shape ", g.sizes(), " for argument ",
                         i, ", a tensor of shape ", want.sizes());
    g = sum_to_size(g, want.sizes());
  }
  return g.to(want.device, want.dtype);
}

namespace {

/// A node's place in one pass.
struct Task {
  IntrusivePtr<Node> node;
  std::uint32_t pending = 0;  // edges that have not delivered yet
  bool needed = true;         // whether to run it: something it leads to was asked for
  bool delivered = false;     // whether any gradient has arrived
  bool queued = false;
  SmallVector<Tensor, 1> grads{};
};

/// Node -> dense index, by open addressing.
class TaskTable {
 public:
  TaskTable() { slots_.resize(64, kEmpty); }
  Task& operator[](std::uint32_t i) { return tasks_[i]; }
  std::uint32_t size() const { return std::uint32_t(tasks_.size()); }

  /// The task of a node that discovery has met.
  std::uint32_t find(const Node* n) const {
    for (std::size_t at = hash(n);; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at] == kEmpty || tasks_[slots_[at]].node.get() == n) return slots_[at];
  }
  /// The same, adding the node if it is new; second: whether it was.
  std::pair<std::uint32_t, bool> find_or_add(const IntrusivePtr<Node>& n) {
    if (2 * (tasks_.size() + 1) > slots_.size()) grow();
    for (std::size_t at = hash(n.get());; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == kEmpty) {
        slots_[at] = size();
        tasks_.push_back({.node = n});
        return {slots_[at], true};
      }
      if (tasks_[slots_[at]].node == n) return {slots_[at], false};
    }
  }

 private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t(0);
  std::size_t hash(const Node* n) const {
    const auto bits = reinterpret_cast<std::uintptr_t>(n) >> 4;
    return (bits * 0x9E3779B97F4A7C15ull >> 20) & (slots_.size() - 1);
  }
  void grow() {
    slots_.assign(2 * slots_.size(), kEmpty);
    for (std::uint32_t i = 0; i < size(); ++i) {
      std::size_t at = hash(tasks_[i].node.get());
      while (slots_[at] != kEmpty) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i;
    }
  }
  std::vector<std::uint32_t> slots_;
  std::vector<Task> tasks_;
};

/// A gradient that the caller asked for: of output `slot` of a node.
struct Capture {
  Edge edge;
  bool run = false;  // whether the node is to run: the sink of a leaf that is to accumulate
  Tensor value;
};

class BackwardPass {
 public:
  BackwardPass(const char* op, const TensorList& roots, const TensorList& root_grads) : op_(op) {
    check<AutogradError>(root_grads.size() <= roots.size(), op_, ": ", std::int64_t(root_grads.size()),
                         " gradients for ", std::int64_t(roots.size()), " tensors");
    for (std::size_t i = 0; i < roots.size(); ++i) {
      check<ValueError>(roots[i].defined(), op_, ": tensor ", std::int64_t(i), " is undefined");
      Edge edge = gradient_edge(roots[i]);
      check<AutogradError>(bool(edge), op_, ": tensor ", std::int64_t(i), " (", roots[i].spec(),
                           ") does not depend on any tensor that requires grad, so it has no gradient; ",
                           GradMode::is_enabled()
                               ? "call requires_grad_() on a leaf before computing it"
                               : "nothing is recorded here, in a hook or under a NoGradGuard: compute it under "
                                 "GradModeGuard on(true)");
      root_grads_.push_back(start(roots[i], i < root_grads.size() ? root_grads[i] : Tensor(), std::int64_t(i)));
      roots_.push_back(std::move(edge));
    }
  }

  /// Asks for the gradient of `t`, input i: as captures()[i] or, for backward(), in its grad().
  void capture(const Tensor& t, std::int64_t i, bool accumulate) {
    check<ValueError>(t.defined(), op_, ": input ", i, " is undefined");
    Edge edge = gradient_edge(t);
    check<AutogradError>(bool(edge), op_, ": input ", i, " (", t.spec(),
                         ") does not require grad; call requires_grad_() on it before using it");
    if (accumulate && !t.is_leaf()) t.retain_grad();
    captures_.push_back({std::move(edge), accumulate && t.is_leaf(), {}});
  }
  std::vector<Capture>& captures() { return captures_; }

  void run(bool keep_graph, bool create_graph) {
    discover();
    if (!captures_.empty()) prune();
    const GradModeGuard mode(create_graph);
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      const std::uint32_t at = tasks_.find(roots_[i].node.get());
      deliver(tasks_[at], roots_[i].slot, std::move(root_grads_[i]));
    }
    for (const Edge& root : roots_) {
      const std::uint32_t at = tasks_.find(root.node.get());
      if (tasks_[at].pending == 0) make_ready(at);
    }
    try {
      while (!ready_.empty()) {
        std::pop_heap(ready_.begin(), ready_.end(), NewestLast{this});
        const std::uint32_t at = ready_.back();
        ready_.pop_back();
        run_node(at, keep_graph);
      }
    } catch (std::runtime_error& error) {
      if (followed_) add_call_site(error, *followed_);
      throw;
    }
    if (watched_) check_budget();
  }

 private:
  /// The gradient a root starts from.
  Tensor start(const Tensor& root, Tensor g, std::int64_t i) const {
    if (!g.defined()) {
      check<AutogradError>(root.numel() == 1, op_, ": tensor ", i, " (", root.spec(), ") has ",
                           root.numel() == 0 ? "no elements" : "more than one element",
                           " and so needs a gradient to start from; pass one, or reduce it "
                           "first: y.sum().backward()");
      return ones(root.sizes(), TensorOptions{root.dtype(), root.device()});
    }
    check<ShapeError>(g.sizes() == root.sizes(), op_, ": gradient ", i, " is ", g.spec(), " but its tensor is ",
                      root.spec(), "; they must have the same shape");
    check<DeviceError>(g.device() == root.device(), op_, ": gradient ", i, " is ", g.spec(), " but its tensor is ",
                       root.spec());
    check<DTypeError>(is_floating(g.dtype()), op_, ": gradient ", i, " is ", g.spec(), " but its tensor is ",
                      root.spec(), "; gradients are floating");
    return g.dtype() == root.dtype() ? g : g.to(root.dtype());
  }

  void discover() {
    std::vector<std::uint32_t> stack;
    for (const Edge& root : roots_)
      if (const auto [at, fresh] = tasks_.find_or_add(root.node); fresh) stack.push_back(at);
    while (!stack.empty()) {
      const Node& n = *tasks_[stack.back()].node;
      stack.pop_back();
      for (const Edge& e : n.edges()) {
        if (!e) continue;
        const auto [at, fresh] = tasks_.find_or_add(e.node);
        ++tasks_[at].pending;
        if (fresh) stack.push_back(at);
      }
    }
  }

  /// Leaves in the pass only the nodes that lead to a captured one. A node's needs are known once those of all nodes
  /// behind it are, so they are taken in an order in which every node comes after the nodes that feed it.
  void prune() {
    std::vector<std::uint32_t> order, waiting(tasks_.size());
    for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
      waiting[i] = tasks_[i].pending;
      tasks_[i].needed = false;
      if (waiting[i] == 0) order.push_back(i);
    }
    for (std::size_t k = 0; k < order.size(); ++k)
      for (const Edge& e : tasks_[order[k]].node->edges())
        if (e)
          if (const std::uint32_t at = tasks_.find(e.node.get()); --waiting[at] == 0) order.push_back(at);

    std::vector<bool> captured(tasks_.size());
    for (const Capture& c : captures_)
      if (const std::uint32_t at = tasks_.find(c.edge.node.get()); at < tasks_.size()) {
        captured[at] = true;
        if (c.run) tasks_[at].needed = true;
      }
    for (std::size_t k = order.size(); k-- > 0;)
      for (const Edge& e : tasks_[order[k]].node->edges())
        if (e)
          if (const std::uint32_t at = tasks_.find(e.node.get()); captured[at] || tasks_[at].needed)
            tasks_[order[k]].needed = true;
  }

  /// Adds a gradient to what output `slot` of the task's node has received.
  void deliver(Task& task, std::uint32_t slot, Tensor g) {
    if (task.grads.size() <= slot) task.grads.resize(task.node->num_outputs());
    task.delivered = true;
    Tensor& sum = task.grads[slot];
    if (!sum.defined()) {
      sum = std::move(g);
    } else if (!GradMode::is_enabled() && is_sole_owner(sum) && sum.is_contiguous()) {
      sum.add_(g);
    } else {
      sum = sum.add(g);
    }
  }

  /// Stores a gradient that was asked for. A recorded pass that goes on from here does so from what is handed out,
  /// which further derivatives can then be taken by; a copy goes on, so that the caller may write to its own.
  static void take(Capture& c, Tensor& g, bool goes_on) {
    if (!g.defined() || !GradMode::is_enabled()) {
      c.value = g;
      return;
    }
    c.value = !g.is_contiguous() ? g.contiguous() : is_sole_owner(g) ? as_own_value(g) : g.clone();
    g = goes_on ? c.value.clone() : c.value;
  }

  struct NewestLast {  // of a heap: the newest node on top
    BackwardPass* pass;
    bool operator()(std::uint32_t a, std::uint32_t b) const {
      return pass->tasks_[a].node->sequence() < pass->tasks_[b].node->sequence();
    }
  };
  void make_ready(std::uint32_t at) {
    if (std::exchange(tasks_[at].queued, true)) return;  // a root given twice
    ready_.push_back(at);
    std::push_heap(ready_.begin(), ready_.end(), NewestLast{this});
  }

  void run_node(std::uint32_t at, bool keep_graph) {
    Task& task = tasks_[at];  // tasks stay where they are once discovery is over
    const IntrusivePtr<Node>& node = task.node;
    if (watched_) [[unlikely]]
      followed_ = node;
    Gradients out;
    if (task.delivered) {
      Gradients in;
      in.reserve(task.grads.size());
      for (Tensor& g : task.grads) in.push_back(std::move(g));
      task.grads.clear();
      bool complete = task.needed;  // else only what was met on the way to what was asked for
      for (const Capture& c : captures_) complete |= c.edge.node == node;
      const NodeHooks* hooks = complete ? node->hooks() : nullptr;
      if (hooks) [[unlikely]]
        hooks->see_gradients(*node, in);
      for (Capture& c : captures_)
        if (c.edge.node == node && !c.run) take(c, in[c.edge.slot], task.needed);
      if (task.needed) {
        out = watched_ ? apply_watched(*node, std::move(in))
              : hooks  ? hooks->apply(*node, std::move(in))
                       : node->apply(std::move(in));
        if (!keep_graph) node->release_saved();
      }
    }
    const auto& edges = node->edges();
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const Edge& e = edges[i];
      if (!e) continue;
      const std::uint32_t next = tasks_.find(e.node.get());
      if (i < out.size() && out[i].defined())
        deliver(tasks_[next], e.slot, fit_gradient(std::move(out[i]), e.node->output(e.slot), node->name(), i));
      if (--tasks_[next].pending == 0) make_ready(next);
    }
  }

  const char* op_;
  const bool watched_ = ExcludedKeys::watching();
  IntrusivePtr<Node> followed_;  // the node that runs, if watched
  std::vector<Edge> roots_;
  TensorList root_grads_;
  std::vector<Capture> captures_;
  TaskTable tasks_;
  std::vector<std::uint32_t> ready_;
};

}  // namespace

namespace autograd {

void backward(const TensorList& tensors, const TensorList& grad_tensors, const BackwardOptions& options) {
  BackwardPass pass("backward", tensors, grad_tensors);
  for (std::size_t i = 0; i < options.inputs.size(); ++i) pass.capture(options.inputs[i], std::int64_t(i), true);
  pass.run(options.retain_graph.value_or(options.create_graph), options.create_graph);
}

TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& grad_outputs,
                const GradOptions& options) {
  check<ValueError>(!outputs.empty(), "grad: outputs is empty; name at least one tensor to differentiate");
  check<ValueError>(!inputs.empty(), "grad: inputs is empty; name at least one tensor to differentiate by");
  BackwardPass pass("grad", outputs, grad_outputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) pass.capture(inputs[i], std::int64_t(i), false);
  pass.run(options.retain_graph.value_or(options.create_graph), options.create_graph);
  const GradModeGuard mode(options.create_graph);  // whatever the caller's: what is copied must keep its history
  TensorList out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Tensor g = std::move(pass.captures()[i].value);
    // What is handed out is the caller's to write to: no other result, nor the gradient passed in, may change with it.
    if (g.defined() && !(is_sole_owner(g) && g.is_contiguous())) g = g.clone();
    out.push_back(std::move(g));
    check<AutogradError>(out.back().defined() || options.allow_unused, "grad: input ", std::int64_t(i), " (",
                         inputs[i].spec(),
                         ") was not used to compute the outputs; pass {.allow_unused = true} to get an undefined "
                         "gradient for it");
  }
  return out;
}

}  // namespace autograd
}  // namespace taper
