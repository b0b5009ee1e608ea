#pragma once
#include <taper/nn/module.h>

#include <optional>
#include <string>
#include <vector>

namespace taper::nn {

struct UpsampleOptions {
  IntVec size = {};                        ///< of the result; or
  std::vector<double> scale_factor = {};   ///< one number for all dims, or one for each
  std::string mode = "nearest";            ///< nearest, linear, bilinear, trilinear, bicubic
  std::optional<bool> align_corners = {};  ///< first and last samples stay in place; for the linear and cubic modes
  bool recompute_scale_factor = false;     ///< positions follow from the sizes, not from scale_factor
};
/// Signals, images and volumes in another size; see interpolate().
class Upsample final : public Module {
 public:
  /// Throws ValueError unless one of size and scale_factor is given.
  explicit Upsample(UpsampleOptions options);
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  Upsample clone() const { return clone_as(*this, options_); }

 private:
  UpsampleOptions options_;
};

/// Zeros around images, x [..., h, w]: `padding` is {left, right, top, bottom}, negative to cut off.
class ZeroPad2d final : public Module {
 public:
  /// The same on all sides.
  explicit ZeroPad2d(std::int64_t padding) : padding_{padding, padding, padding, padding} {}
  /// Throws ValueError unless there are four numbers.
  explicit ZeroPad2d(IntSpan padding);
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  ZeroPad2d clone() const { return clone_as(*this, IntSpan(padding_)); }

 private:
  IntVec padding_;
};

}  // namespace taper::nn
