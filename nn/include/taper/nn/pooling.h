#pragma once
#include <taper/nn/module.h>
#include <taper/ops/pool.h>

namespace taper::nn {

/// The largest element under each window; see max_pool2d().
class MaxPool2d final : public Module {
 public:
  explicit MaxPool2d(IntPair kernel_size, const MaxPool2dOptions& options = {})
      : kernel_size_(kernel_size), options_(options) {}
  Tensor forward(const Tensor& x) override { return max_pool2d(x, kernel_size_, options_); }
  std::string extra_repr() const override;
  MaxPool2d clone() const { return clone_as(*this, kernel_size_, options_); }

 private:
  IntPair kernel_size_;
  MaxPool2dOptions options_;
};

/// The mean of the elements under each window; see avg_pool2d().
class AvgPool2d final : public Module {
 public:
  explicit AvgPool2d(IntPair kernel_size, const AvgPool2dOptions& options = {})
      : kernel_size_(kernel_size), options_(options) {}
  Tensor forward(const Tensor& x) override { return avg_pool2d(x, kernel_size_, options_); }
  std::string extra_repr() const override;
  AvgPool2d clone() const { return clone_as(*this, kernel_size_, options_); }

 private:
  IntPair kernel_size_;
  AvgPool2dOptions options_;
};

}  // namespace taper::nn
