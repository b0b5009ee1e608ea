// Pools of volumes: the elements under each tap of the window are a strided part of the padded volume.
#include <taper/factory.h>
#include <taper/ops/index.h>
#include <taper/ops/join.h>
#include <taper/ops/pad.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/pools.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include <algorithm>
#include <limits>

#include "constant_on.h"
#include "write_out.h"

namespace taper {
namespace {

/// The windows along one dim.
struct Axis {
  std::int64_t size, kernel, stride, padding, dilation;
  std::int64_t count = 0;  // of windows

  std::int64_t begin(std::int64_t window) const { return window * stride - padding; }
  /// What windows reach beyond the padding at the end, in ceil_mode.
  std::int64_t padding_after() const {
    return std::max(begin(count - 1) + dilation * (kernel - 1) + 1 - size, padding);
  }
};

struct Pool3d {
  Tensor x;  // [n, c, d, h, w]
  bool is_batch;
  std::array<Axis, 3> axes;

  Pool3d(const char* op, const Tensor& given, const IntTriple& kernel, const std::optional<IntTriple>& stride,
         const IntTriple& padding, const IntTriple& dilation, bool ceil_mode)
      : x(given), is_batch(given.dim() == 5) {
    check<ShapeError>(given.dim() == 4 || given.dim() == 5, op, ": needs x [n, c, d, h, w] or [c, d, h, w], got ",
                      given.sizes());
    check<DTypeError>(given.is_floating_point(), op, ": needs a floating dtype, got x ", given.spec(),
                      "; convert with x.to(taper::float32) first");
    for (int d = is_batch ? 1 : 0; d < given.dim(); ++d)
      check<ShapeError>(given.size(d) > 0, op, ": x ", given.sizes(), " has no elements in dim ", d);
    if (!is_batch) x = given.unsqueeze(0);
    for (std::size_t k = 0; k < 3; ++k) {
      Axis& a = axes[k];
      a = {x.size(std::int64_t(k) + 2), kernel[k], stride ? (*stride)[k] : kernel[k], padding[k], dilation[k]};
      check<ValueError>(a.kernel > 0 && a.stride > 0 && a.dilation > 0, op,
                        ": kernel_size, stride and dilation must be 1 or more, got ", a.kernel, ", ", a.stride, " and ",
                        a.dilation);
      check<ValueError>(a.padding >= 0 && a.padding <= a.kernel / 2, op, ": padding ", a.padding,
                        " must be from 0 to half of the window, ", a.kernel);
      const std::int64_t room = a.size + 2 * a.padding - a.dilation * (a.kernel - 1) - 1;
      check<ShapeError>(room >= 0, op, ": the window covers ", a.dilation * (a.kernel - 1) + 1, " but x ", x.sizes(),
                        " with padding ", a.padding, " is only ", a.size + 2 * a.padding, " in dim ", k + 2);
      a.count = (room + (ceil_mode ? a.stride - 1 : 0)) / a.stride + 1;
      if (ceil_mode && (a.count - 1) * a.stride >= a.size + a.padding) --a.count;  // it would begin in the padding
    }
  }

