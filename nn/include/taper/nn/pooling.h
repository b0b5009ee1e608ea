#pragma once
#include <taper/nn/module.h>
#include <taper/ops/pools.h>

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

/// The largest element under each window of sequences; see max_pool1d().
class MaxPool1d final : public Module {
 public:
  explicit MaxPool1d(std::int64_t kernel_size, const MaxPool1dOptions& options = {})
      : kernel_size_(kernel_size), options_(options) {}
  Tensor forward(const Tensor& x) override { return max_pool1d(x, kernel_size_, options_); }
  std::string extra_repr() const override;
  MaxPool1d clone() const { return clone_as(*this, kernel_size_, options_); }

 private:
  std::int64_t kernel_size_;
  MaxPool1dOptions options_;
};

/// The mean of the elements under each window of sequences; see avg_pool1d().
class AvgPool1d final : public Module {
 public:
  explicit AvgPool1d(std::int64_t kernel_size, const AvgPool1dOptions& options = {})
      : kernel_size_(kernel_size), options_(options) {}
  Tensor forward(const Tensor& x) override { return avg_pool1d(x, kernel_size_, options_); }
  std::string extra_repr() const override;
  AvgPool1d clone() const { return clone_as(*this, kernel_size_, options_); }

 private:
  std::int64_t kernel_size_;
  AvgPool1dOptions options_;
};

/// As many windows as the result has elements; see adaptive_avg_pool2d().
class AdaptiveAvgPool2d final : public Module {
 public:
  explicit AdaptiveAvgPool2d(OutputSizes output_size) : output_size_(std::move(output_size)) {}
  explicit AdaptiveAvgPool2d(std::int64_t both) : output_size_{both} {}
  Tensor forward(const Tensor& x) override { return adaptive_avg_pool2d(x, output_size_); }
  std::string extra_repr() const override;
  AdaptiveAvgPool2d clone() const { return clone_as(*this, output_size_); }

 private:
  OutputSizes output_size_;
};

/// As many windows as the result has elements; see adaptive_max_pool2d().
class AdaptiveMaxPool2d final : public Module {
 public:
  explicit AdaptiveMaxPool2d(OutputSizes output_size) : output_size_(std::move(output_size)) {}
  explicit AdaptiveMaxPool2d(std::int64_t both) : output_size_{both} {}
  Tensor forward(const Tensor& x) override { return adaptive_max_pool2d(x, output_size_); }
  std::string extra_repr() const override;
  AdaptiveMaxPool2d clone() const { return clone_as(*this, output_size_); }

 private:
  OutputSizes output_size_;
};

/// As many windows as the result has elements; see adaptive_avg_pool1d().
class AdaptiveAvgPool1d final : public Module {
 public:
  explicit AdaptiveAvgPool1d(std::int64_t output_size) : output_size_(output_size) {}
  Tensor forward(const Tensor& x) override { return adaptive_avg_pool1d(x, {output_size_}); }
  std::string extra_repr() const override;
  AdaptiveAvgPool1d clone() const { return clone_as(*this, output_size_); }

 private:
  std::int64_t output_size_;
};

/// As many windows as the result has elements; see adaptive_max_pool1d().
class AdaptiveMaxPool1d final : public Module {
 public:
  explicit AdaptiveMaxPool1d(std::int64_t output_size) : output_size_(output_size) {}
  Tensor forward(const Tensor& x) override { return adaptive_max_pool1d(x, {output_size_}); }
  std::string extra_repr() const override;
  AdaptiveMaxPool1d clone() const { return clone_as(*this, output_size_); }

 private:
  std::int64_t output_size_;
};

}  // namespace taper::nn
