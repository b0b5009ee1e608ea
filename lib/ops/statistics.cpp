#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/index.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/scan.h>
#include <taper/ops/sort.h>
#include <taper/ops/statistics.h>
#include <taper/ops/view.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "value_checks.h"
#include "wrap_dim.h"
#include "write_out.h"

namespace taper {
namespace {

/// self with its dim last, the others in their order; one dim stands in for none.
Tensor with_last(const char* op, const Tensor& self, std::int64_t dim) {
  const std::int64_t at = wrap_dim(op, dim, self);
  return self.dim() == 0 ? self.unsqueeze(0) : movedim(self, at, -1);
}
void need_entries(const char* op, const Tensor& lines, const Tensor& self) {
  check<ValueError>(lines.size(-1) > 0, op, ": ", self, " has no entries there, and no entries have no ", op);
}

/// The entry at `at`, of size 1 in the last dim, of each line, and where it is.
std::tuple<Tensor, Tensor> entries(const Tensor& lines, const Tensor& at, const Tensor& self, std::int64_t dim,
                                   bool keepdim) {
  const auto finished = [&](const Tensor& t) {
    return keepdim && self.dim() > 0 ? movedim(t, -1, wrap_dim("", dim, self)) : t.squeeze(-1);
  };
  return {finished(lines.gather(-1, at)), finished(at)};
}

void refuse_gradient(const char* op, const Tensor& t) {
  check<AutogradError>(!detail::requires_grad_hook || !GradMode::is_enabled() || !detail::requires_grad_hook(t), op,
                       ": has no derivative, but ", t, " requires grad; use x.detach()");
}

}  // namespace

std::tuple<Tensor, Tensor> mode(const Tensor& self, std::int64_t dim, bool keepdim) {
  const Tensor lines = with_last("mode", self, dim);
  need_entries("mode", lines, self);
  const std::int64_t n = lines.size(-1);
  const auto [sorted, order] = sort(lines.detach());
  // Each entry's place in its run of equals. The first of the largest ends the first of the longest runs.
  Tensor first = full(lines.sizes(), true, bool_, self.device());
  first.narrow(-1, 1, n - 1).copy_(sorted.narrow(-1, 1, n - 1).ne(sorted.narrow(-1, 0, n - 1)));
  const Tensor place = arange(n, {.dtype = int64, .device = self.device()});
  const Tensor start = std::get<0>(where(first, place, 0).cummax(-1));
  return entries(lines, order.gather(-1, place.sub(start).argmax(-1, true)), self, dim, keepdim);
}
std::tuple<Tensor&, Tensor&> mode_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t dim,
                                      bool keepdim) {
  return write_out("mode", values, indices, mode(self, dim, keepdim));
}

std::tuple<Tensor, Tensor> nanmedian(const Tensor& self, std::int64_t dim, bool keepdim) {
  const Tensor lines = with_last("nanmedian", self, dim);
  need_entries("nanmedian", lines, self);
  const Tensor order = argsort(lines);  // NaN comes last
  const Tensor count = lines.detach().isnan().logical_not().sum(-1, true);
  const Tensor middle = count.sub(1).clamp_min(0).floor_divide(2);
  return entries(lines, order.gather(-1, middle), self, dim, keepdim);
}
std::tuple<Tensor&, Tensor&> nanmedian_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t dim,
                                           bool keepdim) {
  return write_out("nanmedian", values, indices, nanmedian(self, dim, keepdim));
}
Tensor nanmedian(const Tensor& self) {
  if (self.numel() == 0) return median(self);
  return std::get<0>(nanmedian(self.reshape(-1), 0));
}