  /// Calls f(elements under the tap [n, c, windows...], its steps from the window's first element).
  template <class F>
  void for_each_tap(double fill, F f) const {
    IntVec ends;
    for (std::size_t k = 3; k-- > 0;) ends.insert(ends.end(), {axes[k].padding, axes[k].padding_after()});
    const Tensor padded = pad(x, ends, "constant", fill);
    for (std::int64_t i = 0; i < axes[0].kernel; ++i)
      for (std::int64_t j = 0; j < axes[1].kernel; ++j)
        for (std::int64_t k = 0; k < axes[2].kernel; ++k) {
          const std::array<std::int64_t, 3> tap{i, j, k};
          Tensor part = padded;
          std::int64_t offset = 0;
          for (std::size_t d = 0; d < 3; ++d) {
            const Axis& a = axes[d];
            const std::int64_t first = tap[d] * a.dilation;
            part = part.slice(std::int64_t(d) + 2, first, first + (a.count - 1) * a.stride + 1, a.stride);
            offset = offset * a.size + first;
          }
          f(part, offset);
        }
  }
  /// A number for each window that is the product of one for each dim.
  template <class F>
  std::vector<std::int64_t> of_windows(F combine, std::int64_t start) const {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < axes[0].count; ++i)
      for (std::int64_t j = 0; j < axes[1].count; ++j)
        for (std::int64_t k = 0; k < axes[2].count; ++k)
          all.push_back(combine(combine(combine(start, axes[0], i), axes[1], j), axes[2], k));
    return all;
  }
  Tensor shaped(std::vector<std::int64_t>&& values) const {
    return constant_on(x.device(), from_vector(std::move(values), IntVec{axes[0].count, axes[1].count, axes[2].count}));
  }
  Tensor finished(const Tensor& y) const { return is_batch ? y : y.squeeze(0); }
};

}  // namespace

Tensor max_pool3d(const Tensor& x, IntTriple kernel_size, const MaxPool3dOptions& o) {
  return max_pool3d_with_indices(x, kernel_size, o).first;
}
std::pair<Tensor, Tensor> max_pool3d_with_indices(const Tensor& x, IntTriple kernel_size, const MaxPool3dOptions& o) {
  const Pool3d pool("max_pool3d", x, kernel_size, o.stride, o.padding, o.dilation, o.ceil_mode);
  TensorList taps;
  std::vector<std::int64_t> offsets;
  pool.for_each_tap(-std::numeric_limits<double>::infinity(), [&](const Tensor& part, std::int64_t offset) {
    taps.push_back(part);
    offsets.push_back(offset);
  });
  const auto [values, best] = stack(taps, -1).max(-1);
  // A place is where the window begins, counted through the volume, and the tap's offset from there.
  const Tensor begin = pool.shaped(pool.of_windows(
      [](std::int64_t at, const Axis& a, std::int64_t window) { return at * a.size + a.begin(window); }, 0));
  const Tensor from = constant_on(x.device(), from_vector(std::move(offsets)));
  const Tensor places = index_select(from, 0, best.reshape(-1)).view(best.sizes()).add(begin);
  return {pool.finished(values), pool.finished(places)};
}
std::tuple<Tensor&, Tensor&> max_pool3d_with_indices_out(Tensor& out, Tensor& indices, const Tensor& x,
                                                         IntTriple kernel_size, const MaxPool3dOptions& options) {
  return write_out("max_pool3d_with_indices", out, indices, max_pool3d_with_indices(x, kernel_size, options));
}

Tensor avg_pool3d(const Tensor& x, IntTriple kernel_size, const AvgPool3dOptions& o) {
  check<ValueError>(!o.divisor_override || *o.divisor_override != 0, "avg_pool3d: divisor_override must not be 0");
  const Pool3d pool("avg_pool3d", x, kernel_size, o.stride, o.padding, 1, o.ceil_mode);
  Tensor sum;
  pool.for_each_tap(0, [&](const Tensor& part, std::int64_t) { sum = sum.defined() ? sum.add(part) : part; });
  if (o.divisor_override) return pool.finished(sum.div(double(*o.divisor_override)));
  const auto counted = [&](std::int64_t product, const Axis& a, std::int64_t window) {
    const std::int64_t begin = a.begin(window), end = std::min(begin + a.kernel, a.size + a.padding);
    return product * (o.count_include_pad ? end - begin : std::min(end, a.size) - std::max<std::int64_t>(begin, 0));
  };
  return pool.finished(sum.div(pool.shaped(pool.of_windows(counted, 1))));
}
Tensor& avg_pool3d_out(Tensor& out, const Tensor& x, IntTriple kernel_size, const AvgPool3dOptions& options) {
  return write_out("avg_pool3d", out, avg_pool3d(x, kernel_size, options));
}

}  // namespace taper
