#pragma once
#include <taper/nn/parameter.h>
#include <taper/serialize.h>
#include <taper/tensor.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace taper {
class OwnedTensors;
}

namespace taper::nn {

class Module;
class ModuleWalk;
class Sequential;

namespace detail {

/// Whether the class says itself how it is cloned.
template <class M>
inline constexpr bool has_clone = requires(const M& m) {
  requires std::is_same_v<decltype(m.clone()), M>;
};

/// Makes `to` a clone of `from`, in place. False, and nothing done, if one of them is of another class.
using AssignClone = bool (*)(const Module& from, Module& to);
/// Null for a class that does not say how it is cloned.
template <class M>
AssignClone assign_clone_of();

}  // namespace detail

/// Collects what a module lists in members().
class MemberVisitor {
 public:
  void operator()(std::string_view name, Parameter& p) { parameter(name, p); }
  void operator()(std::string_view name, Buffer& b) { buffer(name, b); }
  /// A module that is a member, or that the module owns otherwise.
  template <class M>
  requires std::is_base_of_v<Module, M>
  void operator()(std::string_view name, M& child) { module(name, child, detail::assign_clone_of<M>()); }
  void operator()(std::string_view name, Module& child) { module(name, child, nullptr); }
  /// A trained tensor that is not kept in a Parameter.
  void parameter(std::string_view name, Tensor& t);
  /// A tensor that is not kept in a Buffer. One that is not persistent is converted with the module but not saved.
  void buffer(std::string_view name, Tensor& t, bool persistent = true);
  /// Says that a member is left out on purpose: it is neither trained, saved nor converted with the module. Clones have
  /// it all the same.
  void skip(Tensor& t) { skipped_tensors_.push_back({{}, &t, false}); }
  template <class M>
  requires std::is_base_of_v<Module, M>
  void skip(M& child) { skip(child, detail::assign_clone_of<M>()); }
  void skip(Module& child) { skip(child, nullptr); }

 private:
  friend class Module;
  friend class ModuleWalk;
  friend class Sequential;
  struct TensorMember {
    std::string name;
    Tensor* tensor;
    bool persistent;
  };
  struct ChildMember {
    std::string name;
    Module* module;
    detail::AssignClone assign_clone;
  };
  void module(std::string_view name, Module& child, detail::AssignClone assign_clone);
  void skip(Module& child, detail::AssignClone assign_clone);

  std::vector<TensorMember> parameters_, buffers_, skipped_tensors_;
  std::vector<ChildMember> children_, skipped_modules_;
};

/// Takes a forward hook off again. Dropping the handle leaves the hook in place.
class HookHandle {
 public:
  HookHandle() = default;
  void remove();

 private:
  friend class Module;
  struct Slot;
  explicit HookHandle(std::weak_ptr<Slot> slot) : slot_(std::move(slot)) {}
  std::weak_ptr<Slot> slot_;
};

/// What load_state_dict() found that did not match.
struct LoadResult {
  std::vector<std::string> missing_keys;     ///< the module has it, the state does not
  std::vector<std::string> unexpected_keys;  ///< the state has it, the module does not
};

/// A layer or a model.
///
///   struct Mlp final : nn::Module {
///     nn::Linear fc1{784, 128}, fc2{128, 10};
///     Tensor forward(const Tensor& x) override { return fc2(relu(fc1(x))); }
///     void members(nn::MemberVisitor& v) override { v("fc1", fc1), v("fc2", fc2); }
///   };
///
/// Parameters, buffers and other modules are plain members, listed once, in members(); names, saving, conversion and
/// optimizers follow from that list. A member that it leaves out is found at the first use of the list: everything that
/// lies within the module itself is checked, so only what a module owns elsewhere (elements of a vector) can be
/// forgotten.
///
/// Modules can be moved, not copied: nn::clone() makes a copy that shares nothing.
class Module {
 public:
  Module();
  Module(Module&&);
  Module& operator=(Module&&) noexcept;
  virtual ~Module();

