// The functions of <taper/ops/activation.h>.
#include <taper/operator.h>
#include <taper/ops/activation.h>
#include <taper/ops/fn_activation.h>

#include "pointwise.h"

namespace taper::cpu_kernels {
void install_activation();
namespace {

constexpr int kCheap = 2, kLibraryFunction = 32;  // rough work per element, in additions

template <class F>
struct GradientOf {
  F f;
  template <class T>
  T operator()(T g, T x) const {
    return f.gradient(g, x);
  }
};

template <class F, int cost, class Shape>
void value(Tensor& out, const Tensor& x, const Shape& shape) {
  const F f{shape};
  const DType d = x.dtype();
  elementwise(out, d, {{&x, d}}, floating_loop<F, 1>(d), &f, cost);
}
template <class F>
void value_of_numbers(Tensor& out, const Tensor& x, const fn::ActivationShape& shape) {
  const F f{shape};
  const DType d = x.dtype();
  elementwise(out, d, {{&x, d}}, number_loop<F, 1>(d, "activation"), &f, kCheap);
}
template <class F, int cost, class Shape>
void gradient(Tensor& out, const Tensor& grad, const Tensor& x, const Shape& shape) {
  using G = GradientOf<F>;
  const G f{F{shape}};
  const DType d = grad.dtype();
  elementwise(out, d, {{&grad, d}, {&x, d}}, floating_loop<G, 2>(d), &f, cost);
}

template <class F, int cost, class Op, class GradientOp>
void install(Op& op, GradientOp& gradient_op) {
  op.set_kernel(DispatchKey::CPU, value<F, cost>);
  gradient_op.set_kernel(DispatchKey::CPU, gradient<F, cost>);
}

}  // namespace

void install_activation() {
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
  ops::hardtanh.set_kernel(DispatchKey::CPU, value_of_numbers<fn::Hardtanh>);
  ops::hardtanh_grad.set_kernel(DispatchKey::CPU, gradient<fn::Hardtanh, kCheap>);
  ops::threshold.set_kernel(DispatchKey::CPU, value_of_numbers<fn::Threshold>);
  ops::threshold_grad.set_kernel(DispatchKey::CPU, gradient<fn::Threshold, kCheap>);
}

}  // namespace taper::cpu_kernels
