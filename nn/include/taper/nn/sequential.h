#pragma once
#include <taper/nn/module.h>

namespace taper::nn {

/// Modules that feed each other. It owns them, and may itself be one of them:
///
///   nn::Sequential net{nn::Flatten(), nn::Linear(784, 128), nn::ReLU(), nn::Linear(128, 10)};
///
/// The children are called "0", "1", ... Every module must have the one-tensor forward().
class Sequential : public Module {
 public:
  Sequential() = default;
  template <class... M>
  requires(sizeof...(M) > 0 && (std::is_base_of_v<Module, M> && ...) &&
           !(sizeof...(M) == 1 && (std::is_same_v<M, Sequential> && ...))) explicit Sequential(M... modules) {
    (push_back(std::move(modules)), ...);
  }

  /// Appends a module and returns it where it now is.
  template <class M>
  requires std::is_base_of_v<Module, M> M& push_back(M module) {
    auto owned = std::make_unique<M>(std::move(module));
    M& place = *owned;
    children_.push_back({std::move(owned), copy_child<M>, detail::assign_clone_of<M>()});
    return place;
  }

  std::size_t size() const { return children_.size(); }
  bool empty() const { return children_.empty(); }
  /// Throws IndexError.
  Module& operator[](std::size_t i) const;
  /// The child as what it is. Throws ValueError if it is something else.
  template <class M>
  M& get(std::size_t i) const {
    auto* module = dynamic_cast<M*>(&(*this)[i]);
    if (!module) raise_other_type(i);
    return *module;
  }

  Tensor forward(const Tensor& x) override;
  void members(MemberVisitor& v) override;
  /// Throws ValueError if a child cannot be cloned.
  Sequential clone() const;

 private:
  struct Child {
    std::unique_ptr<Module> module;
    std::unique_ptr<Module> (*copy)(const Module&);
    detail::AssignClone assign;
  };
  template <class M>
  static std::unique_ptr<Module> copy_child(const Module& m) {
    if constexpr (detail::is_cloneable<M>)
      return std::make_unique<M>(nn::clone(static_cast<const M&>(m)));
    else
      raise<ValueError>("Sequential.clone: ", m.type_name(), " has neither a default constructor nor a method clone()");
  }
  [[noreturn]] void raise_other_type(std::size_t i) const;

  std::vector<Child> children_;
};

}  // namespace taper::nn
