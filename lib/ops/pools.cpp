// Pools of lines, of norms, to a given size, and back.
#include <taper/factory.h>
#include <taper/ops/index.h>
#include <taper/ops/join.h>
#include <taper/ops/math_binary.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/pools.h>
#include <taper/ops/reduce.h>
#include <taper/ops/resample.h>
#include <taper/ops/view.h>

#include "write_out.h"

namespace taper {
namespace {

/// x as a batch, and whether it was one.
std::pair<Tensor, bool> batch_of(const char* op, const Tensor& x, int dims) {
  check<ShapeError>(x.dim() == dims + 1 || x.dim() == dims + 2, op, ": needs x [n, c, ", dims,
                    dims == 1 ? " dim" : " dims", " more], or without n for one sample, got ", x.sizes());
  check<DTypeError>(x.is_floating_point(), op, ": needs a floating dtype, got x ", x.spec(),
                    "; convert with x.to(taper::float32) first");
  const bool one = x.dim() == dims + 1;
  for (int d = one ? 0 : 1; d < x.dim(); ++d)
    check<ShapeError>(x.size(d) > 0, op, ": x ", x.sizes(), " has no elements in dim ", d);
  return {one ? x.unsqueeze(0) : x, !one};
}
Tensor finished(const Tensor& y, bool is_batch) { return is_batch ? y : y.squeeze(0); }

PoolStride along(std::optional<std::int64_t> stride) { return stride ? PoolStride(1, *stride) : PoolStride(); }

/// The sizes asked for, of the last dims of x [n, c, ...].
IntVec output_sizes(const char* op, const Tensor& x, const OutputSizes& wanted) {
  const std::size_t dims = std::size_t(x.dim()) - 2;
  check<ShapeError>(wanted.size() == 1 || wanted.size() == dims, op, ": output_size has ", wanted.size(),
                    " entries, expected 1 or ", dims, " for x ", x.sizes());
  IntVec sizes;
  for (std::size_t d = 0; d < dims; ++d) {
    sizes.push_back(wanted[wanted.size() == 1 ? 0 : d].value_or(x.size(std::int64_t(d) + 2)));
    check<ValueError>(sizes.back() > 0, op, ": output_size ", sizes.back(), " must be above 0");
  }
  return sizes;
}
Tensor adaptive_avg_pool(const char* op, const Tensor& any, const OutputSizes& wanted, int dims) {
  const auto [x, is_batch] = batch_of(op, any, dims);
  const IntVec sizes = output_sizes(op, x, wanted);
  bool are_equal = dims <= 2;
  for (std::size_t d = 0; d < sizes.size(); ++d) are_equal = are_equal && x.size(std::int64_t(d) + 2) % sizes[d] == 0;
  if (!are_equal) return finished(interpolate(x, {.size = sizes, .mode = "area"}), is_batch);
  // Parts of one size are windows.
  const std::int64_t w = x.size(-1) / sizes.back();
  if (dims == 2) return finished(avg_pool2d(x, {x.size(2) / sizes[0], w}), is_batch);
  return finished(avg_pool2d(x.unsqueeze(2), {1, w}).squeeze(2), is_batch);
}

/// Part i of n parts of a dim: from begin up to end.
struct Part {
  std::int64_t begin, end;
  Part(std::int64_t i, std::int64_t n, std::int64_t size) : begin(i * size / n), end(((i + 1) * size + n - 1) / n) {}
};
std::pair<Tensor, Tensor> adaptive_max_pool(const char* op, const Tensor& any, const OutputSizes& wanted, int dims) {
  const auto [given, is_batch] = batch_of(op, any, dims);
  const Tensor x = dims == 1 ? given.unsqueeze(2) : given;  // a line is an image of one row
  IntVec sizes = output_sizes(op, given, wanted);
  if (dims == 1) sizes.insert(sizes.begin(), 1);
  TensorList values, places;
  for (std::int64_t i = 0; i < sizes[0]; ++i)
    for (std::int64_t j = 0; j < sizes[1]; ++j) {
      const Part rows(i, sizes[0], x.size(2)), columns(j, sizes[1], x.size(3));
      const std::int64_t width = columns.end - columns.begin;
      const Tensor window = x.slice(2, rows.begin, rows.end).slice(3, columns.begin, columns.end).flatten(2);
      const auto [value, at] = window.max(2);
      values.push_back(value);
      places.push_back(
          at.floor_divide(width).add(rows.begin).mul(x.size(3)).add(at.remainder(width)).add(columns.begin));
    }
  const auto shaped = [&, is_batch = is_batch](const TensorList& ts) {
    const Tensor y = unflatten(stack(ts, 2), 2, sizes);
    return finished(dims == 1 ? y.squeeze(2) : y, is_batch);
  };
  return {shaped(values), shaped(places)};
}

}  // namespace

Tensor max_pool1d(const Tensor& x, std::int64_t kernel_size, const MaxPool1dOptions& o) {
  return max_pool1d_with_indices(x, kernel_size, o).first;
}
std::pair<Tensor, Tensor> max_pool1d_with_indices(const Tensor& x, std::int64_t kernel_size,
                                                  const MaxPool1dOptions& o) {
  const auto [lines, is_batch] = batch_of("max_pool1d", x, 1);
  const auto [values, places] = max_pool2d_with_indices(
      lines.unsqueeze(2), {1, kernel_size},
      {.stride = along(o.stride), .padding = {0, o.padding}, .dilation = {1, o.dilation}, .ceil_mode = o.ceil_mode});
  return {finished(values.squeeze(2), is_batch), finished(places.squeeze(2), is_batch)};
}
Tensor avg_pool1d(const Tensor& x, std::int64_t kernel_size, const AvgPool1dOptions& o) {
  const auto [lines, is_batch] = batch_of("avg_pool1d", x, 1);
  const Tensor y = avg_pool2d(lines.unsqueeze(2), {1, kernel_size},
                              {.stride = along(o.stride),
                               .padding = {0, o.padding},
                               .ceil_mode = o.ceil_mode,
                               .count_include_pad = o.count_include_pad});
  return finished(y.squeeze(2), is_batch);
}

Tensor adaptive_avg_pool1d(const Tensor& x, const OutputSizes& output_size) {
  return adaptive_avg_pool("adaptive_avg_pool1d", x, output_size, 1);
}
Tensor adaptive_avg_pool2d(const Tensor& x, const OutputSizes& output_size) {
  return adaptive_avg_pool("adaptive_avg_pool2d", x, output_size, 2);
}
Tensor& adaptive_avg_pool2d_out(Tensor& out, const Tensor& x, const OutputSizes& output_size) {
  return write_out("adaptive_avg_pool2d", out, adaptive_avg_pool2d(x, output_size));
}
Tensor adaptive_avg_pool3d(const Tensor& x, const OutputSizes& output_size) {
  return adaptive_avg_pool("adaptive_avg_pool3d", x, output_size, 3);
}
Tensor& adaptive_avg_pool3d_out(Tensor& out, const Tensor& x, const OutputSizes& output_size) {
  return write_out("adaptive_avg_pool3d", out, adaptive_avg_pool3d(x, output_size));
}
std::pair<Tensor, Tensor> adaptive_max_pool1d_with_indices(const Tensor& x, const OutputSizes& output_size) {
  return adaptive_max_pool("adaptive_max_pool1d", x, output_size, 1);
}
std::pair<Tensor, Tensor> adaptive_max_pool2d_with_indices(const Tensor& x, const OutputSizes& output_size) {
  return adaptive_max_pool("adaptive_max_pool2d", x, output_size, 2);
}
std::tuple<Tensor&, Tensor&> adaptive_max_pool2d_with_indices_out(Tensor& out, Tensor& indices, const Tensor& x,
                                                                  const OutputSizes& output_size) {
  return write_out("adaptive_max_pool2d_with_indices", out, indices, adaptive_max_pool2d_with_indices(x, output_size));
}
Tensor adaptive_max_pool1d(const Tensor& x, const OutputSizes& output_size) {
  return adaptive_max_pool1d_with_indices(x, output_size).first;
}
Tensor adaptive_max_pool2d(const Tensor& x, const OutputSizes& output_size) {
  return adaptive_max_pool2d_with_indices(x, output_size).first;
}

Tensor max_unpool2d(const Tensor& x, const Tensor& indices, IntPair kernel, PoolStride stride, IntPair padding,
                    IntSpan output_size) {
  const auto [images, is_batch] = batch_of("max_unpool2d", x, 2);
  check<ShapeError>(indices.sizes() == x.sizes(), "max_unpool2d: x ", x.sizes(), " and indices ", indices.sizes(),
                    " must have the same shape");
  const IntPair step = stride.is_given ? stride.step : kernel;
  IntPair size((images.size(2) - 1) * step.h - 2 * padding.h + kernel.h,
               (images.size(3) - 1) * step.w - 2 * padding.w + kernel.w);
  if (!output_size.empty()) {
    check<ShapeError>(output_size.size() >= 2, "max_unpool2d: output_size ", output_size,
                      " must have a height and a width");
    size = {output_size[output_size.size() - 2], output_size[output_size.size() - 1]};
  }
  const std::int64_t n = images.size(0), c = images.size(1);
  const Tensor none = zeros({n, c, size.h * size.w}, x.dtype(), x.device());
  const Tensor y = scatter(none, 2, indices.reshape({n, c, -1}), images.flatten(2)).view({n, c, size.h, size.w});
  return finished(y, is_batch);
}
Tensor& max_unpool2d_out(Tensor& out, const Tensor& x, const Tensor& indices, IntPair kernel_size, PoolStride stride,
                         IntPair padding, IntSpan output_size) {
  return write_out("max_unpool2d", out, max_unpool2d(x, indices, kernel_size, stride, padding, output_size));
}
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, std::int64_t kernel_size,
                    std::optional<std::int64_t> stride, std::int64_t padding, IntSpan output_size) {
  const auto [lines, is_batch] = batch_of("max_unpool1d", x, 1);
  check<ShapeError>(indices.sizes() == x.sizes(), "max_unpool1d: x ", x.sizes(), " and indices ", indices.sizes(),
                    " must have the same shape");
  IntVec size;
  if (!output_size.empty()) size = {1, output_size[output_size.size() - 1]};
  const Tensor y = max_unpool2d(lines.unsqueeze(2), indices.reshape(lines.unsqueeze(2).sizes()), {1, kernel_size},
                                along(stride), {0, padding}, size);
  return finished(y.squeeze(2), is_batch);
}

namespace {
/// From the mean of p-th powers of `count` elements to their norm.
Tensor norm_of(const Tensor& mean, std::int64_t count, double p) {
  return mean.sign().mul(mean.abs()).mul(double(count)).pow(1 / p);
}
}  // namespace

Tensor lp_pool1d(const Tensor& x, double p, std::int64_t kernel_size, std::optional<std::int64_t> stride,
                 bool ceil_mode) {
  return norm_of(avg_pool1d(x.pow(p), kernel_size, {.stride = stride, .ceil_mode = ceil_mode}), kernel_size, p);
}
Tensor lp_pool2d(const Tensor& x, double p, IntPair kernel, PoolStride stride, bool ceil_mode) {
  return norm_of(avg_pool2d(x.pow(p), kernel, {.stride = stride, .ceil_mode = ceil_mode}), kernel.h * kernel.w, p);
}

}  // namespace taper
