#include <taper/factory.h>
#include <taper/nn/init.h>
#include <taper/nn/linear.h>
#include <taper/ops/matmul.h>

#include <cmath>
#include <cstdio>

#include "fan_init.h"

namespace taper::nn {

void init_by_fan_in(Tensor weight, Tensor bias) {
  // As PyTorch writes it: with a = sqrt(5) the bound is sqrt(6 / (6 fan)) = 1 / sqrt(fan).
  init::kaiming_uniform_(weight, {.a = std::sqrt(5.)});
  const std::int64_t fan = init::calculate_fan_in_and_fan_out(weight).in;
  if (!bias.defined() || fan == 0) return;
  const double bound = 1 / std::sqrt(double(fan));
  init::uniform_(bias, -bound, bound);
}

const char* name_of_bool(bool on) { return on ? "True" : "False"; }

std::string name_of_number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", v);
  return text;
}

Linear::Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options)
    : in_features_(in_features), out_features_(out_features), options_(options) {
  check<ValueError>(in_features >= 0 && out_features >= 0, "Linear: in_features and out_features must not be ",
                    "negative, got ", in_features, " and ", out_features);
  weight = Parameter(empty({out_features, in_features}, options.dtype, options.device));
  if (options.bias) bias = Parameter(empty({out_features}, options.dtype, options.device));
  reset_parameters();
}

void Linear::reset_parameters() {
  init_by_fan_in(weight, bias);
  if (in_features_ == 0 && bias.defined()) init::zeros_(bias);
}

Tensor Linear::forward(const Tensor& x) { return linear(x, weight, bias); }

void Linear::members(MemberVisitor& v) {
  v("weight", weight);
  v("bias", bias);
}

std::string Linear::extra_repr() const {
  return "in_features=" + std::to_string(in_features_) + ", out_features=" + std::to_string(out_features_) +
         ", bias=" + name_of_bool(bias.defined());
}

Linear Linear::clone() const { return clone_as(*this, in_features_, out_features_, options_); }

Bilinear::Bilinear(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features,
                   const LinearOptions& options)
    : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features), options_(options) {
  check<ValueError>(in1_features > 0 && in2_features > 0 && out_features > 0, "Bilinear: in1_features, in2_features ",
                    "and out_features must be positive, got ", in1_features, ", ", in2_features, " and ", out_features);
  weight = Parameter(empty({out_features, in1_features, in2_features}, options.dtype, options.device));
  if (options.bias) bias = Parameter(empty({out_features}, options.dtype, options.device));
  reset_parameters();
}

void Bilinear::reset_parameters() {
  const double bound = 1 / std::sqrt(double(in1_features_));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

Tensor Bilinear::forward(const Tensor& x1, const Tensor& x2) { return bilinear(x1, x2, weight, bias); }

void Bilinear::members(MemberVisitor& v) {
  v("weight", weight);
  v("bias", bias);
}

std::string Bilinear::extra_repr() const {
  return "in1_features=" + std::to_string(in1_features_) + ", in2_features=" + std::to_string(in2_features_) +
         ", out_features=" + std::to_string(out_features_) + ", bias=" + name_of_bool(bias.defined());
}

std::string Flatten::extra_repr() const {
  return "start_dim=" + std::to_string(start_) + ", end_dim=" + std::to_string(end_);
}

}  // namespace taper::nn
