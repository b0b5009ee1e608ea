#pragma once
// What DetectAnomaly, GraphBudget, TrackTensors and checkpoint() share: while one of their scopes lives, its thread
// does not exclude the key Watch, so that operators, writes, new tensors and new nodes come by here. Outside of them
// nothing does.
#include <taper/autograd/anomaly.h>

#include <deque>
#include <list>
#include <mutex>
#include <unordered_map>

#include "call_site.h"

namespace taper {

namespace detail {
class WatchedCall;
}
class OlderMemory;

/// The living nodes that were recorded inside GraphBudget or TrackTensors scopes, oldest first.
struct NodeRegistry {
  std::mutex mutex;  // a node may die on another thread
  std::list<const Node*> nodes;
};

/// The tensors that TrackTensors has seen. It watches them, so that outside of the scope nobody need say that one died.
class TensorRegistry {
 public:
  struct Entry {
    WeakPtr<TensorImpl> tensor;
    const char* made_by;  // null if it was there before
    CallSite at;
    std::size_t number;
  };
  /// By an operator, a factory: whoever is told of last.
  void add_made(const Tensor& t, const char* made_by);
  void add_used(const Tensor& t);
  void forget_dead();
  const Entry* find(const TensorImpl& t) const;
  /// Oldest first.
  std::vector<const TensorImpl*> living();

  const std::shared_ptr<NodeRegistry> nodes = std::make_shared<NodeRegistry>();

 private:
  Entry& entry_of(const Tensor& t);
  std::unordered_map<const TensorImpl*, Entry> entries_;
  std::size_t next_ = 0, look_again_at_ = 1024;
};

/// What is known of a node because its thread was watched when it was made.
class NodeTrace {
 public:
  explicit NodeTrace(const Node& node);
  ~NodeTrace();
  NodeTrace(const NodeTrace&) = delete;
  NodeTrace& operator=(const NodeTrace&) = delete;

  const CallSite recorded_at;
  mutable bool weighed = false;  // for GraphBudget: counted already

 private:
  struct Listed {
    std::shared_ptr<NodeRegistry> registry;
    std::list<const Node*>::iterator place;
  };
  Listed listed_[2];  // by GraphBudget, by TrackTensors
};

/// The writes that DetectAnomaly has seen, newest last.
struct MutationLog {
  struct Write {
    std::uint64_t storage;  // its id
    const char* op;
    std::uint32_t version;
    const ViewPath* through;
    CallSite at;
  };
  std::deque<Write> writes;
};

/// What is followed on one thread.
struct Watch {
  int scopes = 0;
  int depth = 0;  // of calls in calls: what an operator is made of is not looked at by itself

  std::shared_ptr<MutationLog> log;  // inside DetectAnomaly
  AnomalyOptions options;
  ValueRange overwritten;  // what the destination of the call in progress was before

  std::shared_ptr<NodeRegistry> registry;  // inside GraphBudget
  std::int64_t budget = 0, weight_bound = 0;

  std::shared_ptr<TensorRegistry> tracked;  // inside TrackTensors
  int tracking_scopes = 0;

  OlderMemory* older = nullptr;  // inside a checkpointed function

  /// Whether somebody wants to know where nodes are recorded.
  bool traces_nodes() const { return log || registry || tracked; }

  static Watch& of_this_thread();
  void begin_scope();
  void end_scope() noexcept;
};

/// Counts calls in calls while it lives.
class Nested {
 public:
  Nested() { ++Watch::of_this_thread().depth; }
  ~Nested() { --Watch::of_this_thread().depth; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
};

/// ", called at train.cpp:41", or nothing if it is not known.
std::string called_at(const Node& node);
/// The operators of a path, first to last.
std::vector<std::string> names_of(const ViewPath* path);
/// The last write to this memory that the thread's log knows.
const MutationLog::Write* last_write(const StorageImpl& memory);

ValueRange range_of(const Tensor& t, std::string name);
void check_forward(const detail::WatchedCall& call, const Tensor* results, std::size_t n);
/// node.apply(in) with its hooks, checked.
Gradients apply_watched(Node& node, Gradients in);
/// Makes an error thrown while the backward pass was at `node` say where the operation was recorded.
void add_call_site(std::runtime_error& error, const Node& node);
/// Throws GraphBudgetError if the recorded nodes hold too much.
void check_budget();

}  // namespace taper
