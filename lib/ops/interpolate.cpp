#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/resample.h>
#include <taper/ops/resample_dim.h>
#include <taper/ops/view.h>

#include <algorithm>
#include <cmath>

#include "image_order.h"
#include "write_out.h"

namespace taper {
namespace {

/// How one dim is resampled: result entry i is at ratio * i, or for samples that have a width, at their centres.
struct Axis {
  std::int64_t in, out;
  double ratio;
  bool align;
  double centre(std::int64_t i) const { return align ? ratio * double(i) : ratio * (double(i) + 0.5) - 0.5; }
};

using Taps = ResampleTaps;

Taps nearest(const Axis& a, bool exact) {
  Taps taps{.in = a.in};
  // In float, as the places of PyTorch are.
  const float ratio = float(a.ratio);
  for (std::int64_t i = 0; i < a.out; ++i) {
    const float at = std::floor((float(i) + (exact ? 0.5f : 0.f)) * ratio);
    taps.add(std::min(std::int64_t(at), a.in - 1), 1);
    taps.end_entry();
  }
  return taps;
}
Taps linear(const Axis& a) {
  Taps taps{.in = a.in};
  for (std::int64_t i = 0; i < a.out; ++i) {
    const double at = a.out == a.in ? double(i) : std::max(a.centre(i), 0.);  // as PyTorch, whatever the scale is
    const std::int64_t low = std::min(std::int64_t(at), a.in - 1), high = std::min(low + 1, a.in - 1);
    const double share = std::clamp(at - double(low), 0., 1.);
    taps.add(low, 1 - share);
    if (share > 0) taps.add(high, share);  // an infinity there does not count
    taps.end_entry();
  }
  return taps;
}
/// Keys 1981: the cubic convolution kernel.
double cubic(double x, double a) {
  x = std::fabs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}
Taps bicubic(const Axis& a) {
  Taps taps{.in = a.in};
  for (std::int64_t i = 0; i < a.out; ++i) {
    const double at = a.centre(i), low = std::floor(at);
    for (int k = 0; k < 4; ++k) {
      const std::int64_t from = std::clamp<std::int64_t>(std::int64_t(low) - 1 + k, 0, a.in - 1);
      taps.add(from, cubic(at - (low - 1 + k), -0.75));
    }
    taps.end_entry();
  }
  return taps;
}

Tensor along(const Tensor& x, std::int64_t d, Taps&& taps) {
  return ops::resample(x, Resampling{d, std::make_shared<const Taps>(std::move(taps)), {}});
}

/// Averages over the parts that the dim is cut into.
Taps area(const Axis& a) {
  Taps taps{.in = a.in};
  for (std::int64_t i = 0; i < a.out; ++i) {
    const std::int64_t begin = i * a.in / a.out, end = ((i + 1) * a.in + a.out - 1) / a.out;
    for (std::int64_t j = begin; j < end; ++j) taps.add(j, 1 / double(end - begin));
    taps.end_entry();
  }
  return taps;
}
/// The kernel made as wide as what a sample of the result covers.
Taps antialiased(const Axis& a, bool is_cubic) {
  Taps taps{.in = a.in};
  const double width = std::max(a.ratio, 1.), support = (is_cubic ? 2 : 1) * width;
  for (std::int64_t i = 0; i < a.out; ++i) {
    const double centre = a.ratio * (double(i) + 0.5);
    const std::int64_t begin = std::max<std::int64_t>(std::int64_t(centre - support + 0.5), 0);
    const std::int64_t end = std::min(std::int64_t(centre + support + 0.5), a.in);
    double sum = 0;
    for (std::int64_t j = begin; j < end; ++j) {
      const double x = (double(j) - centre + 0.5) / width;
      taps.add(j, is_cubic ? cubic(x, -0.5) : std::max(1 - std::fabs(x), 0.));
      sum += taps.weights.back();
    }
    for (std::int64_t t = taps.begins.back(); t < std::int64_t(taps.weights.size()) && sum != 0; ++t)
      taps.weights[std::size_t(t)] /= sum;
    taps.end_entry();
  }
  return taps;
}

constexpr double kMostSamples = 1 << 30;

std::int64_t dims_of_mode(std::string_view mode) {
  return mode == "linear" ? 1 : mode == "bilinear" || mode == "bicubic" ? 2 : mode == "trilinear" ? 3 : 0;
}

std::vector<Axis> axes_of(const Tensor& x, const InterpolateOptions& o) {
  const std::int64_t spatial = x.dim() - 2, fixed = dims_of_mode(o.mode);
  const bool known = fixed != 0 || o.mode == "nearest" || o.mode == "nearest-exact" || o.mode == "area";
  check<ValueError>(known, "interpolate: mode is '", o.mode,
                    "', expected nearest, nearest-exact, linear, bilinear, trilinear, bicubic or area");
  check<ShapeError>(spatial >= 1 && spatial <= 3 && (fixed == 0 || fixed == spatial), "interpolate: mode ", o.mode,
                    " does not work on x ", x.sizes(), "; x is [n, c, ...] with ", fixed ? fixed : 1,
                    fixed ? " more" : " to 3 more");
  check<DTypeError>(x.is_floating_point(), "interpolate: needs a floating dtype, got x ", x.spec(),
                    "; convert with x.to(taper::float32) first");
  check<ValueError>(o.size.empty() != o.scale_factor.empty(), "interpolate: give either size or scale_factor");
  check<ValueError>(!o.align_corners || fixed != 0, "interpolate: align_corners has no meaning for mode ", o.mode);
  check<ValueError>(!o.antialias || fixed == 2, "interpolate: antialias is for bilinear and bicubic, not for ", o.mode);
  check<ValueError>(!o.recompute_scale_factor || o.size.empty(),
                    "interpolate: recompute_scale_factor goes with scale_factor, not with size");
  const std::size_t n = std::size_t(spatial);
  check<ShapeError>(o.size.empty() || o.size.size() == n, "interpolate: size ", o.size, " must have ", n,
                    " entries for x ", x.sizes());
  check<ShapeError>(o.scale_factor.size() <= 1 || o.scale_factor.size() == n, "interpolate: scale_factor has ",
                    o.scale_factor.size(), " entries, expected 1 or ", n, " for x ", x.sizes());
  std::vector<Axis> axes;
  const bool align = o.align_corners.value_or(false);
  for (std::size_t k = 0; k < n; ++k) {
    Axis a{x.size(std::int64_t(k) + 2), 0, 0, align};
    const double scale = o.size.empty() ? o.scale_factor[o.scale_factor.size() == 1 ? 0 : k] : 0;
    const double wanted = o.size.empty() ? std::floor(double(a.in) * scale) : double(o.size[k]);
    check<ValueError>(std::fabs(wanted) <= kMostSamples, "interpolate: scale_factor ", scale, " and size ", wanted,
                      " are too large in dim ", k + 2, "; a dim gets at most ", std::int64_t(kMostSamples), " entries");
    a.out = std::int64_t(wanted);
    check<ShapeError>(a.in > 0 && a.out > 0, "interpolate: sizes must be above 0, got ", a.in, " in and ", a.out,
                      " out in dim ", k + 2);
    if (align)
      a.ratio = a.out > 1 ? double(a.in - 1) / double(a.out - 1) : 0;
    else
      a.ratio = o.size.empty() && !o.recompute_scale_factor ? 1 / scale : double(a.in) / double(a.out);
    axes.push_back(a);
  }
  return axes;
}

}  // namespace

Tensor interpolate(const Tensor& x, const InterpolateOptions& o) {
  const std::vector<Axis> axes = axes_of(x, o);
  const ImageOrder order(x);
  Tensor out = order.in_memory(x);
  const bool is_nearest = o.mode == "nearest" || o.mode == "nearest-exact";
  for (std::size_t k = axes.size(); k-- > 0;) {  // the last dim while there are fewest lines
    const Axis& a = axes[k];
    out = along(out, order.dim(std::int64_t(k) + 2),
                o.mode == "area"      ? area(a)
                : o.antialias         ? antialiased(a, o.mode == "bicubic")
                : is_nearest          ? nearest(a, o.mode == "nearest-exact")
                : o.mode == "bicubic" ? bicubic(a)
                                      : linear(a));
  }
  return order.back(out);
}

Tensor pixel_shuffle(const Tensor& x, std::int64_t r) {
  check<ValueError>(r > 0, "pixel_shuffle: upscale_factor is ", r, ", expected 1 or more");
  check<ShapeError>(x.dim() >= 3 && x.size(-3) % (r * r) == 0, "pixel_shuffle: needs x [..., c * ", r * r,
                    ", h, w], got ", x);
  const std::int64_t c = x.size(-3) / (r * r), h = x.size(-2), w = x.size(-1);
  const IntVec lead(x.sizes().begin(), x.sizes().end() - 3);
  const auto shaped = [&](std::initializer_list<std::int64_t> last) {
    IntVec s = lead;
    s.insert(s.end(), last);
    return s;
  };
  IntVec order;
  const std::int64_t n = std::int64_t(lead.size());
  for (std::int64_t d = 0; d < n; ++d) order.push_back(d);
  order.insert(order.end(), {n, n + 3, n + 1, n + 4, n + 2});
  return x.reshape(shaped({c, r, r, h, w})).permute(order).reshape(shaped({c, h * r, w * r}));
}
Tensor& pixel_shuffle_out(Tensor& out, const Tensor& x, std::int64_t upscale_factor) {
  return write_out("pixel_shuffle", out, pixel_shuffle(x, upscale_factor));
}

Tensor pixel_unshuffle(const Tensor& x, std::int64_t r) {
  check<ValueError>(r > 0, "pixel_unshuffle: downscale_factor is ", r, ", expected 1 or more");
  check<ShapeError>(x.dim() >= 3 && x.size(-2) % r == 0 && x.size(-1) % r == 0,
                    "pixel_unshuffle: needs x [..., c, h * ", r, ", w * ", r, "], got ", x);
  const std::int64_t c = x.size(-3), h = x.size(-2) / r, w = x.size(-1) / r;
  const IntVec lead(x.sizes().begin(), x.sizes().end() - 3);
  const auto shaped = [&](std::initializer_list<std::int64_t> last) {
    IntVec s = lead;
    s.insert(s.end(), last);
    return s;
  };
  IntVec order;
  const std::int64_t n = std::int64_t(lead.size());
  for (std::int64_t d = 0; d < n; ++d) order.push_back(d);
  order.insert(order.end(), {n, n + 2, n + 4, n + 1, n + 3});
  return x.reshape(shaped({c, h, r, w, r})).permute(order).reshape(shaped({c * r * r, h, w}));
}
Tensor& pixel_unshuffle_out(Tensor& out, const Tensor& x, std::int64_t downscale_factor) {
  return write_out("pixel_unshuffle", out, pixel_unshuffle(x, downscale_factor));
}

}  // namespace taper
