#pragma once
#include <taper/int_pair.h>
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

/// Zeros around an image: as many on both sides of each dimension, or what a name says. "valid" is none; "same" is as
/// many as it takes to keep the size at stride 1, with an odd one at the end.
struct Conv2dPadding {
  IntPair amount = 0;
  bool is_same = false;

  constexpr Conv2dPadding(std::integral auto both) : amount(both) {}
  constexpr Conv2dPadding(std::integral auto height, std::integral auto width) : amount(height, width) {}
  constexpr Conv2dPadding(IntPair p) : amount(p) {}
  /// Throws ValueError for other names.
  Conv2dPadding(const char* name);
};

struct Conv2dOptions {
  IntPair stride = 1;         ///< the window's step, 1 or more
  Conv2dPadding padding = 0;  ///< `.padding = 1`, `.padding = {2, 1}`, `.padding = "same"`
  IntPair dilation = 1;       ///< distance between taps of the window, 1 or more
  std::int64_t groups = 1;    ///< input and output channels are cut into so many parts, convolved separately
};

/// Cross-correlation, as every network's "convolution".
///
/// input [n, c, h, w] or one image [c, h, w]; weight [out_c, c / groups, kh, kw]; bias [out_c] or undefined; all of one
/// dtype, a floating one. The result is [n, out_c, oh, ow], where oh = floor((h + 2 padding - dilation (kh - 1) -
/// 1) / stride) + 1, channels-last in memory if input or weight is. Differentiable in input, weight and bias, twice
/// too. Throws ShapeError if shapes do not fit, DTypeError if dtypes differ, ValueError for options out of range.
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, const Conv2dOptions& options = {});

/// Conv2dOptions with the padding in numbers.
struct Conv2dWindow {
  using plain_argument = void;
  IntPair stride = 1, padding = 0, dilation = 1;
  std::int64_t groups = 1;
};

namespace ops {
/// input [n, c, h, w], weight, bias.
extern StructuredOp<Tensor(Tensor, Tensor, std::optional<Tensor>, Conv2dWindow)> conv2d;
/// The input's gradient from grad [n, out_c, oh, ow] and weight, for an input of this height and width.
extern StructuredOp<Tensor(Tensor, Tensor, IntPair, Conv2dWindow)> conv2d_input_grad;
/// The gradients of weight and, if wanted, bias from grad and input, for a window of this height and width. An
/// unwanted one has no elements.
extern StructuredOp<std::array<Tensor, 2>(Tensor, Tensor, IntPair, bool, Conv2dWindow)> conv2d_weight_grad;
}  // namespace ops

}  // namespace taper
