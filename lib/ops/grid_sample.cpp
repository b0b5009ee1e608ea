// Images and volumes at given points, made of gather() and arithmetic on the points.
#include <taper/factory.h>
#include <taper/ops/index.h>
#include <taper/ops/join.h>
#include <taper/ops/math.h>
#include <taper/ops/math_binary.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/resample.h>
#include <taper/ops/view.h>

namespace taper {
namespace {

enum class Outside : std::uint8_t { zeros, border, reflection };

/// Coordinates beyond the edges folded back at them.
Tensor reflected(const Tensor& at, std::int64_t size, bool align) {
  const double low = align ? 0 : -0.5, span = align ? double(size - 1) : double(size);
  if (span == 0) return at.mul(0);
  const Tensor distance = (at - low).abs(), extra = fmod(distance, span);
  const Tensor turned = (distance / span).floor().remainder(2).eq(1);
  return where(turned, span - extra, extra) + low;
}
Tensor placed(const Tensor& at, std::int64_t size, bool align, Outside outside) {
  if (outside == Outside::zeros) return at;
  return (outside == Outside::reflection ? reflected(at, size, align) : at).clamp(0, double(size - 1));
}

/// x's elements at whole coordinates at[d] [n, points], x's dims being [n, c, ...]; 0 outside.
Tensor elements_at(const Tensor& x, const TensorList& at) {
  const std::size_t dims = at.size();
  const std::int64_t n = x.size(0), c = x.size(1), points = at[0].size(1);
  Tensor place = zeros({n, points}, int64, x.device()), inside = ones({n, points}, bool_, x.device());
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t size = x.size(std::int64_t(d) + 2);
    const Tensor whole = at[d].detach();
    inside = inside.logical_and(whole.ge(0)).logical_and(whole.le(double(size - 1)));
    place = place.mul(size).add(whole.nan_to_num().clamp(0, double(size - 1)).to(int64));
  }
  const Tensor values = gather(x.reshape({n, c, -1}), 2, place.unsqueeze(1).expand({n, c, points}));
  return where(inside.unsqueeze(1), values, 0);
}

Tensor linear_sample(const Tensor& x, const TensorList& at) {
  const std::size_t dims = at.size();
  TensorList low, share;
  for (const Tensor& t : at) {
    low.push_back(t.detach().floor());
    share.push_back(t - low.back());
  }
  Tensor sum;
  for (std::size_t corner = 0; corner < std::size_t(1) << dims; ++corner) {
    TensorList places;
    Tensor weight;
    for (std::size_t d = 0; d < dims; ++d) {
      const bool high = corner >> d & 1;
      places.push_back(high ? low[d] + 1 : low[d]);
      const Tensor w = high ? share[d] : 1 - share[d];
      weight = d == 0 ? w : weight * w;
    }
    const Tensor part = elements_at(x, places) * weight.unsqueeze(1);
    sum = corner == 0 ? part : sum + part;
  }
  return sum;
}

/// Keys 1981, with a = -0.75, for distances below 1 and between 1 and 2.
Tensor cubic_inner(const Tensor& t) { return (t * 1.25 - 2.25) * t * t + 1; }
Tensor cubic_outer(const Tensor& t) { return (((t - 5) * t + 8) * t - 4) * -0.75; }

Tensor cubic_sample(const Tensor& x, const TensorList& at, bool align, Outside outside) {
  TensorList low;
  std::vector<TensorList> weights;
  for (const Tensor& t : at) {
    low.push_back(t.detach().floor());
    const Tensor s = t - low.back();
    weights.push_back({cubic_outer(s + 1), cubic_inner(s), cubic_inner(1 - s), cubic_outer(2 - s)});
  }
  Tensor sum;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const TensorList places{placed(low[0] + (i - 1), x.size(2), align, outside).round(),
                              placed(low[1] + (j - 1), x.size(3), align, outside).round()};
      const Tensor weight = weights[0][std::size_t(i)] * weights[1][std::size_t(j)];
      const Tensor part = elements_at(x, places) * weight.unsqueeze(1);
      sum = sum.defined() ? sum + part : part;
    }
  return sum;
}

}  // namespace

