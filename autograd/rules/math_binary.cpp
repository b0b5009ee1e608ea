// Derivatives of the functions of <taper/ops/math_binary.h>, <taper/ops/blend.h> and <taper/ops/bitwise.h>.
#include <taper/autograd/record.h>
#include <taper/factory.h>
#include <taper/ops/bitwise.h>
#include <taper/ops/blend.h>
#include <taper/ops/math_binary.h>
#include <taper/ops/pointwise.h>

#include <numbers>

#include "rules.h"

namespace taper {
namespace {

/// For functions that are constant in pieces.
struct ZeroPairBackward final : Node {
  Gradients apply(Gradients g) override {
    return {wants(0) ? zeros_like(g[0]) : Tensor(), wants(1) ? zeros_like(g[0]) : Tensor()};
  }
};

/// self - q other, where the whole number q is constant in pieces.
template <auto& quotient>
struct RemainderBackward final : Node {
  Saved self{this, "self"}, other{this, "other"};
  bool saves_self() const { return wants(1); }
  void save(const Tensor& a, const Tensor& b) {
    if (wants(1)) self = a, other = b;
  }
  Gradients apply(Gradients g) override {
    return {wants(0) ? g[0] : Tensor(), wants(1) ? neg(g[0]) * quotient(self, other) : Tensor()};
  }
};

/// Where the two are equal self gets it all.
template <bool larger>
struct FiniteExtremumBackward final : Node {
  Saved self{this, "self"}, other{this, "other"};
  void save(const Tensor& a, const Tensor& b) { self = a, other = b; }
  Gradients apply(Gradients g) override {
    const Tensor a = self, b = other;
    const Tensor chosen = logical_or(larger ? a >= b : a <= b, isnan(b));
    return {wants(0) ? where(chosen, g[0], 0) : Tensor(), wants(1) ? where(chosen, 0, g[0]) : Tensor()};
  }
};

struct CopysignBackward final : Node {
  Saved self{this, "self"}, other{this, "other"};
  bool saves_self() const { return wants(0); }
  void save(const Tensor& a, const Tensor& b) {
    if (wants(0)) self = a, other = b;
  }
  Gradients apply(Gradients g) override {
    Gradients in(2);
    if (wants(0)) {
      const Tensor a = self;
      in[0] = g[0] * (sign(a) * copysign(ones_like(a), other));
    }
    if (wants(1)) in[1] = zeros_like(g[0]);
    return in;
  }
};

/// atan2(a, b): (b, -a) / (a^2 + b^2)
struct Atan2Backward final : Node {
  Saved self{this, "self"}, other{this, "other"};
  bool saves_self() const { return true; }
  void save(const Tensor& a, const Tensor& b) { self = a, other = b; }
  Gradients apply(Gradients g) override {
    const Tensor a = self, b = other;
    const Tensor scale = g[0] / (a * a + b * b);
    return {wants(0) ? scale * b : Tensor(), wants(1) ? neg(scale) * a : Tensor()};
  }
};

struct HypotBackward final : Node {
  Saved self{this, "self"}, other{this, "other"}, result{this, "result"};
  bool saves_self() const { return wants(0); }
  void save(const Tensor& a, const Tensor& b) {
    if (wants(0)) self = a;
    if (wants(1)) other = b;
  }
  void save_output(const Tensor& y) { result.keep_output(y); }
  Gradients apply(Gradients g) override {
    const Tensor y = result;
    return {wants(0) ? g[0] * (self.get() / y) : Tensor(), wants(1) ? g[0] * (other.get() / y) : Tensor()};
  }
};

struct XlogyBackward final : Node {
  Saved self{this, "self"}, other{this, "other"};
  bool saves_self() const { return true; }
  void save(const Tensor& a, const Tensor& b) { self = a, other = b; }
  Gradients apply(Gradients g) override {
    const Tensor a = self, b = other;
    Gradients in(2);
    // The log of what is not looked at must not reach second derivatives either.
    if (wants(0)) in[0] = g[0] * log(where(logical_and(a == 0, b <= 0), 1, b.to(g[0].dtype())));
    if (wants(1)) in[1] = g[0] * (a / b);
    return in;
  }
};

/// log(e^a + e^b): the shares of the two, sigmoid(a - b) and the rest; base 2 likewise.
template <Tensor (*difference)(const Tensor&, const Tensor&)>
struct LogaddBackward final : Node {
  Saved self{this, "self"}, other{this, "other"};
  void save(const Tensor& a, const Tensor& b) { self = a, other = b; }
  Gradients apply(Gradients g) override {
    const Tensor a = self, b = other;
    return {wants(0) ? g[0] * sigmoid(difference(a, b)) : Tensor(),
            wants(1) ? g[0] * sigmoid(difference(b, a)) : Tensor()};
  }
};
Tensor natural_difference(const Tensor& a, const Tensor& b) { return a - b; }
Tensor binary_difference(const Tensor& a, const Tensor& b) { return (a - b) * std::numbers::ln2; }

struct LerpBackward final : Node {
  Saved self{this, "self"}, end{this, "end"}, weight{this, "weight"};
  bool saves_self() const { return wants(2); }
  void save(const Tensor& a, const Tensor& b, const Tensor& w) {
    if (wants(2)) self = a, end = b;
    if (wants(0) || wants(1)) weight = w;
  }
  Gradients apply(Gradients g) override {
    Gradients in(3);
    if (wants(0)) in[0] = g[0] * (1 - weight.get());
    if (wants(1)) in[1] = g[0] * weight.get();
    if (wants(2)) in[2] = g[0] * (end.get() - self.get());
    return in;
  }
};
struct LerpScalarBackward final : Node {
  double weight = 0;
  void save(const Tensor&, const Tensor&, const Scalar& w) { weight = w.to<double>(); }
  Gradients apply(Gradients g) override {
    return {wants(0) ? g[0] * (1 - weight) : Tensor(), wants(1) ? g[0] * weight : Tensor()};
  }
};

struct AddcmulBackward final : Node {
  Saved tensor1{this, "tensor1"}, tensor2{this, "tensor2"};
  Scalar value;
  void save(const Tensor&, const Tensor& x, const Tensor& y, const Scalar& v) {
    if (wants(2)) tensor1 = x;
    if (wants(1)) tensor2 = y;
    value = v;
  }
  Gradients apply(Gradients g) override {
    Gradients in(3);
    if (wants(0)) in[0] = g[0];
    if (wants(1)) in[1] = g[0] * (tensor2.get() * value);
    if (wants(2)) in[2] = g[0] * (tensor1.get() * value);
    return in;
  }
};
struct AddcdivBackward final : Node {
  Saved tensor1{this, "tensor1"}, tensor2{this, "tensor2"};
  Scalar value;
  void save(const Tensor&, const Tensor& x, const Tensor& y, const Scalar& v) {
    if (wants(2)) tensor1 = x;
    if (wants(1) || wants(2)) tensor2 = y;
    value = v;
  }
  Gradients apply(Gradients g) override {
    Gradients in(3);
    if (wants(0)) in[0] = g[0];
    if (!wants(1) && !wants(2)) return in;
    const Tensor y = tensor2, scaled = g[0] * value;
    if (wants(1)) in[1] = scaled / y;
    if (wants(2)) in[2] = neg(scaled) * ((tensor1.get() / y) / y);
    return in;
  }
};

}  // namespace

void install_math_binary_rules() {
  differentiate<RemainderBackward<ops::floor_divide>, ops::remainder>();
  differentiate<RemainderBackward<ops::trunc_divide>, ops::fmod>();
  differentiate<ZeroPairBackward, ops::floor_divide>();
  differentiate<ZeroPairBackward, ops::trunc_divide>();
  differentiate<FiniteExtremumBackward<true>, ops::fmax>();
  differentiate<FiniteExtremumBackward<false>, ops::fmin>();
  differentiate<CopysignBackward, ops::copysign>();
  differentiate<Atan2Backward, ops::atan2>();
  differentiate<HypotBackward, ops::hypot>();
  differentiate<XlogyBackward, ops::xlogy>();
  differentiate<LogaddBackward<natural_difference>, ops::logaddexp>();
  differentiate<LogaddBackward<binary_difference>, ops::logaddexp2>();
  differentiate<LerpBackward, ops::lerp>();
  differentiate<LerpScalarBackward, ops::lerp_scalar>();
  differentiate<AddcmulBackward, ops::addcmul>();
  differentiate<AddcdivBackward, ops::addcdiv>();
  ops::bitwise_not.declare_non_differentiable();
  for (auto* op :
       {&ops::bitwise_and, &ops::bitwise_or, &ops::bitwise_xor, &ops::bitwise_left_shift, &ops::bitwise_right_shift})
    op->declare_non_differentiable();
}

}  // namespace taper
