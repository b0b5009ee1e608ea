#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/convs.h>
#include <taper/ops/join.h>
#include <taper/ops/pad.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/view.h>

#include <algorithm>

#include "write_out.h"

namespace taper {
namespace {

/// A batch: one sample gets a first dim, which finish() takes away again.
struct Batch {
  Tensor x;
  bool was_one;
  Batch(const char* op, const char* shape, const Tensor& input, const Tensor& weight, int dims)
      : x(input), was_one(input.dim() == dims + 1) {
    check<ShapeError>((input.dim() == dims + 1 || input.dim() == dims + 2) && weight.dim() == dims + 2, op,
                      ": needs input ", shape, " or one sample of it, and a weight of ", dims + 2, " dims, got input ",
                      input.sizes(), " and weight ", weight.sizes());
    if (was_one) x = input.unsqueeze(0);
  }
  Tensor finish(const Tensor& y) const { return was_one ? y.squeeze(0) : y; }
};

Tensor with_bias(const Tensor& y, const Tensor& bias) {
  if (!bias.defined()) return y;
  IntVec sizes(std::size_t(y.dim()) - 1, 1);
  sizes[0] = bias.size(0);
  return y.add(bias.view(sizes));
}

/// Throws unless the arguments of a transposed convolution go together.
void check_transposed(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t groups) {
  check<DTypeError>(
      x.is_floating_point() && weight.dtype() == x.dtype() && (!bias.defined() || bias.dtype() == x.dtype()), op,
      ": input, weight and bias must have one floating dtype, got ", x.dtype(), " and ", weight.dtype());
  check<ValueError>(groups > 0, op, ": groups is ", groups, ", expected 1 or more");
  check<ShapeError>(x.size(1) == weight.size(0), op, ": input ", x.sizes(), " has ", x.size(1), " channels but weight ",
                    weight.sizes(), " takes ", weight.size(0));
  check<ShapeError>(x.size(1) % groups == 0, op, ": groups=", groups, " does not divide the ", x.size(1),
                    " channels of input");
  const std::int64_t out = weight.size(1) * groups;
  check<ShapeError>(!bias.defined() || (bias.dim() == 1 && bias.size(0) == out), op, ": bias must be [", out, "], got ",
                    bias.defined() ? bias.sizes() : IntSpan());
}
void check_spread(const char* op, std::int64_t stride, std::int64_t padding, std::int64_t extra,
                  std::int64_t dilation) {
  check<ValueError>(stride > 0 && dilation > 0 && padding >= 0 && extra >= 0, op, ": stride ", stride, " and dilation ",
                    dilation, " must be 1 or more, padding ", padding, " and output_padding ", extra, " 0 or more");
  check<ValueError>(extra < std::max(stride, dilation), op, ": output_padding ", extra, " must be smaller than stride ",
                    stride, " or dilation ", dilation);
}

/// Entries `begin` to `begin + length` of a dim, with zeros for those beyond the end.
Tensor part(const Tensor& x, std::int64_t dim, std::int64_t begin, std::int64_t length) {
  const std::int64_t there = std::min(length, x.size(dim) - begin);
  const Tensor inside = x.narrow(dim, begin, there);
  if (there == length) return inside;
  IntVec ends(std::size_t(2 * (x.dim() - dim)), 0);
  ends.back() = length - there;
  return pad(inside, ends);
}

}  // namespace

Conv1dPadding::Conv1dPadding(const char* name) {
  const Conv2dPadding both(name);
  is_same = both.is_same;
}

Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, const Conv1dOptions& o) {
  const Batch batch("conv1d", "[n, c, length]", input, weight, 1);
  const Conv2dPadding same = "same";
  const Conv2dOptions wide{.stride = {1, o.stride},
                           .padding = o.padding.is_same ? same : Conv2dPadding(0, o.padding.amount),
                           .dilation = {1, o.dilation},
                           .groups = o.groups};
  check<ValueError>(!o.padding.is_same || o.stride == 1,
                    "conv1d: padding \"same\" keeps the size only at stride 1, got ", o.stride,
                    "; give the padding in numbers");
  return batch.finish(conv2d(batch.x.unsqueeze(2), weight.unsqueeze(2), bias, wide).squeeze(2));
}

Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias, const Conv3dOptions& o) {
  const Batch batch("conv3d", "[n, c, d, h, w]", input, weight, 3);
  check<ValueError>(o.stride[0] > 0 && o.dilation[0] > 0 && o.padding[0] >= 0,
                    "conv3d: stride and dilation must be 1 or more, padding 0 or more");
  const Tensor x = o.padding[0] > 0 ? pad(batch.x, {0, 0, 0, 0, o.padding[0], o.padding[0]}) : batch.x;
  const std::int64_t n = x.size(0), taps = weight.size(2), covered = o.dilation[0] * (taps - 1) + 1;
  check<ShapeError>(taps > 0 && covered <= x.size(2), "conv3d: the window of weight ", weight.sizes(), " covers ",
                    covered, " in depth but input ", input.sizes(), " with padding ", o.padding[0], " is only ",
                    x.size(2));
  const std::int64_t depth = (x.size(2) - covered) / o.stride[0] + 1;
  const Conv2dOptions plane{.stride = {o.stride[1], o.stride[2]},
                            .padding = {o.padding[1], o.padding[2]},
                            .dilation = {o.dilation[1], o.dilation[2]},
                            .groups = o.groups};
  Tensor sum;
  for (std::int64_t k = 0; k < taps; ++k) {
    const std::int64_t begin = k * o.dilation[0];
    const Tensor slices = x.slice(2, begin, begin + (depth - 1) * o.stride[0] + 1, o.stride[0]);
    const Tensor y = conv2d(slices.transpose(1, 2).flatten(0, 1), weight.select(2, k), {}, plane);
    sum = k == 0 ? y : sum.add(y);
  }
  sum = unflatten(sum, 0, {n, depth}).transpose(1, 2);
  check<ShapeError>(!bias.defined() || (bias.dim() == 1 && bias.size(0) == weight.size(0)), "conv3d: bias must be [",
                    weight.size(0), "], got ", bias.defined() ? bias.sizes() : IntSpan());
  return batch.finish(with_bias(sum, bias));
}

