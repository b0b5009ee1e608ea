#pragma once
// Modules by the names the records use.
#include <taper/nn/sequential.h>

#include "value.h"

namespace oracle {

/// Appends the module. Throws Skip if the library lacks it, or one of its options.
void append_module(taper::nn::Sequential& model, const Args& ctor);
bool has_module(const std::string& name);

/// Losses take two tensors, and so stand outside of models.
bool has_loss_module(const std::string& name);
Tensor call_loss_module(const Args& ctor, const Tensor& input, const Tensor& target);

}  // namespace oracle
