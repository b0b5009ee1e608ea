#include <taper/factory.h>
#include <taper/nn/layer_norm.h>
#include <taper/ops/norm_samples.h>

#include "fan_init.h"

namespace taper::nn {
namespace {

void make_affine(Parameter& weight, Parameter& bias, IntSpan sizes, DType dtype, Device device) {
  weight = Parameter(ones(sizes, dtype, device));
  bias = Parameter(zeros(sizes, dtype, device));
}
std::string name_of(IntSpan sizes) {
  std::string s = "(";
  for (std::size_t i = 0; i < sizes.size(); ++i) s += (i ? ", " : "") + std::to_string(sizes[i]);
  return s + (sizes.size() == 1 ? ",)" : ")");
}

}  // namespace

LayerNorm::LayerNorm(std::int64_t normalized_shape, const LayerNormOptions& options)
    : LayerNorm(IntSpan{normalized_shape}, options) {}

LayerNorm::LayerNorm(IntSpan normalized_shape, const LayerNormOptions& options)
    : normalized_shape_(normalized_shape.vec()), options_(options) {
  if (options.elementwise_affine) make_affine(weight, bias, normalized_shape, options.dtype, options.device);
}
Tensor LayerNorm::forward(const Tensor& x) { return layer_norm(x, normalized_shape_, weight, bias, options_.eps); }
void LayerNorm::members(MemberVisitor& v) {
  v("weight", weight);
  v("bias", bias);
}
std::string LayerNorm::extra_repr() const {
  return name_of(normalized_shape_) + ", eps=" + name_of_number(options_.eps) +
         ", elementwise_affine=" + name_of_bool(options_.elementwise_affine);
}

GroupNorm::GroupNorm(std::int64_t num_groups, std::int64_t num_channels, const GroupNormOptions& options)
    : num_groups_(num_groups), num_channels_(num_channels), options_(options) {
  check<ValueError>(num_groups > 0 && num_channels > 0 && num_channels % num_groups == 0,
                    "GroupNorm: num_groups must divide num_channels, got ", num_groups, " for ", num_channels);
  if (options.affine) make_affine(weight, bias, {num_channels}, options.dtype, options.device);
}
Tensor GroupNorm::forward(const Tensor& x) { return group_norm(x, num_groups_, weight, bias, options_.eps); }
void GroupNorm::members(MemberVisitor& v) {
  v("weight", weight);
  v("bias", bias);
}
std::string GroupNorm::extra_repr() const {
  return std::to_string(num_groups_) + ", " + std::to_string(num_channels_) + ", eps=" + name_of_number(options_.eps) +
         ", affine=" + name_of_bool(options_.affine);
}

InstanceNorm::InstanceNorm(std::int64_t num_features, std::int64_t spatial, const InstanceNormOptions& options)
    : num_features_(num_features), spatial_(spatial), options_(options) {
  check<ValueError>(num_features > 0, "InstanceNorm: num_features must be positive, got ", num_features);
  if (options.affine) make_affine(weight, bias, {num_features}, options.dtype, options.device);
  if (options.track_running_stats) {
    running_mean = zeros({num_features}, options.dtype, options.device);
    running_var = ones({num_features}, options.dtype, options.device);
    num_batches_tracked = zeros({}, int64, options.device);
  }
}
Tensor InstanceNorm::forward(const Tensor& x) {
  const std::int64_t batched = spatial_ + 2;
  check<ShapeError>(x.dim() == batched || x.dim() == batched - 1, type_name(), ": x must have ", batched - 1, " or ",
                    batched, " dims, got ", x.spec());
  check<ShapeError>(x.size(-1 - spatial_) == num_features_, type_name(), ": x must have ", num_features_,
                    " channels, got ", x.spec());
  const bool by_input = is_training() || !options_.track_running_stats;
  const Tensor y = instance_norm(x.dim() == batched ? x : x.unsqueeze(0), running_mean, running_var, weight, bias,
                                 by_input, options_.momentum, options_.eps);
  return x.dim() == batched ? y : y.squeeze(0);
}
void InstanceNorm::members(MemberVisitor& v) {
  v("weight", weight);
  v("bias", bias);
  v("running_mean", running_mean);
  v("running_var", running_var);
  v("num_batches_tracked", num_batches_tracked);
}
std::string InstanceNorm::extra_repr() const {
  return std::to_string(num_features_) + ", eps=" + name_of_number(options_.eps) +
         ", momentum=" + name_of_number(options_.momentum) + ", affine=" + name_of_bool(options_.affine) +
         ", track_running_stats=" + name_of_bool(options_.track_running_stats);
}

}  // namespace taper::nn