namespace {

Tensor transposed2d(const char* op, const Tensor& x, const Tensor& weight, const ConvTranspose2dOptions& o) {
  check_spread(op, o.stride.h, o.padding.h, o.output_padding.h, o.dilation.h);
  check_spread(op, o.stride.w, o.padding.w, o.output_padding.w, o.dilation.w);
  const auto whole = [](std::int64_t n, std::int64_t stride, std::int64_t dilation, std::int64_t kernel) {
    return (n - 1) * stride + dilation * (kernel - 1) + 1;
  };
  const IntPair full(whole(x.size(2), o.stride.h, o.dilation.h, weight.size(2)),
                     whole(x.size(3), o.stride.w, o.dilation.w, weight.size(3)));
  const IntPair size(full.h - 2 * o.padding.h + o.output_padding.h, full.w - 2 * o.padding.w + o.output_padding.w);
  check<ShapeError>(size.h > 0 && size.w > 0, op, ": the result would be ", size, "; input ", x.sizes(),
                    " is too small for padding ", o.padding);
  if (o.output_padding.h < o.stride.h && o.output_padding.w < o.stride.w)
    return ops::conv2d_input_grad(x, weight, size, {o.stride, o.padding, o.dilation, o.groups});
  // No convolution at this stride has an input so long: the whole is cut instead.
  const Tensor y = ops::conv2d_input_grad(x, weight, full, {o.stride, 0, o.dilation, o.groups});
  return part(part(y, 2, o.padding.h, size.h), 3, o.padding.w, size.w);
}

}  // namespace

Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        const ConvTranspose2dOptions& o) {
  const Batch batch("conv_transpose2d", "[n, c, h, w]", input, weight, 2);
  check_transposed("conv_transpose2d", batch.x, weight, bias, o.groups);
  return batch.finish(with_bias(transposed2d("conv_transpose2d", batch.x, weight, o), bias));
}

Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        const ConvTranspose1dOptions& o) {
  const Batch batch("conv_transpose1d", "[n, c, length]", input, weight, 1);
  check_transposed("conv_transpose1d", batch.x, weight, bias, o.groups);
  const ConvTranspose2dOptions wide{.stride = {1, o.stride},
                                    .padding = {0, o.padding},
                                    .output_padding = {0, o.output_padding},
                                    .groups = o.groups,
                                    .dilation = {1, o.dilation}};
  const Tensor y = transposed2d("conv_transpose1d", batch.x.unsqueeze(2), weight.unsqueeze(2), wide);
  return batch.finish(with_bias(y.squeeze(2), bias));
}

Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        const ConvTranspose3dOptions& o) {
  constexpr const char* op = "conv_transpose3d";
  const Batch batch(op, "[n, c, d, h, w]", input, weight, 3);
  const Tensor& x = batch.x;
  check_transposed(op, x, weight, bias, o.groups);
  check_spread(op, o.stride[0], o.padding[0], o.output_padding[0], o.dilation[0]);
  const ConvTranspose2dOptions plane{.stride = {o.stride[1], o.stride[2]},
                                     .padding = {o.padding[1], o.padding[2]},
                                     .output_padding = {o.output_padding[1], o.output_padding[2]},
                                     .groups = o.groups,
                                     .dilation = {o.dilation[1], o.dilation[2]}};
  const std::int64_t n = x.size(0), depth = x.size(2), taps = weight.size(2);
  const std::int64_t full = (depth - 1) * o.stride[0] + o.dilation[0] * (taps - 1) + 1;
  const std::int64_t size = full - 2 * o.padding[0] + o.output_padding[0];
  check<ShapeError>(depth > 0 && size > 0, op, ": the result would be ", size, " deep; input ", x.sizes(),
                    " is too small for padding ", o.padding[0]);
  const Tensor planes = x.transpose(1, 2).flatten(0, 1);
  Tensor out;
  for (std::int64_t k = 0; k < taps; ++k) {
    const Tensor y = unflatten(transposed2d(op, planes, weight.select(2, k), plane), 0, {n, depth});
    if (!out.defined()) {
      IntVec sizes = y.sizes().vec();
      sizes[1] = full;
      out = zeros(sizes, y.dtype(), y.device());
    }
    const std::int64_t begin = k * o.dilation[0];
    out.slice(1, begin, begin + (depth - 1) * o.stride[0] + 1, o.stride[0]).add_(y);
  }
  return batch.finish(with_bias(part(out.transpose(1, 2), 2, o.padding[0], size), bias));
}

