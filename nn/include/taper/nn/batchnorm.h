#pragma once
#include <taper/nn/module.h>

namespace taper::nn {

struct BatchNormOptions {
  double eps = 1e-5;
  /// The share of a new batch in the running statistics; absent: they are the mean over all batches so far.
  std::optional<double> momentum = 0.1;
  bool affine = true;               ///< scale and shift by weight and bias, which are trained
  bool track_running_stats = true;  ///< without, the statistics of the batch are used in evaluation too
  DType dtype = float32;
  Device device = default_device();
};

/// What BatchNorm1d, BatchNorm2d and BatchNorm3d share; see batch_norm().
class BatchNorm : public Module {
 public:
  Tensor forward(const Tensor& x) override;
  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  std::int64_t num_features() const { return num_features_; }
  const BatchNormOptions& options() const { return options_; }
  /// Forgets the batches seen.
  void reset_running_stats();

  // Undefined where the options leave them out.
  Parameter weight;            ///< [num_features], starts as 1
  Parameter bias;              ///< [num_features], starts as 0
  Buffer running_mean;         ///< [num_features], starts as 0
  Buffer running_var;          ///< [num_features], unbiased, starts as 1
  Buffer num_batches_tracked;  ///< int64[]

 protected:
  BatchNorm(std::int64_t num_features, const BatchNormOptions& options);
  virtual void check_input(const Tensor& x) const = 0;

 private:
  std::int64_t num_features_;
  BatchNormOptions options_;
};

/// Brings each feature to mean 0 and deviation 1 over the batch: x [n, features] or [n, features, length].
/// Ioffe and Szegedy 2015, "Batch normalization".
class BatchNorm1d final : public BatchNorm {
 public:
  explicit BatchNorm1d(std::int64_t num_features, const BatchNormOptions& options = {})
      : BatchNorm(num_features, options) {}
  BatchNorm1d clone() const { return clone_as(*this, num_features(), options()); }

 protected:
  void check_input(const Tensor& x) const override;
};

/// Brings each channel to mean 0 and deviation 1 over the batch: x [n, channels, h, w].
class BatchNorm2d final : public BatchNorm {
 public:
  explicit BatchNorm2d(std::int64_t num_features, const BatchNormOptions& options = {})
      : BatchNorm(num_features, options) {}
  BatchNorm2d clone() const { return clone_as(*this, num_features(), options()); }

 protected:
  void check_input(const Tensor& x) const override;
};

/// Brings each channel to mean 0 and deviation 1 over the batch: x [n, channels, d, h, w].
class BatchNorm3d final : public BatchNorm {
 public:
  explicit BatchNorm3d(std::int64_t num_features, const BatchNormOptions& options = {})
      : BatchNorm(num_features, options) {}
  BatchNorm3d clone() const { return clone_as(*this, num_features(), options()); }

 protected:
  void check_input(const Tensor& x) const override;
};

}  // namespace taper::nn
