#pragma once
#include <taper/autograd/node.h>

namespace taper {

/// A gradient that a user's code looks at is shared with other nodes, or is the caller's own: none may write to it.
inline void check_unwritten(const Tensor& g, std::uint32_t version, const char* kind, const Node& node) {
  check<AutogradError>(g.version() == version, kind, " of ", node.name(),
                       ": wrote to a gradient that it was given, by ", g.storage()->last_writer(),
                       "(), which others share; return a new tensor, as in return g * 10");
}
class Untouched {
 public:
  explicit Untouched(const Gradients& grads) : grads_(grads) {
    for (const Tensor& g : grads) versions_.push_back(g.defined() ? g.version() : 0);
  }
  void check_after(const char* kind, const Node& node) const {
    for (std::size_t i = 0; i < grads_.size(); ++i)
      if (grads_[i].defined()) check_unwritten(grads_[i], versions_[i], kind, node);
  }

 private:
  const Gradients grads_;
  std::vector<std::uint32_t> versions_;
};

}  // namespace taper
