// Derivatives of elementwise operators. What a rule saves is what PyTorch's saves, so that the same programs are told
// about a write between forward and backward.
#include <taper/autograd/record.h>
#include <taper/factory.h>
#include <taper/ops/pointwise.h>

#include "from_argument.h"
#include "rules.h"

namespace taper {
namespace {

bool is_one(const Scalar& s) { return s.is_floating() ? s.to<double>() == 1 : s.to<std::int64_t>() == 1; }
Tensor scaled(const Tensor& g, const Scalar& by) { return is_one(by) ? g : g * by; }

// ---- Sums, products, powers ----------------------------------------------------------------------------------------
struct AddBackward final : Node {
  Scalar alpha;
  void save(const Tensor&, const Tensor&, const Scalar& a) { alpha = a; }
  Gradients apply(Gradients g) override {
    return {wants(0) ? g[0] : Tensor(), wants(1) ? scaled(g[0], alpha) : Tensor()};
  }
};
struct SubBackward final : Node {
  Scalar alpha;
  void save(const Tensor&, const Tensor&, const Scalar& a) { alpha = a; }
  Gradients apply(Gradients g) override {
    return {wants(0) ? g[0] : Tensor(), wants(1) ? scaled(neg(g[0]), alpha) : Tensor()};
  }
};
struct MulBackward final : Node {
  Saved self{this, "self"}, other{this, "other"};
  bool saves_self() const { return wants(1); }
  void save(const Tensor& a, const Tensor& b) {
    if (wants(1)) self = a;
    if (wants(0)) other = b;
  }
  Gradients apply(Gradients g) override {
    return {wants(0) ? g[0] * other.get() : Tensor(), wants(1) ? g[0] * self.get() : Tensor()};
  }
};
struct MulScalarBackward final : Node {
  Scalar other;
  void save(const Tensor&, const Scalar& b) { other = b; }
  Gradients apply(Gradients g) override { return {g[0] * other}; }
};

struct DivBackward final : Node {
  Saved self{this, "self"}, other{this, "other"};
  bool saves_self() const { return wants(1); }
  void save(const Tensor& a, const Tensor& b) {
    if (wants(1)) self = a;
    other = b;
  }
  Gradients apply(Gradients g) override {
    const Tensor b = other;
    return {wants(0) ? g[0] / b : Tensor(), wants(1) ? neg(g[0]) * ((self.get() / b) / b) : Tensor()};
  }
};
struct DivScalarBackward final : Node {
  Scalar other;
  void save(const Tensor&, const Scalar& b) { other = b; }
  Gradients apply(Gradients g) override { return {g[0] / other}; }
};

struct PowBackward final : Node {
  Saved self{this, "self"}, exponent{this, "exponent"}, result{this, "result"};
  bool saves_self() const { return true; }
  void save(const Tensor& a, const Tensor& b) { self = a, exponent = b; }
  void save_output(const Tensor& y) {
    if (wants(1)) result.keep_output(y);
  }
  Gradients apply(Gradients g) override {
    const Tensor a = self, b = exponent;
    Gradients out(2);
    // b a^(b-1), which is 0 for b = 0 even where a^(-1) is infinite.
    if (wants(0)) out[0] = where(b == 0, 0, g[0] * (b * pow(a, b - 1)));
    if (wants(1)) {
      // a^b log a, whose limit at a = 0 is 0 for b >= 0. For b > 1 its derivatives are 0 there too: no log 0 in these.
      const Tensor base = where(logical_and(a == 0, b > 1), 1, a);
      out[1] = g[0] * where(logical_and(a == 0, b >= 0), 0, result.get() * log(base));
    }
    return out;
  }
};
/// One less, of the same kind: an integer power stays an integer.
Scalar one_less(const Scalar& s) {
  return s.is_floating() ? Scalar(s.to<double>() - 1) : Scalar(s.to<std::int64_t>() - 1);
}
Tensor power_gradient(const Tensor& g, const Tensor& self, const Scalar& exponent) {
  if (exponent.is_zero()) return zeros_like(g);
  return g * (pow(self, one_less(exponent)) * exponent);
}
struct PowScalarBackward final : Node {
  Scalar exponent;
  Saved self{this, "self"};
  bool saves_self() const { return true; }
  void save(const Tensor& a, const Scalar& b) { self = a, exponent = b; }
  Gradients apply(Gradients g) override { return {power_gradient(g[0], self, exponent)}; }
};
struct SquareBackward final : Node {
  Saved self{this, "self"};
  bool saves_self() const { return true; }
  void save(const Tensor& x) { self = x; }
  Gradients apply(Gradients g) override { return {g[0] * (self.get() * 2)}; }
};

// ---- Choice --------------------------------------------------------------------------------------------------------
/// Where the two are equal each gets half, so that the sum is right and neither is preferred.
template <bool larger>
struct ExtremumBackward final : Node {
  Saved self{this, "self"}, other{this, "other"};
  void save(const Tensor& a, const Tensor& b) { self = a, other = b; }
  Gradients apply(Gradients g) override {
    const Tensor a = self, b = other;
    const Tensor shared = where(a == b, g[0] / 2, g[0]);
    const Tensor self_loses = larger ? a < b : a > b, other_loses = larger ? a > b : a < b;
    return {wants(0) ? where(self_loses, 0, shared) : Tensor(), wants(1) ? where(other_loses, 0, shared) : Tensor()};
  }
};

struct WhereBackward final : Node {
  Saved condition{this, "condition"};
  void save(const Tensor& c, const Tensor&, const Tensor&) { condition = c; }
  Gradients apply(Gradients g) override {
    const Tensor c = condition;
    return {Tensor(), wants(1) ? where(c, g[0], 0) : Tensor(), wants(2) ? where(c, 0, g[0]) : Tensor()};
  }
};

/// Passes inside and at the bounds.
struct ClampBackward final : Node {
  Saved self{this, "self"};
  std::optional<Scalar> min, max;
  bool saves_self() const { return true; }
  void save(const Tensor& x, const std::optional<Scalar>& low, const std::optional<Scalar>& high) {
    self = x, min = low, max = high;
  }
  Gradients apply(Gradients g) override { return {ops::clamp_grad(g[0], self, min, max)}; }
};
template <bool is_min>
struct ClampOneBackward final : Node {
  Saved self{this, "self"};
  std::optional<Scalar> bound;
  bool saves_self() const { return true; }
  void save(const Tensor& x, const Scalar& b) { self = x, bound = b; }
  Gradients apply(Gradients g) override {
    const std::optional<Scalar> none;
    return {ops::clamp_grad(g[0], self, is_min ? bound : none, is_min ? none : bound)};
  }
};
struct ClampGradBackward final : Node {
  Saved self{this, "self"};
  std::optional<Scalar> min, max;
  void save(const Tensor&, const Tensor& x, const std::optional<Scalar>& low, const std::optional<Scalar>& high) {
    if (wants(0)) self = x;
    min = low, max = high;
  }
  Gradients apply(Gradients g) override {
    return {wants(0) ? ops::clamp_grad(g[0], self, min, max) : Tensor(), wants(1) ? zeros_like(g[0]) : Tensor()};
  }
};
struct ClampTensorBackward final : Node {
  Saved self{this, "self"}, min{this, "min"}, max{this, "max"};
  bool saves_self() const { return true; }
  void save(const Tensor& x, const std::optional<Tensor>& low, const std::optional<Tensor>& high) {
    self = x;
    if (low && low->defined()) min = *low;
    if (high && high->defined()) max = *high;
  }
  Gradients apply(Gradients g) override {
    const Tensor x = self;
    Gradients out(3);
    if (min.defined() && max.defined()) {
      const Tensor low = min, high = max;
      if (wants(0)) out[0] = where(logical_and(x >= low, x <= high), g[0], 0);
      if (wants(1)) out[1] = where(logical_and(low < high, x < low), g[0], 0);
      if (wants(2)) out[2] = where(logical_or(x > high, high < low), g[0], 0);
    } else if (min.defined()) {
      const Tensor low = min;
      if (wants(0)) out[0] = where(x >= low, g[0], 0);
      if (wants(1)) out[1] = where(x < low, g[0], 0);
    } else {
      const Tensor high = max;
      if (wants(0)) out[0] = where(x <= high, g[0], 0);
      if (wants(2)) out[2] = where(x > high, g[0], 0);
    }
    return out;
  }
};

// ---- Functions of one ----------------------------------------------------------------------------------------------
struct NegBackward final : Node {
  Gradients apply(Gradients g) override { return {neg(g[0])}; }
};
Tensor abs_gradient(const Tensor& g, const Tensor& x) { return g * sign(x); }
Tensor log_gradient(const Tensor& g, const Tensor& x) { return g / x; }
Tensor sin_gradient(const Tensor& g, const Tensor& x) { return g * cos(x); }
Tensor cos_gradient(const Tensor& g, const Tensor& x) { return g * neg(sin(x)); }
Tensor exp_gradient(const Tensor& g, const Tensor& y) { return g * y; }
Tensor sqrt_gradient(const Tensor& g, const Tensor& y) { return g / (y * 2); }
Tensor rsqrt_gradient(const Tensor& g, const Tensor& y) { return (g * -0.5) * pow(y, 3); }
Tensor reciprocal_gradient(const Tensor& g, const Tensor& y) { return neg(g) * (y * y); }
Tensor tanh_gradient(const Tensor& g, const Tensor& y) { return ops::tanh_grad(g, y); }
Tensor sigmoid_gradient(const Tensor& g, const Tensor& y) { return ops::sigmoid_grad(g, y); }
Tensor relu_gradient(const Tensor& g, const Tensor& y) { return ops::relu_grad(g, y); }

/// relu_grad is g where the result is above 0: a step in its second argument.
struct ReluGradBackward final : Node {
  Saved result{this, "result"};
  void save(const Tensor&, const Tensor& y) {
    if (wants(0)) result = y;
  }
  Gradients apply(Gradients g) override {
    return {wants(0) ? ops::relu_grad(g[0], result) : Tensor(), wants(1) ? zeros_like(g[0]) : Tensor()};
  }
};
/// tanh_grad is g (1 - y^2), sigmoid_grad is g y (1 - y).
template <auto& Op, Tensor (*slope)(const Tensor& y)>
struct CurveGradBackward final : Node {
  Saved g_in{this, "grad"}, result{this, "result"};
  void save(const Tensor& g, const Tensor& y) {
    if (wants(1)) g_in = g;
    result = y;
  }
  Gradients apply(Gradients g) override {
    const Tensor y = result;
    return {wants(0) ? Op(g[0], y) : Tensor(), wants(1) ? g[0] * g_in.get() * slope(y) : Tensor()};
  }
};
Tensor tanh_slope(const Tensor& y) { return y * -2; }
Tensor sigmoid_slope(const Tensor& y) { return y * -2 + 1; }

// ---- Copies --------------------------------------------------------------------------------------------------------
/// What is overwritten has no influence any more; src is summed to its shape and converted by the engine.
struct CopyBackward final : Node {
  Device from;
  void save(const Tensor&, const Tensor& src) { from = src.device(); }
  Gradients apply(Gradients g) override {
    return {wants(0) ? zeros_like(g[0]) : Tensor(), wants(1) ? g[0].to(from) : Tensor()};
  }
};
struct ToBackward final : Node {
  Device from;
  void save(const Tensor& self, const Conversion&) { from = self.device(); }
  Gradients apply(Gradients g) override { return {g[0].to(from)}; }
};

// ---- Masks ---------------------------------------------------------------------------------------------------------
/// A mask written over floating numbers, as by eq_(): both operands get a gradient of 0.
struct MaskInplaceBackward final : Node {
  Gradients apply(Gradients g) override {
    Gradients out(edges().size());
    for (std::size_t i = 0; i < out.size(); ++i)
      if (wants(i)) out[i] = zeros_like(g[0]);
    return out;
  }
};
/// A new mask has no history; one that replaces numbers cuts theirs.
template <auto&... Op>
void install_masks() {
  (Op.declare_non_differentiable(), ...);
  (Op.set_record(nullptr, Recorder<MaskInplaceBackward, Op>::call_inplace), ...);
}

}  // namespace

void install_pointwise_rules() {
  differentiate<AddBackward, ops::add>();
  differentiate<SubBackward, ops::sub>();
  differentiate<IdentityBackward, ops::add_scalar>();
  differentiate<IdentityBackward, ops::sub_scalar>();
  differentiate<MulBackward, ops::mul>();
  differentiate<MulScalarBackward, ops::mul_scalar>();
  differentiate<DivBackward, ops::div>();
  differentiate<DivScalarBackward, ops::div_scalar>();
  differentiate<PowBackward, ops::pow>();
  differentiate<PowScalarBackward, ops::pow_scalar>();
  differentiate<SquareBackward, ops::square>();

  differentiate<ExtremumBackward<true>, ops::maximum>();
  differentiate<ExtremumBackward<false>, ops::minimum>();
  differentiate<WhereBackward, ops::where>();
  differentiate<ClampBackward, ops::clamp>();
  differentiate<ClampOneBackward<true>, ops::clamp_min>();
  differentiate<ClampOneBackward<false>, ops::clamp_max>();
  differentiate<ClampTensorBackward, ops::clamp_tensor>();
  differentiate<ClampGradBackward, ops::clamp_grad>();

  differentiate<NegBackward, ops::neg>();
  differentiate<ZeroBackward, ops::sign>();
  differentiate<FromSelf<abs_gradient>, ops::abs>();
  differentiate<FromSelf<log_gradient>, ops::log>();
  differentiate<FromSelf<sin_gradient>, ops::sin>();
  differentiate<FromSelf<cos_gradient>, ops::cos>();
  differentiate<FromResult<exp_gradient>, ops::exp>();
  differentiate<FromResult<sqrt_gradient>, ops::sqrt>();
  differentiate<FromResult<rsqrt_gradient>, ops::rsqrt>();
  differentiate<FromResult<reciprocal_gradient>, ops::reciprocal>();
  differentiate<FromResult<tanh_gradient>, ops::tanh>();
  differentiate<FromResult<sigmoid_gradient>, ops::sigmoid>();
  differentiate<FromResult<relu_gradient>, ops::relu>();
  differentiate<ReluGradBackward, ops::relu_grad>();
  differentiate<CurveGradBackward<ops::tanh_grad, tanh_slope>, ops::tanh_grad>();
  differentiate<CurveGradBackward<ops::sigmoid_grad, sigmoid_slope>, ops::sigmoid_grad>();

  differentiate<CopyBackward, ops::copy>();
  differentiate<CopyBackward, ops::fill_tensor>();
  differentiate<ZeroBackward, ops::fill>();
  differentiate<ZeroBackward, ops::zero>();
  differentiate<IdentityBackward, ops::clone>();
  differentiate<IdentityBackward, ops::contiguous>();
  differentiate<ToBackward, ops::to>();

  install_masks<ops::eq, ops::ne, ops::lt, ops::le, ops::gt, ops::ge>();
  install_masks<ops::eq_scalar, ops::ne_scalar, ops::lt_scalar, ops::le_scalar, ops::gt_scalar, ops::ge_scalar>();
  install_masks<ops::logical_and, ops::logical_or, ops::logical_xor, ops::logical_not>();
  for (auto* op : {&ops::isnan, &ops::isinf, &ops::isfinite}) op->declare_non_differentiable();
}

}  // namespace taper