namespace {
/// A number of the host is looked at on every device.
void need_part(const char* op, double q) { check<ValueError>(q >= 0 && q <= 1, op, ": q must lie in [0, 1], got ", q); }
Tensor quantile_of(const char* op, const Tensor& self, const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                   std::string_view interpolation, bool ignores_nan) {
  check<DTypeError>(self.dtype() == float32 || self.dtype() == float64, op, ": needs float32 or float64, got self ",
                    self, "; convert it with to(taper::float32)");
  check<DTypeError>(q.dtype() == self.dtype(), op, ": q is ", q, " but self is ", self,
                    "; convert it with to(taper::", self.dtype(), ")");
  check<ShapeError>(q.dim() <= 1, op, ": q must be a number or a vector, got ", q);
  constexpr std::string_view kinds[] = {"linear", "lower", "higher", "midpoint", "nearest"};
  check<ValueError>(std::find(std::begin(kinds), std::end(kinds), interpolation) != std::end(kinds), op,
                    ": interpolation is '", interpolation,
                    "', expected \"linear\", \"lower\", \"higher\", \"midpoint\" or \"nearest\"");
  expect_between(op, q, 0, 1, "q must lie in [0, 1]");

  const Tensor lines = dim ? with_last(op, self, *dim) : self.reshape(-1);
  need_entries(op, lines, self);
  check<ValueError>(self.dtype() == float64 || lines.size(-1) <= 1 << 24, op, ": lines of ", lines.size(-1),
                    " entries are too long for ranks in float32; convert self with to(taper::float64)");
  const Tensor sorted = std::get<0>(sort(lines));  // NaN comes last
  const Tensor missing = sorted.detach().isnan();
  Tensor rank;  // of each q in each line, counted from 0
  if (ignores_nan) {
    const Tensor last = missing.logical_not().sum(-1, true).sub(1).clamp_min(0);
    rank = q.reshape(-1).mul(last.to(self.dtype()));
  } else {
    const std::int64_t last = lines.size(-1) - 1;
    rank = where(missing.select(-1, last).unsqueeze(-1), double(last), q.reshape(-1).mul(double(last)));
  }
  if (interpolation == "lower") rank = rank.floor();
  if (interpolation == "higher") rank = rank.ceil();
  if (interpolation == "nearest") rank = rank.round();
  const Tensor below = rank.detach().floor();
  Tensor result = sorted.gather(-1, below.to(int64));
  if (interpolation == "linear" || interpolation == "midpoint") {
    const Tensor above = sorted.gather(-1, rank.detach().ceil().to(int64));
    result = interpolation == "linear" ? result.lerp(above, rank.sub(below)) : result.lerp(above, 0.5);
  }
  result = movedim(result, -1, 0);  // [number of q, ...]
  if (keepdim && dim && self.dim() > 0) result = result.unsqueeze(wrap_dim(op, *dim, self) + 1);
  if (keepdim && !dim) {
    IntVec sizes(std::size_t(self.dim()) + 1, 1);
    sizes[0] = q.numel();
    result = result.view(sizes);
  }
  return q.dim() == 0 ? result.squeeze(0) : result;
}
Tensor as_tensor(const Tensor& self, double q) { return full(IntSpan{}, q, self.dtype(), self.device()); }
}  // namespace

Tensor quantile(const Tensor& self, double q, std::optional<std::int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  need_part("quantile", q);
  return quantile(self, as_tensor(self, q), dim, keepdim, interpolation);
}
Tensor quantile(const Tensor& self, const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  return quantile_of("quantile", self, q, dim, keepdim, interpolation, false);
}
Tensor nanquantile(const Tensor& self, double q, std::optional<std::int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  need_part("nanquantile", q);
  return nanquantile(self, as_tensor(self, q), dim, keepdim, interpolation);
}
Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  return quantile_of("nanquantile", self, q, dim, keepdim, interpolation, true);
}
Tensor& quantile_out(Tensor& out, const Tensor& self, const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                     std::string_view interpolation) {
  return write_out("quantile", out, quantile(self, q, dim, keepdim, interpolation));
}
Tensor& nanquantile_out(Tensor& out, const Tensor& self, const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                        std::string_view interpolation) {
  return write_out("nanquantile", out, nanquantile(self, q, dim, keepdim, interpolation));
}

