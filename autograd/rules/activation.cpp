// Derivatives of the functions of <taper/ops/activation.h>: the first in one pass over the elements, the second by a
// formula in public operators, from which all higher ones follow.
#include <taper/autograd/record.h>
#include <taper/ops/activation.h>
#include <taper/ops/compare.h>
#include <taper/ops/fn_activation.h>
#include <taper/ops/pointwise.h>

#include <numbers>

#include "rules.h"

namespace taper {
namespace {

using fn::ActivationShape;

template <auto& gradient_op, class Shape>
struct ActivationBackward final : Node {
  Saved x{this, "x"};
  Shape shape;
  bool saves_self() const { return true; }
  void save(const Tensor& argument, const Shape& s) { x = argument, shape = s; }
  Gradients apply(Gradients g) override { return {gradient_op(g[0], x, shape)}; }
};

/// The second derivative at x; null for functions made of straight pieces, where it is 0.
template <class Shape>
using Curvature = Tensor (*)(const Tensor& x, const Shape& shape);

/// Of gradient_op(grad, x), which is linear in grad.
template <auto& gradient_op, class Shape, Curvature<Shape> curvature>
struct ActivationGradientBackward final : Node {
  Saved grad{this, "grad"}, x{this, "x"};
  Shape shape;
  void save(const Tensor& g, const Tensor& argument, const Shape& s) {
    x = argument, shape = s;
    if (curvature && wants(1)) grad = g;
  }
  Gradients apply(Gradients g) override {
    Gradients out(2);
    if (wants(0)) out[0] = gradient_op(g[0], x, shape);
    if (curvature && wants(1)) out[1] = g[0] * grad.get() * curvature(x, shape);
    return out;
  }
};

constexpr double kInvSqrt2Pi = std::numbers::inv_sqrtpi / std::numbers::sqrt2;

/// phi (2 - x^2), phi the normal density.
Tensor gelu_curvature(const Tensor& x, const ActivationShape&) {
  const Tensor square = x * x;
  return exp(square * -0.5) * kInvSqrt2Pi * (2 - square);
}
/// Of x (1 + tanh u) / 2 with u a polynomial of x.
Tensor gelu_tanh_curvature(const Tensor& x, const ActivationShape&) {
  constexpr double k = 2 * kInvSqrt2Pi, c = 0.044715;
  const Tensor square = x * x, t = tanh((x + x * square * c) * k), slope = (square * (3 * c) + 1) * k;
  return (1 - t * t) * (slope + x * (x * (3 * k * c) - t * slope * slope));
}
Tensor silu_curvature(const Tensor& x, const ActivationShape&) {
  const Tensor s = sigmoid(x);
  return s * (1 - s) * (x * (1 - s * 2) + 2);
}
Tensor mish_curvature(const Tensor& x, const ActivationShape&) {
  const Tensor s = sigmoid(x), t = tanh(softplus(x)), slope = (1 - t * t) * s;  // of tanh(softplus(x))
  return slope * 2 + x * (slope * (1 - s) - t * slope * s * 2);
}
Tensor softplus_curvature(const Tensor& x, const ActivationShape& shape) {
  const Tensor s = sigmoid(x * shape.a);
  return s * (1 - s) * shape.a * (x * shape.a <= shape.b);
}
Tensor log_sigmoid_curvature(const Tensor& x, const ActivationShape&) {
  const Tensor s = sigmoid(x);
  return s * (s - 1);
}
Tensor hardswish_curvature(const Tensor& x, const ActivationShape&) {
  return logical_and(x > -3, x < 3).to(x.dtype()) / 3;
}
Tensor elu_curvature(const Tensor& x, const fn::Elu& shape) {
  return exp(clamp_max(x, 0) * shape.rate) * (shape.negative * shape.rate * shape.rate) * (x <= 0);
}

template <auto& op, auto& gradient_op, Curvature<ActivationShape> curvature = nullptr>
void install() {
  differentiate<ActivationBackward<gradient_op, ActivationShape>, op>();
  differentiate<ActivationGradientBackward<gradient_op, ActivationShape, curvature>, gradient_op>();
}

}  // namespace

void install_activation_rules() {
  install<ops::gelu, ops::gelu_grad, gelu_curvature>();
  install<ops::gelu_tanh, ops::gelu_tanh_grad, gelu_tanh_curvature>();
  install<ops::silu, ops::silu_grad, silu_curvature>();
  install<ops::mish, ops::mish_grad, mish_curvature>();
  install<ops::softplus, ops::softplus_grad, softplus_curvature>();
  install<ops::log_sigmoid, ops::log_sigmoid_grad, log_sigmoid_curvature>();
  install<ops::hardswish, ops::hardswish_grad, hardswish_curvature>();
  install<ops::hardtanh, ops::hardtanh_grad>();
  install<ops::hardsigmoid, ops::hardsigmoid_grad>();
  install<ops::hardshrink, ops::hardshrink_grad>();
  install<ops::softshrink, ops::softshrink_grad>();
  install<ops::leaky_relu, ops::leaky_relu_grad>();
  install<ops::threshold, ops::threshold_grad>();
  differentiate<ActivationBackward<ops::elu_grad, fn::Elu>, ops::elu>();
  differentiate<ActivationGradientBackward<ops::elu_grad, fn::Elu, elu_curvature>, ops::elu_grad>();
}

}  // namespace taper
