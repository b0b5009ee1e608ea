#pragma once
// The functions of <taper/ops/activation.h>.
#include <taper/operator.h>
#include <taper/ops/activation.h>
#include <taper/ops/fn_activation.h>

#include "operands.h"

namespace taper::pointwise {

template <class On>
struct Activation {
  static constexpr int kCheap = 2, kLibraryFunction = 32;  // rough work per element, in additions

  template <class F, int cost, class Shape>
  static void value(Tensor& out, const Tensor& x, const Shape& shape) {
    const F f{shape};
    const DType d = x.dtype();
    On::elementwise(out, d, {{&x, d}}, floating_loop<On, F, 1>(d), &f, cost);
  }
  template <class F>
  static void value_of_numbers(Tensor& out, const Tensor& x, const fn::ActivationShape& shape) {
    const F f{shape};
    const DType d = On::wide(x.dtype());
    On::elementwise(out, d, {{&x, d}}, number_loop<On, F, 1>(d, "activation"), &f, kCheap);
  }
  template <class F, int cost, class Shape>
  static void gradient(Tensor& out, const Tensor& grad, const Tensor& x, const Shape& shape) {
    using G = fn::GradientOf<F>;
    const G f{F{shape}};
    const DType d = grad.dtype();
    On::elementwise(out, d, {{&grad, d}, {&x, d}}, floating_loop<On, G, 2>(d), &f, cost);
  }

  template <class F, int cost, class Op, class GradientOp>
  static void install(Op& op, GradientOp& gradient_op) {
    op.set_kernel(On::key, value<F, cost>);
    gradient_op.set_kernel(On::key, gradient<F, cost>);
  }

  static void install() {
    install<fn::Gelu, kLibraryFunction>(ops::gelu, ops::gelu_grad);
    install<fn::GeluTanh, kLibraryFunction>(ops::gelu_tanh, ops::gelu_tanh_grad);
    install<fn::Hardshrink, kCheap>(ops::hardshrink, ops::hardshrink_grad);
    install<fn::Hardsigmoid, kCheap>(ops::hardsigmoid, ops::hardsigmoid_grad);
    install<fn::Hardswish, kCheap>(ops::hardswish, ops::hardswish_grad);
    install<fn::LeakyRelu, kCheap>(ops::leaky_relu, ops::leaky_relu_grad);
    install<fn::LogSigmoid, kLibraryFunction>(ops::log_sigmoid, ops::log_sigmoid_grad);
    install<fn::Mish, kLibraryFunction>(ops::mish, ops::mish_grad);
    install<fn::Silu, kLibraryFunction>(ops::silu, ops::silu_grad);
    install<fn::Softplus, kLibraryFunction>(ops::softplus, ops::softplus_grad);
    install<fn::Softshrink, kCheap>(ops::softshrink, ops::softshrink_grad);
    install<fn::Elu, kLibraryFunction>(ops::elu, ops::elu_grad);
    ops::hardtanh.set_kernel(On::key, value_of_numbers<fn::Hardtanh>);
    ops::hardtanh_grad.set_kernel(On::key, gradient<fn::Hardtanh, kCheap>);
    ops::threshold.set_kernel(On::key, value_of_numbers<fn::Threshold>);
    ops::threshold_grad.set_kernel(On::key, gradient<fn::Threshold, kCheap>);
  }
};

}  // namespace taper::pointwise
