#pragma once
#include <taper/tensor.h>

namespace taper::nn {

/// PyTorch's start values of linear and convolutional layers: weight [out, in, ...] and, if defined, bias uniform in
/// [-1 / sqrt(fan_in), 1 / sqrt(fan_in)].
void init_by_fan_in(Tensor weight, Tensor bias);

/// "True" or "False", as PyTorch prints options.
const char* name_of_bool(bool on);
/// 1e-05 as "1e-05", 0.1 as "0.1".
std::string name_of_number(double v);

}  // namespace taper::nn
