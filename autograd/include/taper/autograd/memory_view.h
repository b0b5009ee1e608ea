#pragma once
// Who keeps memory alive, what it is used for, and what was never given back.
#include <taper/tensor.h>

namespace taper {

/// What an owner of tensors says it has: list_owned(owner, list) fills it.
class OwnedTensors {
 public:
  enum class As : unsigned char { parameter, buffer, optimizer_parameter, optimizer_state, element };
  struct Entry {
    As as;
    std::string name;
    const Tensor* handle;  // known by its place only: each counts once
    WeakPtr<TensorImpl> tensor;
  };
  /// `handle` is the owner's own, not a copy.
  void add(As as, std::string name, const Tensor& handle) {
    if (handle.defined()) entries_.push_back({as, std::move(name), &handle, WeakPtr<TensorImpl>(handle.impl_ptr())});
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};
/// The elements of a list, as of a replay buffer.
void list_owned(const TensorList& list, OwnedTensors& out);

/// Somebody who keeps tensors, for the questions below: a module, an optimizer, a TensorList, or a tensor with the
/// graph behind it. Any type for which list_owned(owner, OwnedTensors&) is found will do. To be made where the question
/// is asked: who_holds(weight, {model, optimizer, loss}).
class Owner {
 public:
  Owner(const Tensor& t) {
    if (t.defined()) root_ = WeakPtr<TensorImpl>(t.impl_ptr());
  }
  template <class T>
  requires requires(const T& owner, OwnedTensors& out) { list_owned(owner, out); }
  Owner(const T& owner) { list_owned(owner, owned_); }

  const OwnedTensors& owned() const { return owned_; }
  const WeakPtr<TensorImpl>& root() const { return root_; }

 private:
  OwnedTensors owned_;
  WeakPtr<TensorImpl> root_;
};
using Owners = std::vector<Owner>;

// All that follows only reads, looks at what it is given and, inside TrackTensors, at what that scope has seen, and
// must not run while other threads work on the same tensors.

// ---- Who holds a tensor's memory ------------------------------------------------------------------------------------

/// One reason why memory is still there.
struct Holder {
  enum class Kind : unsigned char {
    handle,     ///< handles to the tensor that nothing else explains: variables, containers, captures
    view,       ///< the same to another tensor with this memory: a view, the base of one, a detached tensor
    graph,      ///< an operation saved it for the backward pass
    gradient,   ///< it is the grad() of a tensor
    module,     ///< it is a parameter or a buffer
    optimizer,  ///< it is updated by an optimizer, or is its state
    hook,       ///< a hook captured it
    cache,      ///< nobody: the memory was given back to the allocator, which keeps it for later requests
    unknown     ///< tensors, or graphs, to which nothing leads that was given
  };
  Kind kind;
  std::string what;  ///< "mul saved it as its input 'other'", "optimizer group 0: parameter 1 of Adam"
  std::int64_t references = 1;
};
const char* name_of(Holder::Kind kind);

/// All holders of one block of memory.
struct Holders {
  std::string tensor;              ///< what was asked about: "float32[10] on cpu"
  std::int64_t bytes = 0;          ///< of its elements
  std::int64_t memory_bytes = 0;   ///< of the block that they lie in
  std::int64_t references = 0;     ///< to the memory and the tensors that show it, views' own to their base left out
  std::vector<Holder> list;        ///< their references add up to `references`
  std::int64_t largest_shown = 0;  ///< bytes of the largest tensor that shows the memory and is held

  /// How many references are of this kind.
  std::int64_t count(Holder::Kind kind) const;
  /// A table, and whether a view keeps more alive than it shows.
  std::string str() const;
};

/// Every holder of t's memory, the caller's own handle among them. Counted, not guessed: what cannot be named, because
/// nothing that was given leads there, is reported as so many further references.
///
/// Operations on the CPU are over when their call returns, so no work that is still to be done holds memory.
Holders who_holds(const Tensor& t, const Owners& owners = {});

/// A block of memory to ask about when its tensors may be gone. Does not keep it.
class WatchedMemory {
 public:
  explicit WatchedMemory(const Tensor& t);
  const WeakPtr<StorageImpl>& storage() const { return storage_; }
  const TensorSpec& spec() const { return spec_; }
  std::size_t bytes() const { return bytes_; }
  /// Who made the block, "cpu"; empty if it came from elsewhere.
  const std::string& allocator() const { return allocator_; }

