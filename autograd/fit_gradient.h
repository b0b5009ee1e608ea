#pragma once
#include <taper/tensor.h>

namespace taper {

/// As fit_gradient, for one that does not fit as it is.
Tensor refit_gradient(Tensor g, const TensorSpec& want, const char* from, std::size_t i);

/// The gradient that the backward of `from` returned for argument `i`, brought to what belongs to a tensor of `want`:
/// cast back to its dtype, and summed to its shape if that was broadcast. Throws AutogradError on any other difference.
inline Tensor fit_gradient(Tensor g, const TensorSpec& want, const char* from, std::size_t i) {
  if (g.sizes() == want.sizes() && g.dtype() == want.dtype && g.device() == want.device) [[likely]]
    return g;
  return refit_gradient(std::move(g), want, from, i);
}

}  // namespace taper
