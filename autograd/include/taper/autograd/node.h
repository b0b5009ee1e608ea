#pragma once
#include <taper/small_vector.h>
#include <taper/tensor.h>

namespace taper {

/// One input of a node: gradients for output `slot` of `node` are sent along it.
struct Edge {
  IntrusivePtr<Node> node;
  std::uint32_t slot = 0;
  explicit operator bool() const { return bool(node); }
};

/// Gradients of a node's outputs or inputs, in order. An undefined Tensor stands for a gradient of zero.
using Gradients = SmallVector<Tensor, 3>;

/// A tensor needed by backward was written to after it was saved. Its text tells what its fields do.
struct InplaceConflictError : AutogradError {
  InplaceConflictError(const std::string& message) : AutogradError(message) {}
  std::string saved_by;                       ///< the operator that saved the tensor
  std::string saved_as;                       ///< the name of the argument or result that it was
  bool saved_output = false;                  ///< whether it was a result
  std::string modified_by;                    ///< the operator that wrote last
  std::vector<std::string> modified_through;  ///< the views it wrote through: {"select", "transpose"}
  std::uint32_t saved_version = 0, current_version = 0;
  std::string remedy;
  /// Where the program called the two operators, "train.cpp:41"; empty outside DetectAnomaly.
  std::string saved_at, modified_at;
};

/// A tensor a node keeps for the backward pass. It holds the memory, the version the memory had, and where the
/// tensor's gradient goes - never the tensor itself, so that the graph cannot own what owns the graph.
/// Only ever a member of a Node.
class Saved {
 public:
  Saved(Node* owner, const char* what);
  Saved(const Saved&) = delete;
  /// Saves an argument.
  void operator=(const Tensor& input);
  /// Saves a result of the owner itself, after set_history.
  void keep_output(const Tensor& output);
  bool defined() const { return alias_.defined() || packed_; }
  /// The name of the argument or result, and whether it is a result.
  const char* what() const { return what_; }
  bool is_result() const { return is_result_; }
  /// The memory that is kept, whatever has been written to it; undefined once freed, and if packed.
  const Tensor& alias() const { return alias_; }
  /// Where its gradient goes, for an argument.
  const Edge& edge() const { return edge_; }
  /// The next of the owner's saved tensors.
  const Saved* next() const { return next_; }
  /// The tensor as it was saved. Throws InplaceConflictError if its memory was written since, AutogradError if an
  /// earlier backward pass freed it.
  Tensor get() const;
  operator Tensor() const { return get(); }

 private:
  friend class Node;
  void pack();
  Tensor unpacked() const;
  /// As a value of the graph, if the backward pass is recorded.
  Tensor with_own_history(const Tensor& alias) const;
  [[noreturn]] void raise_freed() const;
  [[noreturn]] void raise_conflict(const Tensor& alias, std::uint32_t version) const;

  Node* owner_;
  const char* what_;  // the argument's name, for messages
  Saved* next_;       // the owner's other saved tensors
  Tensor alias_;      // same memory, no history
  Edge edge_;         // empty for outputs, whose history is the owner
  std::uint32_t version_ = 0, slot_ = 0;
  bool is_result_ = false;
  bool is_output_ = false;  // a result that takes part in the graph
  bool packed_ = false;     // by SavedTensorHooks: alias_ is then undefined, the value hangs on the owner
  bool released_ = false;
};

class NodeHooks;
class NodeTrace;

/// The backward half of one recorded operation. Receives the gradient of each output and returns the gradient of each
/// tensor input.
///
/// Gradients that arrive may be shared: a rule must not write into them unless is_sole_owner() says it may. A rule may
/// return a gradient of the shape the result was broadcast to, or of another floating dtype: the engine brings it back.
class Node : public RefCounted, public Pooled<Node>, private live::Counted<live::Kind::node> {
 public:
  Node();
  ~Node() override;
  virtual Gradients apply(Gradients grads) = 0;

  /// The operator's name.
  const char* name() const { return name_; }
  void set_name(const char* n) { name_ = n; }

  const SmallVector<Edge, 2>& edges() const { return edges_; }
  /// True if tensor input `i` needs a gradient. Valid from save() on.
  bool wants(std::size_t i) const { return bool(edges_[i]); }
  void add_edge(Edge e) { edges_.push_back(std::move(e)); }
  /// Connects one edge per tensor argument, in argument order (one per element of a list, one for an optional tensor
  /// whether or not it is there); other arguments add nothing.
  template <class... Args>
  void connect(const Args&... args) {
    (connect_one(args), ...);
  }

  std::uint32_t add_output(TensorSpec spec) {
    outputs_.push_back(std::move(spec));
    return std::uint32_t(outputs_.size() - 1);
  }
  /// What the gradient of output `slot` must look like.
  const TensorSpec& output(std::size_t slot) const { return outputs_[slot]; }
  std::size_t num_outputs() const { return outputs_.size(); }

  /// Grows with time within a thread; the engine runs the newest node first. Sinks of the graph have the largest.
  std::uint64_t sequence() const { return sequence_; }

  /// Drops the saved tensors; a later read explains what happened.
  virtual void release_saved() noexcept;
  /// The last of the saved tensors; next() leads to the others.
  const Saved* saved() const { return saved_; }
  /// The node inside this one, if it wraps another.
  virtual const Node* wrapped() const { return nullptr; }

  // <taper/autograd/hooks.h>
  /// Null while nothing hangs on the node.
  NodeHooks* hooks() const { return hooks_.get(); }
  const IntrusivePtr<NodeHooks>& ensure_hooks();
  /// The hooks of `other` become those of both.
  void share_hooks(const Node& other);
  template <class F>
  HookHandle register_prehook(F hook);
  template <class F>
  HookHandle register_hook(F hook);

  /// Where the operation was recorded; null unless DetectAnomaly or GraphBudget watched.
  const NodeTrace* trace() const { return trace_.get(); }

 protected:
  static constexpr std::uint64_t kRunFirst = ~std::uint64_t(0);
  explicit Node(std::uint64_t sequence);
  void destroy() const noexcept override;  // iterative: a long chain must not overflow the stack

 private:
  friend class Saved;
  void connect_one(const Tensor& t);
  void connect_one(const TensorList& ts) {
    for (const Tensor& t : ts) connect_one(t);
  }
  void connect_one(const std::optional<Tensor>& t) { connect_one(t ? *t : Tensor()); }
  template <class T>
  void connect_one(const T&) {}

  const char* name_ = "?";
  SmallVector<Edge, 2> edges_;
  SmallVector<TensorSpec, 1> outputs_;
  Saved* saved_ = nullptr;
  std::uint64_t sequence_;
  IntrusivePtr<NodeHooks> hooks_;
  mutable std::unique_ptr<const NodeTrace> trace_;
  mutable const Node* next_dead_ = nullptr;
};

inline Saved::Saved(Node* owner, const char* what) : owner_(owner), what_(what), next_(owner->saved_) {
  owner->saved_ = this;
}

/// Whether nobody else can see this tensor or its memory, so that a gradient may be written into.
inline bool is_sole_owner(const Tensor& t) { return t.use_count() == 1 && t.storage()->use_count() == 1; }

}  // namespace taper
