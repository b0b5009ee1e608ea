#include <taper/autograd/autograd_meta.h>
#include <taper/autograd/hooks.h>
#include <taper/autograd/node.h>

#include "diagnostics/watch.h"
#include "packed_tensor.h"

namespace taper {
namespace {

std::uint64_t next_sequence() {
  // Per thread: only the order in which one thread recorded matters to the engine, and that only for memory.
  static constinit thread_local std::uint64_t next = 0;
  return next++;
}

}  // namespace

Node::Node() : Node(next_sequence()) {}
Node::Node(std::uint64_t sequence) : sequence_(sequence) {
  if (ExcludedKeys::watching()) [[unlikely]]
    if (sequence != kRunFirst && Watch::of_this_thread().traces_nodes())  // sinks live with their leaves
      trace_ = std::make_unique<const NodeTrace>(*this);
}
Node::~Node() = default;

void Node::connect_one(const Tensor& t) { edges_.push_back(t.defined() ? gradient_edge(t) : Edge{}); }

void Node::release_saved() noexcept {
  for (Saved* s = saved_; s; s = s->next_) {
    if (!s->defined()) continue;
    s->alias_ = {};
    s->edge_ = {};
    s->packed_ = false;
    s->released_ = true;
  }
  if (hooks_) [[unlikely]]
    hooks_->packed.clear();
}

const IntrusivePtr<NodeHooks>& Node::ensure_hooks() {
  if (!hooks_) hooks_ = make_intrusive<NodeHooks>();
  return hooks_;
}

void Node::share_hooks(const Node& other) { hooks_ = other.hooks_; }

void Node::destroy() const noexcept {
  trace_ = nullptr;  // while the node is whole: GraphBudget may be looking at it
  // Deleting a node lets go of the nodes behind it. Those wait in a list threaded through the dead nodes themselves,
  // so that a chain of a million nodes takes neither stack nor memory.
  static constinit thread_local const Node* pending = nullptr;
  static constinit thread_local bool draining = false;
  next_dead_ = pending;
  pending = this;
  if (draining) return;
  draining = true;
  while (pending) {
    const Node* n = pending;
    pending = n->next_dead_;
    delete n;
  }
  draining = false;
}

}  // namespace taper
