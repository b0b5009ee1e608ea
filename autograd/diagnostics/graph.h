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

/// What stands for one saved tensor: the memory itself, or what SavedTensorHooks keep in its place.
struct Kept {
  const char* what;      // the name of the argument or result
  TensorSpec spec;       // of the saved tensor
  bool packed = false;   // by hooks
  bool unknown = false;  // by hooks that do not say which tensors they keep
  struct Memory {
    Storage storage;
    bool of_leaf;  // a leaf's own, which lives without the graph
  };
  SmallVector<Memory, 1> memory{};
  std::int64_t bytes() const;
};
/// Everything that the node keeps for the backward pass, in the order of its declaration.
std::vector<Kept> kept_by(const Node& node);
/// Whether this memory belongs to the leaf that the saved tensor was, and so lives without the graph.
bool is_memory_of_leaf(const Storage& memory, const Saved& saved);

/// What a picture says of a node, line by line: its place and operator, its results, what it keeps.
std::vector<std::string> lines_about(const Graph& graph, std::size_t i, const NamedTensors& names);
/// "12 B", "3.4 kB".
std::string readable_bytes(std::int64_t bytes);

}  // namespace taper
