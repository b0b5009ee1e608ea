#pragma once
#include <taper/tensor.h>

namespace taper {

/// Names for leaves in pictures of a graph, as Module::named_parameters() gives them.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// The graph behind t in the language of Graphviz: one box per node, numbered in the order in which backward() visits
/// them, with the shapes of its results and what it saved; arrows go the way gradients go.
std::string to_dot(const Tensor& t, const NamedTensors& names = {});

/// The same as a page for a browser that needs nothing else: drag to move, turn the wheel to zoom, type to find.
std::string graph_html(const Tensor& t, const NamedTensors& names = {});

/// What the graph behind a tensor consists of.
struct GraphStats {
  struct Op {
    std::string name;
    std::int64_t nodes = 0;
    std::int64_t saved_tensors = 0;
    std::int64_t saved_bytes = 0;  ///< of memory that no operator visited earlier saved as well
    std::int64_t unknown = 0;  ///< saved tensors whose bytes are not known, for SavedTensorHooks keep something else
  };
  std::int64_t nodes = 0;
  std::int64_t saved_bytes = 0;  ///< memory that is kept for the backward pass, each block once, leaves left out
  std::int64_t leaf_bytes = 0;   ///< memory of leaves that operators saved; it would live without the graph
  std::int64_t unknown = 0;      ///< saved tensors whose bytes are not counted, over all operators
  std::vector<Op> by_op;         ///< most bytes first
};
GraphStats graph_stats(const Tensor& t);
/// Appends a table.
void append_to(std::string& s, const GraphStats& stats);

/// The graphs that a GraphBudget follows hold more than they may.
struct GraphBudgetError : AutogradError {
  GraphBudgetError(const std::string& message) : AutogradError(message) {}
  std::int64_t budget = 0, bytes = 0, nodes = 0;
  std::string held_by;  ///< the operator whose result keeps the largest part alive
  std::string held_at;  ///< where the program called it
};

/// While it lives, the nodes recorded on this thread and the memory they saved may take at most `bytes`; the call that
/// exceeds them throws GraphBudgetError, which says what holds the graph: typically a loss that is summed over the
/// steps as a tensor. Memory of leaves does not count, nor what SavedTensorHooks keep that are no tensors. Of nested
/// scopes the smallest budget counts.
class GraphBudget {
 public:
  explicit GraphBudget(std::int64_t bytes);
  ~GraphBudget();
  GraphBudget(const GraphBudget&) = delete;
  GraphBudget& operator=(const GraphBudget&) = delete;
  /// What the nodes recorded since the outermost scope began take now.
  std::int64_t live_bytes() const;
  std::int64_t live_nodes() const;

 private:
  std::int64_t outer_budget_;
};

}  // namespace taper
