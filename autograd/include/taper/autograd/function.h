#pragma once
// Operations with a derivative of the user's own.
//
//   struct Scale : autograd::Function<Scale> {
//     static Tensor forward(autograd::Context& ctx, const Tensor& x, double factor) {
//       ctx.save_value("factor", factor);
//       return x * factor;
//     }
//     static TensorList backward(autograd::Context& ctx, TensorList grads) {
//       return {grads[0] * ctx.value<double>("factor"), Tensor()};  // one for each argument of forward
//     }
//   };
//   Tensor y = Scale::apply(x, 2.0);
#include <taper/grad_mode.h>
#include <taper/tensor.h>

#include <array>
#include <memory>
#include <optional>
#include <tuple>

namespace taper::autograd {

class FunctionNode;

namespace detail {
/// Whether a value of this type is tensors, or a container of them. Of members of other types nobody knows.
template <class T>
inline constexpr bool holds_tensors = std::is_same_v<T, Tensor>;
template <class T, class A>
inline constexpr bool holds_tensors<std::vector<T, A>> = holds_tensors<T>;
template <class T, std::size_t N>
inline constexpr bool holds_tensors<std::array<T, N>> = holds_tensors<T>;
template <class T>
inline constexpr bool holds_tensors<std::optional<T>> = holds_tensors<T>;
template <class A, class B>
inline constexpr bool holds_tensors<std::pair<A, B>> = holds_tensors<A> || holds_tensors<B>;
template <class... T>
inline constexpr bool holds_tensors<std::tuple<T...>> = (holds_tensors<T> || ...);
}  // namespace detail

/// What forward leaves for backward. Each call of apply() has its own.
///
/// Arguments of forward are counted from 0, without the context; a list of tensors counts as many as it holds.
class Context {
 public:
  // In forward:
  /// Keeps tensors for backward, which is told of writes to them by InplaceConflictError. Arguments and results keep
  /// their place in the graph, so that backward can be differentiated; what forward made besides is a constant.
  void save_for_backward(TensorList tensors) { to_save_ = std::move(tensors); }
  /// Keeps any other value under a name. One that holds results of forward keeps their graph, and so itself, alive.
  template <class T>
  void save_value(std::string name, T value) {
    static_assert(!detail::holds_tensors<T>,
                  "tensors are kept by save_for_backward(), which notices when they are overwritten");
    values_.push_back({std::move(name), &kTypeTag<T>, std::make_shared<const T>(std::move(value))});
  }
  /// Says that forward wrote to these arguments. They must be among its results, unless they do not require grad. What
  /// may not be written to, as a leaf that requires grad, is refused after forward has run, and so has been written.
  void mark_dirty(TensorList arguments) { dirty_ = std::move(arguments); }
  /// Says that these results have no gradient. Results of integer or bool dtype never have.
  void mark_non_differentiable(TensorList results) { non_differentiable_ = std::move(results); }
  /// Whether backward gets zeros for a result that nothing depended on (so it is unless told otherwise), or an
  /// undefined tensor.
  void set_materialize_grads(bool on) { materialize_ = on; }

  // In both:
  /// Whether the gradient of argument i will be used. False for arguments that are no tensors.
  bool needs_input_grad(std::size_t i) const;

  // In backward:
  /// The tensors of save_for_backward(). Throws InplaceConflictError if one was written to since, AutogradError if an
  /// earlier backward pass freed them.
  TensorList saved_tensors() const;
  /// The value of save_value(). Throws ValueError if there is none of this name and type.
  template <class T>
  const T& value(std::string_view name) const {
    return *static_cast<const T*>(find(name, &kTypeTag<T>));
  }

 private:
  friend class FunctionNode;
  template <class T>
  static constexpr char kTypeTag = 0;  // its address stands for the type
  struct Value {
    std::string name;
    const char* type;
    std::shared_ptr<const void> value;
  };
  explicit Context(const FunctionNode* node) : node_(node) {}
  const void* find(std::string_view name, const char* type) const;

  const FunctionNode* node_;
  TensorList to_save_, dirty_, non_differentiable_;
  std::vector<Value> values_;
  bool materialize_ = true;
};

namespace detail {

struct FunctionTraits {
  const char* name;
  TensorList (*backward)(Context&, TensorList);
  bool once_differentiable;
};
/// The name of a type in the signature of a function that is a template of it; lives on.
const char* name_in(const char* signature);

/// One call of apply(): what does not depend on the types.
class FunctionCall {
 public:
  explicit FunctionCall(const FunctionTraits& traits);
  ~FunctionCall();
  FunctionCall(const FunctionCall&) = delete;
  FunctionCall& operator=(const FunctionCall&) = delete;

  void add(const Tensor& t);
  void add(const std::optional<Tensor>& t) { add(t.value_or(Tensor())); }
  void add(const TensorList& ts) {
    for (const Tensor& t : ts) add(t);
  }
  template <std::size_t N>
  void add(const std::array<Tensor, N>& ts) {
    for (const Tensor& t : ts) add(t);
  }
  template <class T>
  void add(const T&) {
    add_plain();
  }
  /// After the arguments, before forward.
  Context& context();
  /// Puts what forward returned into the graph.
  TensorList finish(TensorList results);

  Tensor finish(Tensor result) { return finish(TensorList{std::move(result)})[0]; }
  template <std::size_t N>
  std::array<Tensor, N> finish(const std::array<Tensor, N>& results) {
    const TensorList in = finish(TensorList(results.begin(), results.end()));
    std::array<Tensor, N> out;
    for (std::size_t i = 0; i < N; ++i) out[i] = in[i];
    return out;
  }

 private:
  void add_plain();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detail

/// Base of a user's operation Op, which has
///   static R forward(Context& ctx, ...): any arguments; R is Tensor, TensorList or std::array<Tensor, N>. It runs with
///     recording off. Tensors among the arguments may be lists, optional or undefined.
///   static TensorList backward(Context& ctx, TensorList grads): from the gradients of the results those of the
///     arguments, one each and in order, undefined where there is none, as for arguments that are no tensors. Made of
///     differentiable operations it can be differentiated again.
///   static constexpr bool once_differentiable = true, if backward is not made of those: then it runs with recording
///     off, and differentiating its result is an error.
///   static constexpr const char* name, if messages shall call it otherwise than its type.
///
/// An argument that forward returns, written to and marked, is the same tensor with a new history; one returned as it
/// is, is a view of itself; such a view, and any other view that forward returns, may not be written in place.
/// apply() throws AutogradError if forward wrote to an argument that it did not mark.
template <class Op>
struct Function {
  template <class... Args>
  static auto apply(Args&&... args) {
    detail::FunctionCall call(traits());
    (call.add(args), ...);
    Context& ctx = call.context();
    const auto forward = [&] {
      const NoGradGuard no_grad;
      return Op::forward(ctx, std::forward<Args>(args)...);
    };
    return call.finish(forward());
  }

 private:
  static const detail::FunctionTraits& traits() {
    static const detail::FunctionTraits t{
        shown_name(), [](Context& c, TensorList g) { return Op::backward(c, std::move(g)); }, is_once_differentiable()};
    return t;
  }
  static const char* shown_name() {
    if constexpr (requires { Op::name; })
      return Op::name;
    else
      return detail::name_in(__PRETTY_FUNCTION__);
  }
  static constexpr bool is_once_differentiable() {
    if constexpr (requires { Op::once_differentiable; })
      return Op::once_differentiable;
    else
      return false;
  }
};

}  // namespace taper::autograd
