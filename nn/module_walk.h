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
  };
  explicit ModuleWalk(const Module& root);

  std::vector<TensorEntry> tensors;
  std::vector<ModuleEntry> modules;  // the root first, by the name ""
  static std::vector<ModuleEntry> children(const Module& m);
  static void set_training(Module& m, bool on) { m.training_ = on; }

 private:
  void visit(Module& m, const std::string& path);
  std::vector<const Module*> above_;  // the modules that the walk is in
};

}  // namespace taper::nn
