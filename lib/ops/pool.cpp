#include <taper/operator.h>
#include <taper/ops/pool.h>

#include "window.h"
#include "write_out.h"

namespace taper {
namespace {

constexpr std::int64_t kMostCompact = 256;  // window elements that a uint8 tells apart

void check_window(const char* op, const Pool2dWindow& o) {
  check_window_option(op, "kernel_size", o.kernel, 1);
  check_window_option(op, "stride", o.stride, 1);
  check_window_option(op, "padding", o.padding, 0);
  check_window_option(op, "dilation", o.dilation, 1);
  check<ValueError>(2 * o.padding.h <= o.kernel.h && 2 * o.padding.w <= o.kernel.w, op, ": padding ", o.padding,
                    " is more than half of kernel_size ", o.kernel, "; windows would see nothing but padding");
}

/// Positions of a window along one dimension; in ceil mode the last may start within the image or the padding before
/// it, and end anywhere.
std::int64_t positions(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                       std::int64_t dilation, bool ceil_mode) {
  const std::int64_t room = size + 2 * padding - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  if (room < 0) return 0;
  const std::int64_t count = room / stride + 1;
  return ceil_mode && (count - 1) * stride >= size + padding ? count - 1 : count;
}

IntPair pooled_size(const Tensor& x, const Pool2dWindow& o) {
  return {positions(x.size(2), o.kernel.h, o.stride.h, o.padding.h, o.dilation.h, o.ceil_mode),
          positions(x.size(3), o.kernel.w, o.stride.w, o.padding.w, o.dilation.w, o.ceil_mode)};
}

void check_input(const char* op, const Tensor& x) {
  check<DTypeError>(is_floating(x.dtype()), op, ": needs a floating dtype, got x ", x.spec(),
                    "; convert with x.to(taper::float32) first");
  check<ShapeError>(x.size(1) > 0 && x.size(2) > 0 && x.size(3) > 0, op, ": x ", x.spec(),
                    " has images without elements; only the number of images may be 0");
}

TensorSpec infer_pool(const char* op, const Tensor& x, const Pool2dWindow& o) {
  check<ShapeError>(x.dim() == 4, op, ": needs x [n, c, h, w] or [c, h, w], got ", x.spec());
  check_input(op, x);
  check_window(op, o);
  const IntPair size = pooled_size(x, o);
  check<ShapeError>(size.h > 0 && size.w > 0, op, ": kernel_size ", o.kernel, " (dilation ", o.dilation,
                    ") does not fit into x ", x.sizes(), " with padding ", o.padding,
                    "; use a smaller window or more padding");
  return {dense_geometry({x.size(0), x.size(1), size.h, size.w}, suggested_memory_format(x)), x.dtype(), x.device()};
}

std::array<TensorSpec, 2> infer_max_pool2d(const Tensor& x, const Pool2dWindow& o, const bool& compact) {
  const TensorSpec y = infer_pool("max_pool2d", x, o);
  return {y, TensorSpec{y.geometry, compact ? uint8 : int64, y.device}};
}

/// Images whose pooling has the gradient `grad`.
TensorSpec before_pooling(const Tensor& grad, const Pool2dImage& image) {
  return {dense_geometry({grad.size(0), grad.size(1), image.size.h, image.size.w}, image.order), grad.dtype(),
          grad.device()};
}

TensorSpec infer_max_pool2d_backward(const Tensor& grad, const Tensor& indices, const Pool2dImage& image,
                                     const Pool2dWindow&) {
  check<ShapeError>(grad.sizes() == indices.sizes(), "max_pool2d_backward: grad ", grad.spec(), " and indices ",
                    indices.spec(), " differ in shape");
  return before_pooling(grad, image);
}

TensorSpec infer_max_pool2d_at(const Tensor& x, const Tensor& indices, const Pool2dWindow&) {
  return {dense_geometry(indices.sizes(), suggested_memory_format(indices)), x.dtype(), x.device()};
}

TensorSpec infer_avg_pool2d(const Tensor& x, const Pool2dWindow& o, const AvgPool2dDivision&) {
  return infer_pool("avg_pool2d", x, o);
}

TensorSpec infer_avg_pool2d_backward(const Tensor& grad, const Pool2dImage& image, const Pool2dWindow&,
                                     const AvgPool2dDivision&) {
  return before_pooling(grad, image);
}

/// One image as a batch of one.
Tensor batched(const char* op, const Tensor& x) {
  check<ShapeError>(x.dim() == 3 || x.dim() == 4, op, ": needs x [n, c, h, w] or [c, h, w], got ", x.spec());
  return x.dim() == 3 ? x.unsqueeze(0) : x;
}
Tensor like_input(const Tensor& x, const Tensor& y) { return x.dim() == 3 ? y.squeeze(0) : y; }

std::array<Tensor, 2> max_pool(const Tensor& x, IntPair kernel, const MaxPool2dOptions& o, bool compact) {
  const Pool2dWindow window{kernel, o.stride.is_given ? o.stride.step : kernel, o.padding, o.dilation, o.ceil_mode};
  return ops::max_pool2d(batched("max_pool2d", x), window, compact);
}

}  // namespace

namespace ops {
constinit StructuredOp<std::array<Tensor, 2>(Tensor, Pool2dWindow, bool)> max_pool2d{"max_pool2d", "x, window, compact",
                                                                                     infer_max_pool2d};
constinit StructuredOp<Tensor(Tensor, Tensor, Pool2dImage, Pool2dWindow)> max_pool2d_backward{
    "max_pool2d_backward", "grad, indices, image, window", infer_max_pool2d_backward};
constinit StructuredOp<Tensor(Tensor, Tensor, Pool2dWindow)> max_pool2d_at{"max_pool2d_at", "x, indices, window",
                                                                           infer_max_pool2d_at};
constinit StructuredOp<Tensor(Tensor, Pool2dWindow, AvgPool2dDivision)> avg_pool2d{"avg_pool2d", "x, window, division",
                                                                                   infer_avg_pool2d};
constinit StructuredOp<Tensor(Tensor, Pool2dImage, Pool2dWindow, AvgPool2dDivision)> avg_pool2d_backward{
    "avg_pool2d_backward", "grad, image, window, division", infer_avg_pool2d_backward};
}  // namespace ops

Tensor max_pool2d(const Tensor& x, IntPair kernel_size, const MaxPool2dOptions& options) {
  const bool compact =
      kernel_size.h <= kMostCompact && kernel_size.w <= kMostCompact && kernel_size.h * kernel_size.w <= kMostCompact;
  return like_input(x, max_pool(x, kernel_size, options, compact)[0]);
}

std::pair<Tensor, Tensor> max_pool2d_with_indices(const Tensor& x, IntPair kernel_size,
                                                  const MaxPool2dOptions& options) {
  const std::array<Tensor, 2> y = max_pool(x, kernel_size, options, false);
  return {like_input(x, y[0]), like_input(x, y[1])};
}
std::tuple<Tensor&, Tensor&> max_pool2d_with_indices_out(Tensor& out, Tensor& indices, const Tensor& x,
                                                         IntPair kernel_size, const MaxPool2dOptions& options) {
  return write_out("max_pool2d_with_indices", out, indices, max_pool2d_with_indices(x, kernel_size, options));
}

Tensor avg_pool2d(const Tensor& x, IntPair kernel_size, const AvgPool2dOptions& o) {
  check<ValueError>(o.divisor_override != 0,
                    "avg_pool2d: divisor_override is 0; leave it out to divide by the number "
                    "of elements under the window");
  const Pool2dWindow window{kernel_size, o.stride.is_given ? o.stride.step : kernel_size, o.padding, 1, o.ceil_mode};
  return like_input(
      x, ops::avg_pool2d(batched("avg_pool2d", x), window, {o.count_include_pad, o.divisor_override.value_or(0)}));
}
Tensor& avg_pool2d_out(Tensor& out, const Tensor& x, IntPair kernel_size, const AvgPool2dOptions& options) {
  return write_out("avg_pool2d", out, avg_pool2d(x, kernel_size, options));
}

}  // namespace taper
