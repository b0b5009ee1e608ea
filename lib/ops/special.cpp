#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/math.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/special.h>
#include <taper/promotion.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "elementwise.h"
#include "op_names.h"
#include "write_out.h"

namespace taper {
namespace {

template <OpName op>
TensorSpec infer_floating(const Tensor& self) {
  return elementwise_spec(op.text, floating_of(self.dtype()), self);
}
TensorSpec infer_polygamma(const Tensor& self, const std::int64_t& n) {
  check<ValueError>(n >= 0, "polygamma: n is ", n, ", expected 0 or more");
  return elementwise_spec("polygamma", floating_of(self.dtype()), self);
}
TensorSpec infer_logit(const Tensor& self, const std::optional<double>&) {
  return elementwise_spec("logit", floating_of(self.dtype()), self);
}
TensorSpec infer_signbit(const Tensor& self) { return elementwise_spec("signbit", bool_, self); }

void need_floating(const char* op, const Tensor& self) {
  check<DTypeError>(self.is_floating_point(), op, ": needs a floating dtype, got ", self,
                    "; convert with x.to(taper::float32) first");
}

}  // namespace

namespace ops {
// clang-format off
constinit StructuredOp<Tensor(Tensor)> sinc{"sinc", "self", infer_floating<"sinc">, "sinc_"};
constinit StructuredOp<Tensor(Tensor)> erfinv{"erfinv", "self", infer_floating<"erfinv">, "erfinv_"};
constinit StructuredOp<Tensor(Tensor)> lgamma{"lgamma", "self", infer_floating<"lgamma">, "lgamma_"};
constinit StructuredOp<Tensor(Tensor)> digamma{"digamma", "self", infer_floating<"digamma">, "digamma_"};
constinit StructuredOp<Tensor(Tensor)> special_entr{"special_entr", "self", infer_floating<"special_entr">};
constinit StructuredOp<Tensor(Tensor)> signbit{"signbit", "self", infer_signbit};
constinit StructuredOp<Tensor(Tensor, std::int64_t)> polygamma{"polygamma", "self, n", infer_polygamma, "polygamma_"};
constinit StructuredOp<Tensor(Tensor, std::optional<double>)> logit{"logit", "self, eps", infer_logit, "logit_"};
// clang-format on
}  // namespace ops

Tensor sinc(const Tensor& self) { return ops::sinc(self); }
Tensor& sinc_out(Tensor& out, const Tensor& self) { return ops::sinc.out(out, self); }
Tensor Tensor::sinc() const { return ops::sinc(*this); }
Tensor& Tensor::sinc_() { return ops::sinc.inplace(*this, *this); }
Tensor erfinv(const Tensor& self) { return ops::erfinv(self); }
Tensor& erfinv_out(Tensor& out, const Tensor& self) { return ops::erfinv.out(out, self); }
Tensor Tensor::erfinv() const { return ops::erfinv(*this); }
Tensor& Tensor::erfinv_() { return ops::erfinv.inplace(*this, *this); }
Tensor lgamma(const Tensor& self) { return ops::lgamma(self); }
Tensor& lgamma_out(Tensor& out, const Tensor& self) { return ops::lgamma.out(out, self); }
Tensor Tensor::lgamma() const { return ops::lgamma(*this); }
Tensor& Tensor::lgamma_() { return ops::lgamma.inplace(*this, *this); }
Tensor digamma(const Tensor& self) { return ops::digamma(self); }
Tensor& digamma_out(Tensor& out, const Tensor& self) { return ops::digamma.out(out, self); }
Tensor Tensor::digamma() const { return ops::digamma(*this); }
Tensor& Tensor::digamma_() { return ops::digamma.inplace(*this, *this); }
Tensor polygamma(std::int64_t n, const Tensor& self) { return ops::polygamma(self, n); }
Tensor& polygamma_out(Tensor& out, std::int64_t n, const Tensor& self) { return ops::polygamma.out(out, self, n); }
Tensor logit(const Tensor& self, std::optional<double> eps) { return ops::logit(self, eps); }
Tensor& logit_out(Tensor& out, const Tensor& self, std::optional<double> eps) { return ops::logit.out(out, self, eps); }
Tensor Tensor::logit(std::optional<double> eps) const { return ops::logit(*this, eps); }
Tensor& Tensor::logit_(std::optional<double> eps) { return ops::logit.inplace(*this, *this, eps); }
Tensor special_entr(const Tensor& self) { return ops::special_entr(self); }
Tensor& special_entr_out(Tensor& out, const Tensor& self) { return ops::special_entr.out(out, self); }

Tensor frac(const Tensor& self) {
  need_floating("frac", self);
  return self.sub(self.trunc());
}
Tensor& frac_out(Tensor& out, const Tensor& self) { return write_out("frac", out, frac(self)); }
Tensor Tensor::frac() const { return taper::frac(*this); }
Tensor& Tensor::frac_() {
  need_floating("frac_", *this);
  return sub_(trunc());
}
Tensor deg2rad(const Tensor& self) { return self.mul(std::numbers::pi / 180); }
Tensor& deg2rad_out(Tensor& out, const Tensor& self) { return write_out("deg2rad", out, deg2rad(self)); }
Tensor Tensor::deg2rad() const { return taper::deg2rad(*this); }
Tensor& Tensor::deg2rad_() { return mul_(std::numbers::pi / 180); }
Tensor rad2deg(const Tensor& self) { return self.mul(180 / std::numbers::pi); }
Tensor& rad2deg_out(Tensor& out, const Tensor& self) { return write_out("rad2deg", out, rad2deg(self)); }
Tensor Tensor::rad2deg() const { return taper::rad2deg(*this); }
Tensor& Tensor::rad2deg_() { return mul_(180 / std::numbers::pi); }

Tensor nan_to_num(const Tensor& self, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  if (!self.is_floating_point()) return self.clone();
  double most = std::numeric_limits<double>::max();
  if (self.dtype() == float32) most = double(std::numeric_limits<float>::max());
  if (self.dtype() == float16) most = 65504;
  if (self.dtype() == bfloat16) most = std::ldexp(255. / 128, 127);
  const double inf = std::numeric_limits<double>::infinity();
  const auto number = [&](double v) { return full(IntSpan{}, v, self.dtype(), self.device()); };
  Tensor out = where(self.isnan(), number(nan), self);
  out = where(self.eq(inf), number(posinf.value_or(most)), out);
  return where(self.eq(-inf), number(neginf.value_or(-most)), out);
}
Tensor& nan_to_num_out(Tensor& out, const Tensor& self, double nan, std::optional<double> posinf,
                       std::optional<double> neginf) {
  return write_out("nan_to_num", out, nan_to_num(self, nan, posinf, neginf));
}
Tensor Tensor::nan_to_num(double nan, std::optional<double> posinf, std::optional<double> neginf) const {
  return taper::nan_to_num(*this, nan, posinf, neginf);
}
Tensor& Tensor::nan_to_num_(double nan, std::optional<double> posinf, std::optional<double> neginf) {
  return copy_(taper::nan_to_num(*this, nan, posinf, neginf));
}

Tensor positive(const Tensor& self) {
  check<DTypeError>(self.dtype() != bool_, "positive: is not defined for bool, got ", self,
                    "; convert with x.to(taper::int64) first");
  return self;
}
Tensor Tensor::positive() const { return taper::positive(*this); }

Tensor round(const Tensor& self, std::int64_t decimals) {
  if (decimals == 0) return self.round();
  need_floating("round with decimals", self);
  const double scale = std::pow(10., double(decimals < 0 ? -decimals : decimals));
  return decimals > 0 ? self.mul(scale).round().div(scale) : self.div(scale).round().mul(scale);
}
Tensor Tensor::round(std::int64_t decimals) const { return taper::round(*this, decimals); }
Tensor& Tensor::round_(std::int64_t decimals) {
  return decimals == 0 ? round_() : copy_(taper::round(*this, decimals));
}

Tensor signbit(const Tensor& self) { return ops::signbit(self); }
Tensor& signbit_out(Tensor& out, const Tensor& self) { return ops::signbit.out(out, self); }
Tensor Tensor::signbit() const { return ops::signbit(*this); }
Tensor isposinf(const Tensor& self) { return self.eq(std::numeric_limits<double>::infinity()); }
Tensor& isposinf_out(Tensor& out, const Tensor& self) { return write_out("isposinf", out, isposinf(self)); }
Tensor Tensor::isposinf() const { return taper::isposinf(*this); }
Tensor isneginf(const Tensor& self) { return self.eq(-std::numeric_limits<double>::infinity()); }
Tensor& isneginf_out(Tensor& out, const Tensor& self) { return write_out("isneginf", out, isneginf(self)); }
Tensor Tensor::isneginf() const { return taper::isneginf(*this); }

Tensor Tensor::polygamma(std::int64_t n) const { return ops::polygamma(*this, n); }
Tensor& Tensor::polygamma_(std::int64_t n) { return ops::polygamma.inplace(*this, *this, n); }

}  // namespace taper
