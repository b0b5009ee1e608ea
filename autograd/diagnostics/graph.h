#pragma once
#include <taper/autograd/graph_view.h>
#include <taper/autograd/node.h>

namespace taper {

/// The nodes behind a tensor in the order in which backward() runs them, and where their edges lead.
struct Graph {
  struct Arrow {
    std::size_t to;      // place in nodes
    std::uint32_t slot;  // output of that node
  };
  struct Entry {
    IntrusivePtr<Node> node;
    std::vector<Arrow> arrows;
  };
  std::vector<Entry> nodes;
};
/// `op` asks; throws AutogradError if t has no graph.
Graph graph_behind(const Tensor& t, const char* op);

/// Calls f(saved) for every tensor that the node keeps, in the order of its declaration.
template <class F>
void visit_saved(const Node& node, const F& f) {
  std::vector<const Saved*> all;
  for (const Node* n = &node; n; n = n->wrapped())
    for (const Saved* s = n->saved(); s; s = s->next())
      if (s->alias().defined()) all.push_back(s);
  for (std::size_t i = all.size(); i-- > 0;) f(*all[i]);
}
/// Whether what is kept is a leaf's own memory, which lives without the graph.
bool is_memory_of_leaf(const Saved& saved);

/// What a picture says of a node, line by line: its place and operator, its results, what it keeps.
std::vector<std::string> lines_about(const Graph& graph, std::size_t i, const NamedTensors& names);
/// "12 B", "3.4 kB".
std::string readable_bytes(std::int64_t bytes);

}  // namespace taper
