#include "graph.h"

#include <fmt/format.h>
#include <taper/autograd/autograd_meta.h>
#include <taper/autograd/hooks.h>

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "accumulate_grad.h"
#include "packed_tensor.h"

namespace taper {

Graph graph_behind(const Tensor& t, const char* op) {
  check<ValueError>(t.defined(), op, ": the tensor is undefined");
  const Edge root = gradient_edge(t);
  check<AutogradError>(bool(root), op, ": the tensor (", t.spec(),
                       ") has no graph, because it does not depend on any tensor that requires grad");

  std::unordered_map<const Node*, std::size_t> waiting;  // edges that have not been walked yet
  std::vector<const Node*> stack{root.node.get()};
  waiting[root.node.get()] = 0;
  while (!stack.empty()) {
    const Node& n = *stack.back();
    stack.pop_back();
    for (const Edge& e : n.edges())
      if (e && waiting[e.node.get()]++ == 0) stack.push_back(e.node.get());
  }

  const auto newest_last = [](const IntrusivePtr<Node>& a, const IntrusivePtr<Node>& b) {
    return a->sequence() < b->sequence();
  };
  std::priority_queue<IntrusivePtr<Node>, std::vector<IntrusivePtr<Node>>, decltype(newest_last)> ready(newest_last);
  ready.push(root.node);
  Graph graph;
  std::unordered_map<const Node*, std::size_t> place;
  while (!ready.empty()) {
    const IntrusivePtr<Node> n = ready.top();
    ready.pop();
    place[n.get()] = graph.nodes.size();
    graph.nodes.push_back({n, {}});
    for (const Edge& e : n->edges())
      if (e && --waiting[e.node.get()] == 0) ready.push(e.node);
  }
  for (Graph::Entry& entry : graph.nodes)
    for (const Edge& e : entry.node->edges())
      if (e) entry.arrows.push_back({place[e.node.get()], e.slot});
  return graph;
}

bool is_memory_of_leaf(const Storage& memory, const Saved& saved) {
  const auto* sink = dynamic_cast<const AccumulateGrad*>(saved.edge().node.get());
  const Tensor leaf = sink ? sink->leaf() : Tensor();
  return leaf.defined() && leaf.storage() == memory;
}

std::int64_t Kept::bytes() const {
  std::int64_t sum = 0;
  for (const Memory& m : memory) sum += std::int64_t(m.storage->bytes());
  return sum;
}

std::vector<Kept> kept_by(const Node& node) {
  std::vector<Kept> all;
  for (const Node* n = &node; n; n = n->wrapped())
    for (const Saved* s = n->saved(); s; s = s->next()) {
      const auto add = [&all, s](const Tensor& t) {
        if (t.defined()) all.back().memory.push_back({t.storage(), is_memory_of_leaf(t.storage(), *s)});
      };
      if (s->alias().defined()) {
        all.push_back({s->what(), s->alias().spec()});
        add(s->alias());
      } else if (s->defined()) {
        const autograd::PackedTensor& packed = n->hooks()->packed_for(*s);
        all.push_back({.what = s->what(), .spec = packed.spec(), .packed = true});
        all.back().unknown = !packed.visit_tensors(add);
      }
    }
  std::reverse(all.begin(), all.end());
  return all;
}

std::string readable_bytes(std::int64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double v = double(bytes);
  for (const char* unit : {"kB", "MB", "GB"})
    if ((v /= 1000) < 1000) return fmt::format("{:.3g} {}", v, unit);
  return fmt::format("{:.3g} TB", v / 1000);
}

namespace {
std::string spec_text(const TensorSpec& spec) {
  std::string s;
  append_to(s, spec.dtype);
  append_to(s, spec.sizes());
  return s;
}
std::string leaf_name(const Tensor& leaf, const NamedTensors& names) {
  for (const auto& [name, t] : names)
    if (t.defined() && leaf.is_same(t)) return name;
  return "leaf";
}
}  // namespace

std::vector<std::string> lines_about(const Graph& graph, std::size_t i, const NamedTensors& names) {
  const Node& node = *graph.nodes[i].node;
  if (const auto* sink = dynamic_cast<const AccumulateGrad*>(&node)) {
    const Tensor leaf = sink->leaf();
    return {fmt::format("{} {}", i, leaf.defined() ? leaf_name(leaf, names) : "leaf, gone"), spec_text(node.output(0))};
  }
  // A write through a view makes a new value of the whole base; the writer itself knows the view only.
  std::vector<std::string> lines{fmt::format("{} {}{}", i, node.name(), node.wrapped() ? " into a view" : "")};
  for (std::size_t k = 0; k < node.num_outputs(); ++k) lines.push_back(spec_text(node.output(k)));
  if (const Node* writer = node.wrapped()) lines.push_back("wrote " + spec_text(writer->output(0)));
  for (const Kept& k : kept_by(node))
    lines.push_back(fmt::format("{} {} {} {}", k.packed ? "packed" : "saved", k.what, spec_text(k.spec),
                                k.unknown ? "in a form of its own" : readable_bytes(k.bytes())));
  return lines;
}

GraphStats graph_stats(const Tensor& t) {
  const Graph graph = graph_behind(t, "graph_stats");
  GraphStats stats;
  stats.nodes = std::int64_t(graph.nodes.size());
  std::unordered_map<std::string, std::size_t> place;
  std::unordered_set<const StorageImpl*> seen;
  for (const Graph::Entry& entry : graph.nodes) {
    const auto [at, fresh] = place.try_emplace(entry.node->name(), stats.by_op.size());
    if (fresh) stats.by_op.push_back({.name = entry.node->name()});
    GraphStats::Op& op = stats.by_op[at->second];
    ++op.nodes;
    for (const Kept& k : kept_by(*entry.node)) {
      ++op.saved_tensors;
      op.unknown += k.unknown;
      stats.unknown += k.unknown;
      for (const auto& [memory, of_leaf] : k.memory) {
        if (!seen.insert(memory.get()).second) continue;
        const auto bytes = std::int64_t(memory->bytes());
        if (of_leaf) {
          stats.leaf_bytes += bytes;
        } else {
          stats.saved_bytes += bytes;
          op.saved_bytes += bytes;
        }
      }
    }
  }
  std::stable_sort(stats.by_op.begin(), stats.by_op.end(), [](const GraphStats::Op& a, const GraphStats::Op& b) {
    return std::pair(a.saved_bytes, a.nodes) > std::pair(b.saved_bytes, b.nodes);
  });
  return stats;
}

void append_to(std::string& s, const GraphStats& stats) {
  s += fmt::format("{:<24}{:>8}{:>8}{:>16}\n", "op", "nodes", "saved", "bytes");
  for (const GraphStats::Op& op : stats.by_op)
    s += fmt::format("{:<24}{:>8}{:>8}{:>16}\n", op.name, op.nodes, op.saved_tensors, op.saved_bytes);
  s += fmt::format("{:<24}{:>8}{:>8}{:>16}\n", "all", stats.nodes, "", stats.saved_bytes);
  s += fmt::format("besides, {} bytes of leaves\n", stats.leaf_bytes);
  if (stats.unknown > 0)
    s += fmt::format("not counted: {} tensors that saved-tensor hooks keep in a form of their own\n", stats.unknown);
}

std::string to_dot(const Tensor& t, const NamedTensors& names) {
  const Graph graph = graph_behind(t, "to_dot");
  std::string s = "digraph taper {\n  node [shape=box, fontname=\"monospace\"];\n";
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    std::string label;
    for (const std::string& line : lines_about(graph, i, names)) {
      if (!label.empty()) label += "\\n";
      for (const char c : line) {
        if (c == '"' || c == '\\') label += '\\';
        label += c;
      }
    }
    const bool leaf = graph.nodes[i].arrows.empty();
    s += fmt::format("  n{} [label=\"{}\"{}];\n", i, label, leaf ? ", style=filled, fillcolor=\"#d9f2d9\"" : "");
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const Graph::Arrow& a : graph.nodes[i].arrows) s += fmt::format("  n{} -> n{};\n", i, a.to);
  return s + "}\n";
}

}  // namespace taper
