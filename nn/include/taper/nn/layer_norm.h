#pragma once
#include <taper/nn/module.h>

namespace taper::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;  ///< scale and shift by weight and bias, which are trained
  DType dtype = float32;
  Device device = default_device();
};
/// Brings the last dims of each example, of sizes `normalized_shape`, to mean 0 and deviation 1; see layer_norm().
class LayerNorm final : public Module {
 public:
  explicit LayerNorm(std::int64_t normalized_shape, const LayerNormOptions& options = {});
  explicit LayerNorm(IntSpan normalized_shape, const LayerNormOptions& options = {});
  Tensor forward(const Tensor& x) override;
  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  LayerNorm clone() const { return clone_as(*this, IntSpan(normalized_shape_), options_); }

  // Undefined without affine.
  Parameter weight;  ///< normalized_shape, starts as 1
  Parameter bias;    ///< normalized_shape, starts as 0

 private:
  IntVec normalized_shape_;
  LayerNormOptions options_;
};

struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;
  DType dtype = float32;
  Device device = default_device();
};
/// Brings groups of channels of each example to mean 0 and deviation 1; see group_norm().
class GroupNorm final : public Module {
 public:
  /// Throws ValueError unless num_groups divides num_channels.
  GroupNorm(std::int64_t num_groups, std::int64_t num_channels, const GroupNormOptions& options = {});
  Tensor forward(const Tensor& x) override;
  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  GroupNorm clone() const { return clone_as(*this, num_groups_, num_channels_, options_); }

  Parameter weight;  ///< [num_channels], starts as 1
  Parameter bias;    ///< [num_channels], starts as 0

 private:
  std::int64_t num_groups_, num_channels_;
  GroupNormOptions options_;
};

struct InstanceNormOptions {
  double eps = 1e-5, momentum = 0.1;
  bool affine = false;
  bool track_running_stats = false;  ///< keeps averages and uses them in evaluation
  DType dtype = float32;
  Device device = default_device();
};
/// What InstanceNorm1d and InstanceNorm2d share; see instance_norm().
class InstanceNorm : public Module {
 public:
  Tensor forward(const Tensor& x) override;
  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  std::int64_t num_features() const { return num_features_; }
  const InstanceNormOptions& options() const { return options_; }

  // Undefined where the options leave them out.
  Parameter weight, bias;
  Buffer running_mean, running_var;
  Buffer num_batches_tracked;  ///< int64[], counts nothing: PyTorch's states have it

 protected:
  InstanceNorm(std::int64_t num_features, std::int64_t spatial, const InstanceNormOptions& options);

 private:
  std::int64_t num_features_, spatial_;
  InstanceNormOptions options_;
};
/// Brings each channel of each example to mean 0 and deviation 1: x [n, c, l] or [c, l].
class InstanceNorm1d final : public InstanceNorm {
 public:
  explicit InstanceNorm1d(std::int64_t num_features, const InstanceNormOptions& options = {})
      : InstanceNorm(num_features, 1, options) {}
  InstanceNorm1d clone() const { return clone_as(*this, num_features(), options()); }
};
/// The same for x [n, c, h, w] or [c, h, w].
class InstanceNorm2d final : public InstanceNorm {
 public:
  explicit InstanceNorm2d(std::int64_t num_features, const InstanceNormOptions& options = {})
      : InstanceNorm(num_features, 2, options) {}
  InstanceNorm2d clone() const { return clone_as(*this, num_features(), options()); }
};

}  // namespace taper::nn
