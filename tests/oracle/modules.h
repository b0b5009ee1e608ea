#pragma once
// Modules by the names the records use.
#include <taper/nn/sequential.h>

#include <functional>
#include <memory>

#include "value.h"

namespace oracle {

/// Appends the module. Throws Skip if the library lacks it, or one of its options.
void append_module(taper::nn::Sequential& model, const Args& ctor);
bool has_module(const std::string& name);

/// A loss takes two tensors, and so cannot be part of a model.
struct LossModule {
  std::shared_ptr<taper::nn::Module> module;
  std::function<Tensor(const Tensor& input, const Tensor& target)> call;
};
bool has_loss_module(const std::string& name);
LossModule make_loss_module(const Args& ctor);

/// A module that stands alone, because it takes other than one tensor or makes other than one.
struct SingleModule {
  std::shared_ptr<taper::nn::Module> module;
  std::function<Outputs(const Args&)> call;
  bool has_state = true;  ///< losses have their weights from the constructor
};
bool has_single_module(const std::string& name);
/// Throws Skip if the library lacks one of its options.
SingleModule make_single_module(const Args& ctor);

}  // namespace oracle
