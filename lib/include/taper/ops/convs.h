#pragma once
// Convolutions of other kinds than conv2d(): along lines and in volumes, transposed ones, and windows as columns of a
// matrix. Floating dtypes; inputs are batches or, without the first dim, one sample. Differentiable in input, weight
// and bias, twice too. Errors as of conv2d().
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/conv.h>

#include <array>

namespace taper {

/// As Conv2dPadding, of one dim.
struct Conv1dPadding {
  std::int64_t amount = 0;
  bool is_same = false;
  constexpr Conv1dPadding(std::integral auto both) : amount(std::int64_t(both)) {}
  /// "same" or "valid". Throws ValueError for other names.
  Conv1dPadding(const char* name);
};
struct Conv1dOptions {
  std::int64_t stride = 1;
  Conv1dPadding padding = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
};
/// input [n, c, length], weight [out_c, c / groups, k], bias [out_c] or undefined -> [n, out_c, length'].
Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, const Conv1dOptions& options = {});

/// Three numbers, for depth, height and width, or one for all: {1, 2, 2}, 2.
struct IntTriple {
  std::array<std::int64_t, 3> values{};
  constexpr IntTriple(std::integral auto all) : values{std::int64_t(all), std::int64_t(all), std::int64_t(all)} {}
  constexpr IntTriple(std::integral auto depth, std::integral auto height, std::integral auto width)
      : values{std::int64_t(depth), std::int64_t(height), std::int64_t(width)} {}
  constexpr std::int64_t operator[](std::size_t i) const { return values[i]; }
};
struct Conv3dOptions {
  IntTriple stride = 1, padding = 0, dilation = 1;
  std::int64_t groups = 1;
};
/// input [n, c, d, h, w], weight [out_c, c / groups, kd, kh, kw]. A sum of conv2d() of the slices.
Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, const Conv3dOptions& options = {});

struct ConvTranspose1dOptions {
  std::int64_t stride = 1, padding = 0, output_padding = 0, groups = 1, dilation = 1;
};
struct ConvTranspose2dOptions {
  IntPair stride = 1, padding = 0;
  IntPair output_padding = 0;  ///< further entries at the end, fewer than stride or dilation
  std::int64_t groups = 1;
  IntPair dilation = 1;
};
struct ConvTranspose3dOptions {
  IntTriple stride = 1, padding = 0, output_padding = 0;
  std::int64_t groups = 1;
  IntTriple dilation = 1;
};
/// The adjoint of conv2d by its input: each element of input is spread by the window. weight [c, out_c / groups, kh,
/// kw]; the result is [n, out_c, oh, ow] with oh = (h - 1) stride - 2 padding + dilation (kh - 1) + output_padding + 1.
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        const ConvTranspose2dOptions& options = {});
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        const ConvTranspose1dOptions& options = {});
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                        const ConvTranspose3dOptions& options = {});

struct ColumnOptions {
  IntPair dilation = 1, padding = 0, stride = 1;
};
/// The windows of images as columns: [n, c, h, w] -> [n, c kh kw, windows]. torch.nn.functional.unfold.
Tensor im2col(const Tensor& input, IntPair kernel_size, const ColumnOptions& options = {});
Tensor& im2col_out(Tensor& out, const Tensor& input, IntPair kernel_size, const ColumnOptions& options = {});
/// The adjoint of im2col: columns added up where their windows were, in images of output_size.
/// torch.nn.functional.fold.
Tensor col2im(const Tensor& input, IntPair output_size, IntPair kernel_size, const ColumnOptions& options = {});
Tensor& col2im_out(Tensor& out, const Tensor& input, IntPair output_size, IntPair kernel_size,
                   const ColumnOptions& options = {});

}  // namespace taper