Tensor grid_sample(const Tensor& x, const Tensor& grid, std::string_view mode, std::string_view padding_mode,
                   bool align_corners) {
  check<ShapeError>((x.dim() == 4 || x.dim() == 5) && grid.dim() == x.dim() && grid.size(-1) == x.dim() - 2,
                    "grid_sample: needs x [n, c, h, w] and grid [n, h2, w2, 2], or one dim more and 3, got x ",
                    x.sizes(), " and grid ", grid.sizes());
  check<ShapeError>(x.size(0) == grid.size(0), "grid_sample: x ", x.sizes(), " and grid ", grid.sizes(),
                    " differ in their first dims");
  check<DTypeError>(x.is_floating_point() && x.dtype() == grid.dtype(), "grid_sample: x is ", x.dtype(),
                    " and grid is ", grid.dtype(), ", expected one floating dtype");
  check<ValueError>(mode == "bilinear" || mode == "nearest" || (mode == "bicubic" && x.dim() == 4),
                    "grid_sample: mode is '", mode, "', expected bilinear, nearest or, for images, bicubic");
  check<ValueError>(padding_mode == "zeros" || padding_mode == "border" || padding_mode == "reflection",
                    "grid_sample: padding_mode is '", padding_mode, "', expected zeros, border or reflection");
  const Outside outside = padding_mode == "zeros"    ? Outside::zeros
                          : padding_mode == "border" ? Outside::border
                                                     : Outside::reflection;
  const std::int64_t n = x.size(0), dims = x.dim() - 2;
  for (std::int64_t d = 0; d < dims; ++d)
    check<ShapeError>(x.size(d + 2) > 0, "grid_sample: x ", x.sizes(), " has no elements to take");
  const Tensor points = grid.reshape({n, -1, dims});
  TensorList at;  // in the order of x's dims, where the grid's is the reverse
  for (std::int64_t d = 0; d < dims; ++d) {
    const std::int64_t size = x.size(d + 2);
    const Tensor p = points.select(2, dims - 1 - d) + 1;
    const Tensor raw = align_corners ? p * (double(size - 1) / 2) : p * (double(size) / 2) - 0.5;
    at.push_back(mode == "bicubic" ? raw : placed(raw, size, align_corners, outside));
  }
  Tensor out;
  if (mode == "bilinear") {
    out = linear_sample(x, at);
  } else if (mode == "nearest") {
    for (Tensor& t : at) t = t.round();
    // The points count, though small steps of them change nothing: their gradient is 0.
    const Tensor no_step = where(full(IntSpan{}, false, bool_, x.device()), points.sum(IntSpan{2}), 0);
    out = elements_at(x, at) + no_step.unsqueeze(1);
  } else {
    out = cubic_sample(x, at, align_corners, outside);
  }
  IntVec sizes{n, x.size(1)};
  for (std::int64_t d = 0; d < dims; ++d) sizes.push_back(grid.size(d + 1));
  return out.reshape(sizes);
}

Tensor affine_grid(const Tensor& theta, IntSpan size, bool align_corners) {
  const std::int64_t dims = std::int64_t(size.size()) - 2;
  check<ShapeError>(
      (dims == 2 || dims == 3) && theta.dim() == 3 && theta.size(0) == size[0] && theta.size(1) == dims &&
          theta.size(2) == dims + 1,
      "affine_grid: theta must be [n, 2, 3] for size [n, c, h, w], or [n, 3, 4] for [n, c, d, h, w], got ",
      theta.sizes(), " for ", size);
  check<DTypeError>(theta.is_floating_point(), "affine_grid: needs a floating dtype, got theta ", theta);
  // The points of the result, homogeneous: x, y, (z,) 1.
  IntVec spatial(size.begin() + 2, size.end());
  TensorList coordinates;
  for (std::int64_t d = dims - 1; d >= 0; --d) {
    const std::int64_t steps = spatial[std::size_t(d)];
    Tensor line = linspace(-1, 1, steps, {.dtype = theta.dtype(), .device = theta.device()});
    if (steps == 1) line = line.mul(0);
    if (!align_corners && steps > 1) line = line.mul(double(steps - 1) / double(steps));
    IntVec shape(std::size_t(dims), 1);
    shape[std::size_t(d)] = steps;
    coordinates.push_back(line.view(shape).expand(spatial));
  }
  coordinates.push_back(ones(spatial, theta.dtype(), theta.device()));
  const Tensor points = stack(coordinates, -1).reshape({-1, dims + 1});
  IntVec sizes{size[0]};
  sizes.insert(sizes.end(), spatial.begin(), spatial.end());
  sizes.push_back(dims);
  return matmul(points, theta.transpose(1, 2)).reshape(sizes);
}

}  // namespace taper