 private:
  WeakPtr<StorageImpl> storage_;
  TensorSpec spec_;
  std::size_t bytes_;
  std::string allocator_;
};
Holders who_holds(const WatchedMemory& memory, const Owners& owners = {});

// ---- What is left
// -----------------------------------------------------------------------------------------------------

/// How much there is of what a program can leak.
struct LiveCounts {
  std::int64_t tensors = 0, storages = 0, nodes = 0;
  std::int64_t allocated_bytes = 0;
  /// Of the whole process; exact while no other thread makes or drops tensors.
  static LiveCounts now();
  LiveCounts operator-(const LiveCounts& before) const;
  bool operator==(const LiveCounts&) const = default;
};
/// Appends "3 tensors, 2 storages, 14 nodes, 40000 bytes".
void append_to(std::string& s, const LiveCounts& c);

/// While it lives, the tensors that this thread makes or uses are remembered, with the operator that made them and
/// where the program called it, and so are the nodes that it records. For debugging, as DetectAnomaly; scopes nest. A
/// tensor is remembered as soon as a factory, an operator or detach() returned it or an operator took it.
class TrackTensors {
 public:
  TrackTensors();
  ~TrackTensors();
  TrackTensors(const TrackTensors&) = delete;
  TrackTensors& operator=(const TrackTensors&) = delete;
  /// What there is now less what there was when the scope began: the first thing to look at after each step.
  LiveCounts change() const;

 private:
  LiveCounts before_;
};

/// A tensor that lives.
struct TensorSummary {
  std::string name;  ///< as an owner calls it: "fc1.weight"
  TensorSpec spec;
  std::int64_t bytes = 0;              ///< of its elements
  std::int64_t memory_bytes = 0;       ///< of the block that they lie in
  std::int64_t references = 0;         ///< handles to it
  std::int64_t memory_references = 0;  ///< tensors that show its memory, what graphs saved included
  bool requires_grad = false;
  bool is_view = false;
  double keeps = 0;     ///< how many times its size it keeps alive, if more than once and nobody shows more of it
  std::string made_by;  ///< "mul"; "saved by mul" for memory that only the graph still has; empty if not seen
  std::string made_at;  ///< where the program called that: "train.cpp:41"
};
/// The tensors that this thread's TrackTensors scope, or an owner, knows and that still live; most memory first.
/// Throws AutogradError outside such a scope if no owners are given.
std::vector<TensorSummary> tensor_summary(const Owners& owners = {});
/// Appends a table.
void append_to(std::string& s, const std::vector<TensorSummary>& tensors);

// ---- What memory is used for ----------------------------------------------------------------------------------------

/// Bytes of a device's allocator by use. Each block counts once, for the first use in this order that it has.
struct MemoryUse {
  std::int64_t parameters = 0, buffers = 0;
  std::int64_t gradients = 0;
  std::int64_t optimizer_state = 0;
  std::int64_t saved_activations = 0;  ///< what graphs keep for the backward pass
  std::int64_t other_tensors = 0;      ///< in use otherwise
  std::int64_t workspace = 0;          ///< of kernels: 0, as each gives its own back before it returns
  std::int64_t rounding = 0;           ///< blocks are larger than what was asked for; on cuda, with other_tensors
  std::int64_t objects = 0;            ///< tensors, storages and nodes themselves
  std::int64_t cached = 0;             ///< kept by the allocator for later requests
  std::int64_t elsewhere = 0;          ///< of the owners' tensors, but memory of other allocators; in no other line
  Device device = cpu;
  /// A line for each, and what is not counted.
  std::string str() const;
};
/// What can be told from the owners: parameters and buffers from modules, state from optimizers, saved activations from
/// tensors with graphs, as in memory_use({model, optimizer, loss}).
MemoryUse memory_use(const Owners& owners, Device device = cpu);

// ---- What keeps itself alive ----------------------------------------------------------------------------------------

/// Tensors, nodes and hooks that refer to each other in a circle, so that they outlive all handles.
struct ReferenceCycle {
  struct Step {
    std::string object;  ///< "the tensor float64[3] on cpu, made by exp"
    std::string link;    ///< how it refers to the next: "grad_fn"; the last step's leads to the first
  };
  std::vector<Step> steps;
  bool leaked = false;   ///< whether no handle outside leads here any more
  std::int64_t objects;  ///< in all circles that are linked with this one
  std::string remedy;
};
struct CycleReport {
  std::vector<ReferenceCycle> cycles;
  std::int64_t tensors = 0, nodes = 0;  ///< looked at
  std::int64_t closed_hooks =
      0;  ///< not looked into: hooks that cannot be copied, values of unknown type that hooks packed
  std::string str() const;
};
/// The circles among what the owners and this thread's TrackTensors scope lead to. What the library records has none:
/// an operation never keeps the tensors that it saves, only their memory. What remains are hooks that capture the
/// tensor they are on, and gradients of gradients set by hand.
///
/// What a hook captured is found by copying it and seeing whose count rises. What lies behind a shared pointer in it is
/// not seen, nor what nodes and functions of the user's keep; TrackTensors shows that it stays.
CycleReport find_cycles(const Owners& owners = {});

}  // namespace taper