namespace {

/// The windows of a dim: their first entries are `stride` apart.
struct Windows {
  std::int64_t count, stride, dilation;
  Windows(const char* op, std::int64_t size, std::int64_t kernel, std::int64_t padding, std::int64_t step,
          std::int64_t spread)
      : count(0), stride(step), dilation(spread) {
    check<ValueError>(kernel > 0 && step > 0 && spread > 0 && padding >= 0, op,
                      ": kernel_size, stride and dilation must be 1 or more and padding 0 or more, got ", kernel, ", ",
                      step, ", ", spread, " and ", padding);
    const std::int64_t room = size + 2 * padding - spread * (kernel - 1) - 1;
    check<ShapeError>(room >= 0, op, ": a window of ", spread * (kernel - 1) + 1, " does not fit a size of ", size,
                      " with padding ", padding);
    count = room / step + 1;
  }
  /// Of x's dim, the entries under tap k of all windows.
  Tensor under(const Tensor& x, std::int64_t dim, std::int64_t k) const {
    return x.slice(dim, k * dilation, k * dilation + (count - 1) * stride + 1, stride);
  }
};

}  // namespace

Tensor im2col(const Tensor& input, IntPair kernel, const ColumnOptions& o) {
  check<ShapeError>(input.dim() == 3 || input.dim() == 4, "im2col: needs input [n, c, h, w] or [c, h, w], got ",
                    input.sizes());
  const Tensor x = input.dim() == 3 ? input.unsqueeze(0) : input;
  const Windows down("im2col", x.size(2), kernel.h, o.padding.h, o.stride.h, o.dilation.h);
  const Windows right("im2col", x.size(3), kernel.w, o.padding.w, o.stride.w, o.dilation.w);
  const Tensor padded = o.padding == IntPair(0) ? x : pad(x, {o.padding.w, o.padding.w, o.padding.h, o.padding.h});
  TensorList taps;
  for (std::int64_t i = 0; i < kernel.h; ++i)
    for (std::int64_t j = 0; j < kernel.w; ++j) taps.push_back(right.under(down.under(padded, 2, i), 3, j));
  const Tensor y = stack(taps, 2).reshape({x.size(0), x.size(1) * kernel.h * kernel.w, down.count * right.count});
  return input.dim() == 3 ? y.squeeze(0) : y;
}
Tensor& im2col_out(Tensor& out, const Tensor& input, IntPair kernel_size, const ColumnOptions& options) {
  return write_out("im2col", out, im2col(input, kernel_size, options));
}

Tensor col2im(const Tensor& input, IntPair size, IntPair kernel, const ColumnOptions& o) {
  check<ShapeError>(input.dim() == 2 || input.dim() == 3,
                    "col2im: needs input [n, c kh kw, windows] or without n, got ", input.sizes());
  const Tensor x = input.dim() == 2 ? input.unsqueeze(0) : input;
  const Windows down("col2im", size.h, kernel.h, o.padding.h, o.stride.h, o.dilation.h);
  const Windows right("col2im", size.w, kernel.w, o.padding.w, o.stride.w, o.dilation.w);
  const std::int64_t taps = kernel.h * kernel.w, n = x.size(0);
  check<ShapeError>(x.size(1) % taps == 0, "col2im: input ", input.sizes(), " has columns of ", x.size(1),
                    ", which windows of ", kernel, " do not divide");
  check<ShapeError>(x.size(2) == down.count * right.count, "col2im: input ", input.sizes(), " has ", x.size(2),
                    " columns but an image of ", size, " has ", down.count * right.count, " windows");
  const std::int64_t c = x.size(1) / taps;
  const Tensor columns = x.reshape({n, c, taps, down.count, right.count});
  Tensor whole = zeros({n, c, size.h + 2 * o.padding.h, size.w + 2 * o.padding.w}, x.dtype(), x.device());
  for (std::int64_t i = 0; i < kernel.h; ++i)
    for (std::int64_t j = 0; j < kernel.w; ++j)
      right.under(down.under(whole, 2, i), 3, j).add_(columns.select(2, i * kernel.w + j));
  const Tensor y = whole.narrow(2, o.padding.h, size.h).narrow(3, o.padding.w, size.w);
  return input.dim() == 2 ? y.squeeze(0) : y;
}
Tensor& col2im_out(Tensor& out, const Tensor& input, IntPair output_size, IntPair kernel_size,
                   const ColumnOptions& options) {
  return write_out("col2im", out, col2im(input, output_size, kernel_size, options));
}

}  // namespace taper
