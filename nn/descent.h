#pragma once
#include <taper/tensor.h>

namespace taper::optim {

/// The gradient along which a parameter goes down: grad, or -grad where the objective is to grow, and that of the
/// penalty weight_decay / 2 * |param|^2. It is grad itself if there is nothing to add: not to be written to.
inline Tensor descent(const Tensor& param, const Tensor& grad, bool maximize, double weight_decay) {
  if (weight_decay == 0) return maximize ? grad.neg() : grad;
  return maximize ? grad.neg().add_(param, weight_decay) : grad.add(param, weight_decay);
}

}  // namespace taper::optim
