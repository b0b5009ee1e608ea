#pragma once
#include <taper/nn/module.h>

namespace taper::nn {

struct LinearOptions {
  bool bias = true;
  DType dtype = float32;
  Device device = default_device();
};

/// x [..., in_features] -> x weight^T + bias [..., out_features].
/// Weight and bias start uniform in [-1 / sqrt(in_features), 1 / sqrt(in_features)].
class Linear final : public Module {
 public:
  Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options = {});
  Tensor forward(const Tensor& x) override;
  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  Linear clone() const;

  std::int64_t in_features() const { return in_features_; }
  std::int64_t out_features() const { return out_features_; }
  /// Draws new start values.
  void reset_parameters();

  Parameter weight;  ///< [out_features, in_features]
  Parameter bias;    ///< [out_features]; undefined without bias

 private:
  std::int64_t in_features_, out_features_;
  LinearOptions options_;
};

/// x1 [..., in1_features], x2 [..., in2_features] -> [..., out_features]: y_k = x1 weight_k x2 + bias_k; see
/// bilinear(). Weight and bias start uniform in [-1 / sqrt(in1_features), 1 / sqrt(in1_features)].
class Bilinear final : public Module {
 public:
  /// Throws ValueError for sizes that are not positive.
  Bilinear(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features,
           const LinearOptions& options = {});
  using Module::forward;
  Tensor forward(const Tensor& x1, const Tensor& x2);
  Tensor operator()(const Tensor& x1, const Tensor& x2) { return forward(x1, x2); }
  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  Bilinear clone() const { return clone_as(*this, in1_features_, in2_features_, out_features_, options_); }

  /// Draws new start values.
  void reset_parameters();

  Parameter weight;  ///< [out_features, in1_features, in2_features]
  Parameter bias;    ///< [out_features]; undefined without bias

 private:
  std::int64_t in1_features_, in2_features_, out_features_;
  LinearOptions options_;
};

/// Makes one dimension of several: by default all but the first.
class Flatten final : public Module {
 public:
  explicit Flatten(std::int64_t start_dim = 1, std::int64_t end_dim = -1) : start_(start_dim), end_(end_dim) {}
  Tensor forward(const Tensor& x) override { return x.flatten(start_, end_); }
  std::string extra_repr() const override;
  Flatten clone() const { return clone_as(*this, start_, end_); }

 private:
  std::int64_t start_, end_;
};

}  // namespace taper::nn
