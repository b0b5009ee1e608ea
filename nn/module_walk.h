#pragma once
#include <taper/nn/module.h>

#include <string>
#include <vector>

namespace taper::nn {

/// A module and everything below it, flattened in PyTorch's order.
class ModuleWalk {
 public:
  enum class Kind : unsigned char { parameter, buffer, other_buffer };  // the last are not saved
  struct TensorEntry {
    std::string path;
    Tensor* tensor;  // may be undefined
    Kind kind;
  };
  struct ModuleEntry {
    std::string path;
    Module* module;
    detail::AssignClone assign_clone = nullptr;
  };
  /// What one module lists, by name.
  struct Members {
    std::vector<TensorEntry> tensors;
    std::vector<ModuleEntry> children;
    std::vector<Tensor*> skipped_tensors;
    std::vector<ModuleEntry> skipped_modules;
  };
  explicit ModuleWalk(const Module& root);

  std::vector<TensorEntry> tensors;
  std::vector<ModuleEntry> modules;  // the root first, by the name ""
  static Members members(const Module& m);
  static void set_training(Module& m, bool on) { m.training_ = on; }
  /// As AssignClone, but for the hooks that `to` has: it keeps them.
  static bool assign_clone(const ModuleEntry& from, Module& to);

 private:
  void visit(Module& m, const std::string& path);
  std::vector<const Module*> above_;  // the modules that the walk is in
};

}  // namespace taper::nn