  /// The module's function, for modules that make one tensor from one: what Sequential calls. Others define a forward()
  /// with the arguments they need.
  virtual Tensor forward(const Tensor& x);
  /// Calls forward(), and the hooks around it.
  Tensor operator()(const Tensor& x) { return hooks_ ? call_with_hooks(x) : forward(x); }

  /// Lists parameters, buffers and child modules.
  virtual void members(MemberVisitor&) {}

  // Names are paths, "fc1.weight", in PyTorch's order: a module's own tensors before those of its children.
  /// Trained tensors; one that is reached by several names is listed by the first.
  std::vector<std::pair<std::string, Tensor>> named_parameters() const;
  TensorList parameters() const;
  std::vector<std::pair<std::string, Tensor>> named_buffers() const;
  TensorList buffers() const;
  /// This module, by the name "", and all modules below it.
  std::vector<std::pair<std::string, Module*>> named_modules();
  std::vector<std::pair<std::string, Module*>> named_children();

  /// Parameters and persistent buffers under all their names, without history. They share the module's memory.
  TensorDict state_dict() const;
  /// Copies values into the module's tensors, which stay the same objects, on their devices, with their dtypes. Names
  /// must match if strict; those that do not are returned. Throws ValueError, ShapeError or DTypeError, naming
  /// everything that does not fit, and has then changed nothing. With `assign` the tensors take over the memory and
  /// dtype of the state instead, which they then share.
  LoadResult load_state_dict(const TensorDict& state, bool strict = true, bool assign = false);
  /// Throws as load_state_dict() would, and changes nothing.
  LoadResult check_state_dict(const TensorDict& state, bool strict = true) const;

  /// Sets the mode of this module and all below: Dropout and BatchNorm differ between training and use.
  Module& train(bool on = true);
  Module& eval() { return train(false); }
  bool is_training() const { return training_; }

  void zero_grad(bool set_to_none = true);
  /// Whether the parameters are trained.
  Module& requires_grad_(bool on = true);
  /// Converts floating parameters, buffers and gradients; the tensors stay the same objects, so optimizers and ties
  /// keep. Tensors that share memory, as b = w.detach(), have memory of their own afterwards. If it throws, nothing has
  /// changed.
  Module& to(DType dtype);
  Module& to(Device device);
  Module& to(Device device, DType dtype);
  /// Puts what has four or five dims, as the weights of convolutions, into this order in memory. In a module of
  /// convolutions, pools and norms, an input in channels_last order stays so up to the output.
  Module& to(MemoryFormat format);

  /// Parameters and buffers by device, a line for each: what to look at when an operator says that its operands are on
  /// different ones.
  std::string device_report() const;

  /// Calls f(*this, input) before forward(); what it returns, unless undefined, becomes the input.
  template <class F>
  HookHandle register_forward_pre_hook(F f) {
    struct Pre final : Hook {
      explicit Pre(F g) : function(std::move(g)) {}
      Tensor before(Module& m, const Tensor& x) override { return function(m, x); }
      F function;
    };
    return add_hook(std::make_unique<Pre>(std::move(f)));
  }
  /// Calls f(*this, input, output) after forward(); what it returns, unless undefined, becomes the output.
  template <class F>
  HookHandle register_forward_hook(F f) {
    struct Post final : Hook {
      explicit Post(F g) : function(std::move(g)) {}
      Tensor after(Module& m, const Tensor& x, const Tensor& y) override { return function(m, x, y); }
      F function;
    };
    return add_hook(std::make_unique<Post>(std::move(f)));
  }

  /// The name of the class, "Linear".
  std::string type_name() const;
  /// What is printed between the parentheses: the options of a layer.
  virtual std::string extra_repr() const { return {}; }

