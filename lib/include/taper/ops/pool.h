#pragma once
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/int_pair.h>
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <utility>

namespace taper {

/// The step of a pooling window: numbers, or nothing for the window's own size.
struct PoolStride {
  IntPair step = 0;
  bool is_given = false;

  constexpr PoolStride() = default;
  constexpr PoolStride(std::integral auto both) : step(both), is_given(true) {}
  constexpr PoolStride(std::integral auto height, std::integral auto width) : step(height, width), is_given(true) {}
  constexpr PoolStride(IntPair p) : step(p), is_given(true) {}
};

struct MaxPool2dOptions {
  PoolStride stride = {};  ///< the window's step, 1 or more; absent: its size
  IntPair padding = 0;     ///< added around the image, at most half the window; never wins
  IntPair dilation = 1;    ///< distance between elements under the window
  bool ceil_mode = false;  ///< the last window may reach beyond the padded image
};

/// The largest element under each window; NaN if there is one.
///
/// x [n, c, h, w] or one image [c, h, w], floating; the result is [n, c, oh, ow], where oh = (h + 2 padding -
/// dilation (kh - 1) - 1) / stride + 1, rounded down, or up in ceil_mode; channels-last in memory if x is. The gradient
/// goes to the first of the largest elements. Throws ShapeError if the window does not fit, ValueError for options out
/// of range.
Tensor max_pool2d(const Tensor& x, IntPair kernel_size, const MaxPool2dOptions& options = {});
/// The same, and where each maximum was: row * w + column within its image, int64.
std::pair<Tensor, Tensor> max_pool2d_with_indices(const Tensor& x, IntPair kernel_size,
                                                  const MaxPool2dOptions& options = {});
std::tuple<Tensor&, Tensor&> max_pool2d_with_indices_out(Tensor& out, Tensor& indices, const Tensor& x,
                                                         IntPair kernel_size, const MaxPool2dOptions& options = {});

struct AvgPool2dOptions {
  PoolStride stride = {};
  IntPair padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;                      ///< whether the padding's zeros count as elements
  std::optional<std::int64_t> divisor_override = {};  ///< divide the sums by this instead; not 0
};

/// The mean of the elements under each window. Shapes, dtypes and errors as for max_pool2d.
Tensor avg_pool2d(const Tensor& x, IntPair kernel_size, const AvgPool2dOptions& options = {});
Tensor& avg_pool2d_out(Tensor& out, const Tensor& x, IntPair kernel_size, const AvgPool2dOptions& options = {});

/// A pooling's window, with its step in numbers.
struct Pool2dWindow {
  using plain_argument = void;
  IntPair kernel = 1, stride = 1, padding = 0, dilation = 1;
  bool ceil_mode = false;
};
/// What a pooling went over: how high and wide the images were, and how they lay in memory, which one result for each
/// channel does not tell.
struct Pool2dImage {
  using plain_argument = void;
  IntPair size = 1;
  MemoryFormat order = MemoryFormat::contiguous;
};
/// How a sum becomes a mean.
struct AvgPool2dDivision {
  using plain_argument = void;
  bool count_include_pad = true;
  std::int64_t divisor_override = 0;  // 0: none
};

namespace ops {
// All of x [n, c, h, w]. Places are kept as int64 indices of the image, or, if compact, as uint8 indices of the window,
// which must then have at most 256 elements.
/// Values and places.
extern StructuredOp<std::array<Tensor, 2>(Tensor, Pool2dWindow, bool)> max_pool2d;
/// From grad and places, for such an x: adds each element of grad at its place.
extern StructuredOp<Tensor(Tensor, Tensor, Pool2dImage, Pool2dWindow)> max_pool2d_backward;
/// The elements of x at the places: the adjoint of max_pool2d_backward.
extern StructuredOp<Tensor(Tensor, Tensor, Pool2dWindow)> max_pool2d_at;
extern StructuredOp<Tensor(Tensor, Pool2dWindow, AvgPool2dDivision)> avg_pool2d;
/// From grad, for such an x.
extern StructuredOp<Tensor(Tensor, Pool2dImage, Pool2dWindow, AvgPool2dDivision)> avg_pool2d_backward;
}  // namespace ops

}  // namespace taper
