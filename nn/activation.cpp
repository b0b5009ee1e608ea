#include <taper/nn/activation.h>
#include <taper/ops/dropout.h>

#include "fan_init.h"

namespace taper::nn {

Tensor ReLU::forward(const Tensor& x) {
  if (!inplace_) return x.relu();
  Tensor y = x;
  return y.relu_();
}

Dropout::Dropout(double p, const DropoutOptions& options) : p_(p), inplace_(options.inplace) {
  check<ValueError>(p >= 0 && p <= 1, "Dropout: p must be a probability in [0, 1], got ", p);
}

Tensor Dropout::forward(const Tensor& x) {
  if (!inplace_) return dropout(x, p_, is_training());
  Tensor y = x;
  return dropout_(y, p_, is_training());
}

std::string Dropout::extra_repr() const { return "p=" + name_of_number(p_) + ", inplace=" + name_of_bool(inplace_); }

}  // namespace taper::nn