  // Objects live where they usually do; that delete goes through here is how the check of members() learns how large an
  // object is, whatever its class. See Note [How large an object is].
  static void operator delete(Module* m, std::destroying_delete_t, std::size_t bytes);
  static void operator delete(Module* m, std::destroying_delete_t, std::size_t bytes, std::align_val_t align);
  static void operator delete(void* memory);
  static void operator delete(void* memory, std::align_val_t align);
  static void operator delete(void*, void*) noexcept {}
  static void* operator new(std::size_t bytes);
  static void* operator new(std::size_t bytes, std::align_val_t align);
  static void* operator new(std::size_t, void* place) noexcept { return place; }

 private:
  friend class HookHandle;
  friend class ModuleWalk;
  struct Hook {
    virtual ~Hook() = default;
    virtual Tensor before(Module&, const Tensor&) { return {}; }
    virtual Tensor after(Module&, const Tensor&, const Tensor&) { return {}; }
  };
  struct Hooks;

  /// What members() lists, after the check that it is all there is.
  MemberVisitor listed() const;
  Tensor call_with_hooks(const Tensor& x);
  HookHandle add_hook(std::unique_ptr<Hook> hook);

  std::unique_ptr<Hooks> hooks_;
  bool training_ = true;
};

/// Parameters and buffers by their names, for who_holds() and the like: <taper/autograd/memory_view.h>.
void list_owned(const Module& m, OwnedTensors& out);

/// The module with its children, one a line, as PyTorch prints it.
std::string to_string(const Module& m);
std::ostream& operator<<(std::ostream& os, const Module& m);

namespace detail {

/// While it lives, layers made by this thread leave their parameters uninitialized and draw no random numbers.
class SkipInit {
 public:
  SkipInit() noexcept : before_(active_) { active_ = true; }
  ~SkipInit() { active_ = before_; }
  SkipInit(const SkipInit&) = delete;
  SkipInit& operator=(const SkipInit&) = delete;
  static bool is_active() noexcept { return active_; }

 private:
  bool before_;
  static inline constinit thread_local bool active_ = false;
};

/// Gives `to` copies of all tensors of `from`, its modules' options and its modes; where the children are clones
/// already, only what they share is left to do. Throws ValueError if the two do not have the same members, or if
/// options differ that extra_repr() shows and no clone() takes along.
void copy_members(const Module& from, Module& to, bool children_are_clones = false);

template <class M>
AssignClone assign_clone_of() {
  if constexpr (has_clone<M> && std::is_move_assignable_v<M>)
    return [](const Module& from, Module& to) {
      if (typeid(from) != typeid(M) || typeid(to) != typeid(M)) return false;
      dynamic_cast<M&>(to) = dynamic_cast<const M&>(from).clone();
      return true;
    };
  else
    return nullptr;
}

template <class M>
inline constexpr bool is_cloneable = has_clone<M> || std::is_default_constructible_v<M>;

}  // namespace detail

/// A copy of m, made anew from the arguments of its constructor, for the clone() of a class that has data beside its
/// members: `Block clone() const { return nn::clone_as(*this, channels, rate); }`.
template <class M, class... A>
M clone_as(const M& m, const A&... arguments) {
  const detail::SkipInit skip;
  M copy(arguments...);
  detail::copy_members(m, copy);
  return copy;
}

/// A copy that shares nothing with m: parameters and buffers with their values and ties, modules with their options and
/// training modes. Gradients and hooks are not copied.
///
/// Calls `M clone() const` if the class has it, as all layers have. Otherwise the class must have a default
/// constructor, which has to make the same members as m has; modules among them are cloned in turn. What m itself holds
/// beside its members, a number say, is then as that constructor leaves it: a class with such data writes a clone() by
/// clone_as(). Throws ValueError if the members differ, or if extra_repr() shows that an option would.
template <class M>
M clone(const M& m) {
  static_assert(std::is_base_of_v<Module, M>, "clone() copies modules; tensors have a method clone()");
  static_assert(detail::is_cloneable<M>, "give the class a default constructor or a method `M clone() const`");
  if constexpr (detail::has_clone<M>)
    return m.clone();
  else
    return clone_as(m);
}

}  // namespace taper::nn
