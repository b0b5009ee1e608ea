#pragma once
#include <taper/tensor.h>

namespace taper {

/// The gradient that the backward of `from` returned for argument `i`, brought to what belongs to a tensor of `want`:
/// cast back to its dtype, and summed to its shape if that was broadcast. Throws AutogradError on any other difference.
Tensor fit_gradient(Tensor g, const TensorSpec& want, const char* from, std::size_t i);

}  // namespace taper