Tensor histc(const Tensor& self, std::int64_t bins, double min, double max) {
  check<DTypeError>(self.is_floating_point(), "histc: needs a floating dtype, got ", self,
                    "; convert with to(taper::float32)");
  check<ValueError>(bins > 0, "histc: bins is ", bins, ", expected 1 or more");
  check<DeviceError>(!self.device().is_meta() || min != max,
                     "histc: the range cannot be worked out on meta; give min and max");
  refuse_gradient("histc", self);
  if (self.device().is_meta()) return empty({bins}, {.dtype = self.dtype(), .device = self.device()});
  const Tensor x = self.detach().reshape(-1);
  if (min == max && x.numel() > 0) min = x.min().to(float64).item<double>(), max = x.max().to(float64).item<double>();
  if (min == max) min -= 1, max += 1;
  check<ValueError>(std::isfinite(min) && std::isfinite(max) && min < max, "histc: the range is ", min, " to ", max,
                    ", expected finite numbers of which max is the larger");
  const DType wide = x.dtype() == float64 ? float64 : float32;
  const Tensor all = x.to(wide);
  const Tensor inside = masked_select(all, all.ge(min).logical_and(all.le(max)));
  const Tensor part = inside.sub(min).div(max - min).mul(double(bins)).to(int64).clamp_max(bins - 1);
  return bincount(part, {}, bins).to(self.dtype());
}
Tensor& histc_out(Tensor& out, const Tensor& self, std::int64_t bins, double min, double max) {
  return write_out("histc", out, histc(self, bins, min, max));
}

Tensor cov(const Tensor& self, std::int64_t correction) {
  check<ShapeError>(self.dim() <= 2, "cov: needs a vector or a matrix, got ", self);
  check<DTypeError>(self.is_floating_point(), "cov: needs a floating dtype, got ", self,
                    "; convert with to(taper::float32)");
  const Tensor x = self.dim() == 2 ? self : self.reshape({1, self.numel()});
  const Tensor centred = x.sub(x.mean(1, true));
  const Tensor c = matmul(centred, centred.t()).div(double(std::max<std::int64_t>(x.size(1) - correction, 0)));
  return self.dim() == 2 ? c : c.reshape(IntSpan());
}
Tensor corrcoef(const Tensor& self) {
  check<ShapeError>(self.dim() <= 2, "corrcoef: needs a vector or a matrix, got ", self);
  const Tensor c = cov(self);
  if (c.dim() == 0) return c.div(c);
  const Tensor deviation = c.diagonal().sqrt();
  return c.div(deviation.unsqueeze(1)).div(deviation).clamp(-1, 1);
}

Tensor Tensor::histc(std::int64_t bins, double min, double max) const { return taper::histc(*this, bins, min, max); }
std::tuple<Tensor, Tensor> Tensor::mode(std::int64_t dim, bool keepdim) const {
  return taper::mode(*this, dim, keepdim);
}
Tensor Tensor::nanmedian() const { return taper::nanmedian(*this); }
std::tuple<Tensor, Tensor> Tensor::nanmedian(std::int64_t dim, bool keepdim) const {
  return taper::nanmedian(*this, dim, keepdim);
}
Tensor Tensor::quantile(double q, std::optional<std::int64_t> dim, bool keepdim, std::string_view interpolation) const {
  return taper::quantile(*this, q, dim, keepdim, interpolation);
}
Tensor Tensor::quantile(const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                        std::string_view interpolation) const {
  return taper::quantile(*this, q, dim, keepdim, interpolation);
}
Tensor Tensor::nanquantile(double q, std::optional<std::int64_t> dim, bool keepdim,
                           std::string_view interpolation) const {
  return taper::nanquantile(*this, q, dim, keepdim, interpolation);
}
Tensor Tensor::nanquantile(const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                           std::string_view interpolation) const {
  return taper::nanquantile(*this, q, dim, keepdim, interpolation);
}
Tensor Tensor::cov(std::int64_t correction) const { return taper::cov(*this, correction); }
Tensor Tensor::corrcoef() const { return taper::corrcoef(*this); }

}  // namespace taper
