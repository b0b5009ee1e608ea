#pragma once
#include <taper/nn/module.h>
#include <taper/ops/conv.h>

namespace taper::nn {

struct Conv2dOptions {
  IntPair stride = 1;
  Conv2dPadding padding = 0;  ///< numbers, "same" or "valid"
  IntPair dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
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

}  // namespace taper::nn
