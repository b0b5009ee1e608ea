#pragma once
#include <taper/autograd/memory_view.h>
#include <taper/autograd/node.h>

#include <unordered_map>
#include <unordered_set>

namespace taper {

class CallSite;
class NodeHooks;

/// The tensors, nodes and hooks that some owners lead to, and the counted references between them. Takes none itself:
/// the counts are those of the program.
class References {
 public:
  enum class Kind : unsigned char { tensor, node, hooks };
  enum class By : unsigned char {
    grad,
    grad_fn,
    accumulator,
    base,
    edge,
    saved,
    saved_edge,
    wrapped,
    hooks,
    packed,
    capture
  };
  struct Link {
    std::size_t from, to;
    By by;
    const Saved* saved = nullptr;  // By::saved, By::packed
    const char* hook = "";         // By::capture: what kind of hook
    std::int64_t references = 1;
  };
  struct Claim {
    OwnedTensors::As as;
    std::string name;
  };
  struct Thing {
    Kind kind;
    const RefCounted* object;
    std::vector<std::size_t> in = {}, out = {};  // places in links
    std::vector<Claim> claims = {};              // what owners say of a tensor
    const char* made_by = nullptr;               // of a tensor that TrackTensors saw
    const CallSite* made_at = nullptr;
    std::size_t found_from;  // the tensor whose graph led here

    const TensorImpl& tensor() const;
    const Node& node() const;
    /// References that are neither links nor claims.
    std::int64_t unexplained = 0;
  };

  explicit References(const Owners& owners, const Tensor& subject = {});

  std::vector<Thing> things;
  std::vector<Link> links;
  std::int64_t closed_hooks = 0;  // of which nothing can be told

  /// Whether it is only what an operation keeps in place of the tensor it saved.
  bool is_saved_alias(const Thing& t) const;
  /// Whether more holds it than being the base of a view.
  bool is_held(const Thing& t) const;
  /// What the program calls a tensor, if an owner has a name for it, else what it is; the name of a node's operator.
  std::string describe(const Thing& t) const;
  /// "train.cpp:41"; looking it up takes a while.
  static std::string made_at(const Thing& t);

 private:
  std::size_t find(const RefCounted* object, Kind kind, std::size_t found_from);
  void link(Link l);
  void look_at_tensor(std::size_t at);
  void look_at_node(std::size_t at);
  void look_at_packed(const Saved& saved, const Node& node, std::size_t hooks);
  void look_into_hooks(std::size_t at);

  std::unordered_map<const RefCounted*, std::size_t> place_;
  std::unordered_set<const Tensor*> handles_;  // that were counted
};

/// "view keeps 12× its size alive", or nothing if it is less than twice.
std::string kept_alive(double times);

}  // namespace taper
