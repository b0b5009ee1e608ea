#pragma once
// How a derivative rule is attached to an operator. A rule is a Node with an apply() and, if it needs to remember
// anything, a save() that takes the operator's own arguments and/or a save_output() that takes the result.
//
//   struct MulBackward final : Node {
//     Saved self{this, "self"}, other{this, "other"};
//     void save(const Tensor& a, const Tensor& b) {
//       if (wants(1)) self = a;
//       if (wants(0)) other = b;
//     }
//     Gradients apply(Gradients g) override {
//       return {wants(0) ? g[0] * other.get() : Tensor(), wants(1) ? g[0] * self.get() : Tensor()};
//     }
//   };
//   differentiate<MulBackward, ops::mul>();
#include <taper/autograd/autograd_meta.h>
#include <taper/operator.h>

namespace taper {

/// Whether a recorded call must connect this argument.
inline bool tracks(const Tensor& t) { return t.impl()->keys().has(DispatchKey::Autograd) && t.requires_grad(); }
inline bool tracks(const TensorList& ts) {
  for (const Tensor& t : ts)
    if (tracks(t)) return true;
  return false;
}
inline bool tracks(const std::optional<Tensor>& t) { return t && t->defined() && tracks(*t); }
template <class T>
requires is_plain_argument<T>
bool tracks(const T&) { return false; }

template <class Rule, auto& Op>
struct Recorder;

template <class Rule, class R, class... A, StructuredOp<R(A...)>& Op>
struct Recorder<Rule, Op> {
  // An operator on a list has no one tensor to overwrite.
  static constexpr bool has_inplace =
      std::same_as<R, Tensor> && std::same_as<std::tuple_element_t<0, std::tuple<A..., void>>, Tensor>;

  static void install() {
    if constexpr (has_inplace)
      Op.set_record(call, call_inplace);
    else
      Op.set_record(call);
  }
  static R call(const A&... args) {
    if (!GradMode::is_enabled() || !(tracks(args) || ...)) return Op.below_autograd(args...);
    auto node = begin(args...);
    if constexpr (requires { node->save(args...); }) node->save(args...);
    R out = Op.below_autograd(args...);
    set_history(out, node);
    if constexpr (requires { node->save_output(out); }) node->save_output(out);
    return out;
  }
  static void call_inplace(Tensor& self, const A&... args) requires has_inplace {
    if (!GradMode::is_enabled() || !(tracks(args) || ...)) {
      if (GradMode::is_enabled() && self.is_view()) check_untracked_inplace(self, Op.inplace_name());
      return Op.inplace_below_autograd(self, args...);
    }
    check_inplace(self, Op.inplace_name());
    detail::check_destination(Op.inplace_name(), Op.name(), Op.infer(args...), self);
    auto node = begin(args...);
    if constexpr (requires { node->save(args...); }) save_before_write(*node, args...);
    Op.inplace_below_autograd(self, args...);
    rebase_history(self, node);
    if constexpr (requires { node->save_output(self); }) node->save_output(self);
  }

 private:
  static IntrusivePtr<Rule> begin(const A&... args) {
    auto node = make_intrusive<Rule>();
    node->set_name(Op.name());
    node->connect(args...);
    return node;
  }
  /// A rule that keeps the value about to be overwritten says so by saves_self() and is handed a copy of it.
  template <class... Rest>
  static void save_before_write(Rule& node, const Tensor& self, const Rest&... rest) {
    if constexpr (requires { node.saves_self(); }) {
      if (node.saves_self()) return node.save(copy_with_history(self), rest...);
    }
    node.save(self, rest...);
  }
};

template <class Rule, class... A, ViewOp<A...>& Op>
struct Recorder<Rule, Op> {
  static void install() { Op.set_record(call); }
  static Tensor call(const Tensor& self, const A&... args) {
    if (!GradMode::is_enabled() || !tracks(self)) return Op.below_autograd(self, args...);
    auto node = make_intrusive<Rule>();
    node->set_name(Op.name());
    node->connect(self);
    if constexpr (requires { node->save(self, args...); }) node->save(self, args...);
    Tensor out = Op.below_autograd(self, args...);
    set_history(out, node);
    return out;
  }
};

template <class Rule, class... A, MultiViewOp<A...>& Op>
struct Recorder<Rule, Op> {
  static void install() { Op.set_record(call); }
  static TensorList call(const Tensor& self, const A&... args) {
    if (!GradMode::is_enabled() || !tracks(self)) return Op.below_autograd(self, args...);
    auto node = make_intrusive<Rule>();
    node->set_name(Op.name());
    node->connect(self);
    if constexpr (requires { node->save(self, args...); }) node->save(self, args...);
    TensorList out = Op.below_autograd(self, args...);
    for (const Tensor& t : out) set_history(t, node);
    return out;
  }
};

/// From here on, calls to the operator are recorded with the rule.
template <class Rule, auto& Op>
void differentiate() {
  Recorder<Rule, Op>::install();
}

}  // namespace taper
