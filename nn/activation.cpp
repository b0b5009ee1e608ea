#include <taper/factory.h>
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

std::string ELU::extra_repr() const { return "alpha=" + name_of_number(alpha_); }

std::string CELU::extra_repr() const { return "alpha=" + name_of_number(alpha_); }

std::string LeakyReLU::extra_repr() const { return "negative_slope=" + name_of_number(negative_slope_); }

std::string Softplus::extra_repr() const {
  return "beta=" + name_of_number(beta_) + ", threshold=" + name_of_number(threshold_);
}

std::string Hardshrink::extra_repr() const { return "lambd=" + name_of_number(lambd_); }

std::string Softshrink::extra_repr() const { return "lambd=" + name_of_number(lambd_); }

std::string Hardtanh::extra_repr() const {
  return "min_val=" + name_of_number(min_val_) + ", max_val=" + name_of_number(max_val_);
}

std::string Threshold::extra_repr() const {
  return "threshold=" + name_of_number(threshold_) + ", value=" + name_of_number(value_);
}

std::string Softmax::extra_repr() const { return "dim=" + std::to_string(dim_); }

std::string LogSoftmax::extra_repr() const { return "dim=" + std::to_string(dim_); }

std::string GELU::extra_repr() const { return "approximate='" + approximate_ + "'"; }

PReLU::PReLU(std::int64_t num_parameters, const PReLUOptions& options)
    : num_parameters_(num_parameters), options_(options) {
  check<ValueError>(num_parameters > 0, "PReLU: num_parameters must be positive, got ", num_parameters);
  weight = Parameter(full({num_parameters}, options.init, options.dtype, options.device));
}

std::string PReLU::extra_repr() const { return "num_parameters=" + std::to_string(num_parameters_); }

}  // namespace taper::nn
