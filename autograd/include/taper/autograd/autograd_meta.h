#pragma once
#include <taper/autograd/node.h>

#include <array>
#include <atomic>

namespace taper {

/// Everything autograd knows of one tensor. Allocated by requires_grad_(), by the first recorded operation that returns
/// the tensor, or for a view of such a tensor.
struct AutogradMeta final : AutogradMetaBase, Pooled<AutogradMeta> {
  Tensor grad;                              // leaves, and tensors that retain_grad()
  IntrusivePtr<Node> grad_fn;               // null for leaves
  std::atomic<Node*> accumulator{nullptr};  // leaves only; owned, made on first use by whoever comes first
  std::uint32_t slot = 0;                   // which output of grad_fn this tensor is
  /// Views: the storage version that grad_fn was built for. Written after it, so that who finds the present version
  /// here may read grad_fn although other threads rebuild histories.
  std::atomic<std::uint32_t> view_version{0};
  bool requires_grad = false;  // asked for by requires_grad_()
  bool retains_grad = false;
  ~AutogradMeta() override;
};

/// Installs every rule, once. requires_grad_ calls it: no tensor has the Autograd key before.
void ensure_rules();

inline AutogradMeta* meta_of(const Tensor& t) { return static_cast<AutogradMeta*>(t.impl()->autograd_meta()); }
AutogradMeta& ensure_meta(const Tensor& t);

/// Where t's gradient goes; empty when it needs none.
Edge gradient_edge(const Tensor& t);

/// Makes t an output of `node`. An integer or bool result takes a slot and gets no history.
void set_history(const Tensor& t, const IntrusivePtr<Node>& node);
template <std::size_t N>
void set_history(const std::array<Tensor, N>& ts, const IntrusivePtr<Node>& node) {
  for (const Tensor& t : ts) set_history(t, node);
}
/// After a new history: a tensor that retains its gradient goes on doing so.
void keep_retaining(const Tensor& t);
/// Points self, the node's argument number `written`, at `node` after an in-place write; if self is a view, its base is
/// pointed at a wrapper around `node`.
void rebase_history(const Tensor& self, const IntrusivePtr<Node>& node, std::size_t written = 0);
/// `t` as a result whose gradient goes along `edge`: how a value kept without its tensor rejoins the graph.
Tensor with_history(Tensor t, const Edge& edge);
/// New memory with t's values, whose gradient goes where t's goes.
Tensor copy_with_history(const Tensor& t);
/// Throws unless self may be written in place while recording; `op` is the in-place operator's name.
void check_inplace(const Tensor& self, const char* op);
/// Throws if writing in place to a view that needs no gradient would change a leaf that does.
void check_untracked_inplace(const Tensor& self, const char* op);

}  // namespace taper
