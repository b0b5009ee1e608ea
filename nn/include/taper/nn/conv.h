#pragma once
#include <taper/nn/module.h>
#include <taper/ops/convs.h>

namespace taper::nn {

/// What a convolution sees beyond the edges: zeros, or what pad() makes of the entries there.
enum class PaddingMode : std::uint8_t { zeros, reflect, replicate, circular };

struct Conv2dOptions {
  IntPair stride = 1;
  Conv2dPadding padding = 0;  ///< numbers, "same" or "valid"
  IntPair dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  PaddingMode padding_mode = PaddingMode::zeros;
  DType dtype = float32;
  Device device = default_device();
};

/// Cross-correlation of images [n, in_channels, h, w] or one image [in_channels, h, w]; see conv2d().
/// Weight and bias start uniform in [-1 / sqrt(fan), 1 / sqrt(fan)], fan = in_channels / groups * kernel elements.
class Conv2d final : public Module {
 public:
  /// Throws ValueError if groups does not divide the channels, or if an option is out of range.
  Conv2d(std::int64_t in_channels, std::int64_t out_channels, IntPair kernel_size, const Conv2dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  Conv2d clone() const;

  const Conv2dOptions& options() const { return options_; }
  /// Draws new start values.
  void reset_parameters();

  Parameter weight;  ///< [out_channels, in_channels / groups, kernel height, kernel width]
  Parameter bias;    ///< [out_channels]; undefined without bias

 private:
  std::int64_t in_channels_, out_channels_;
  IntPair kernel_size_;
  Conv2dOptions options_;
};

struct Conv1dOptions {
  std::int64_t stride = 1;
  Conv1dPadding padding = 0;
  std::int64_t dilation = 1, groups = 1;
  bool bias = true;
  PaddingMode padding_mode = PaddingMode::zeros;
  DType dtype = float32;
  Device device = default_device();
};
/// Cross-correlation of sequences [n, in_channels, l] or one [in_channels, l]; see conv1d(). Starts as Conv2d does.
class Conv1d final : public Module {
 public:
  /// Throws ValueError if groups does not divide the channels, or if an option is out of range.
  Conv1d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t kernel_size,
         const Conv1dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  Conv1d clone() const { return clone_as(*this, in_channels_, out_channels_, kernel_size_, options_); }

  Parameter weight;  ///< [out_channels, in_channels / groups, kernel_size]
  Parameter bias;    ///< [out_channels]; undefined without bias

 private:
  std::int64_t in_channels_, out_channels_, kernel_size_;
  Conv1dOptions options_;
};

struct ConvTranspose2dOptions {
  IntPair stride = 1, padding = 0, output_padding = 0, dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  DType dtype = float32;
  Device device = default_device();
};
/// The adjoint of Conv2d, which enlarges images [n, in_channels, h, w]; see conv_transpose2d().
class ConvTranspose2d final : public Module {
 public:
  ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels, IntPair kernel_size,
                  const ConvTranspose2dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  ConvTranspose2d clone() const { return clone_as(*this, in_channels_, out_channels_, kernel_size_, options_); }

  Parameter weight;  ///< [in_channels, out_channels / groups, kernel height, kernel width]
  Parameter bias;    ///< [out_channels]; undefined without bias

 private:
  std::int64_t in_channels_, out_channels_;
  IntPair kernel_size_;
  ConvTranspose2dOptions options_;
};

struct ConvTranspose1dOptions {
  std::int64_t stride = 1, padding = 0, output_padding = 0, dilation = 1, groups = 1;
  bool bias = true;
  DType dtype = float32;
  Device device = default_device();
};
/// The adjoint of Conv1d; see conv_transpose1d().
class ConvTranspose1d final : public Module {
 public:
  ConvTranspose1d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t kernel_size,
                  const ConvTranspose1dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  ConvTranspose1d clone() const { return clone_as(*this, in_channels_, out_channels_, kernel_size_, options_); }

  Parameter weight;  ///< [in_channels, out_channels / groups, kernel_size]
  Parameter bias;    ///< [out_channels]; undefined without bias

 private:
  std::int64_t in_channels_, out_channels_, kernel_size_;
  ConvTranspose1dOptions options_;
};

}  // namespace taper::nn
