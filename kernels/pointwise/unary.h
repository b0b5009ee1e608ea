#pragma once
// Functions of one tensor, clamp among them.
#include <taper/operator.h>
#include <taper/ops/fn.h>
#include <taper/ops/pointwise.h>
#include <taper/promotion.h>

#include <limits>

#include "operands.h"

namespace taper::pointwise {

template <class On>
struct Unary {
  // Rough work per element, in additions.
  static constexpr int kCheap = 1, kVectorFunction = 4, kLibraryFunction = 24;

  template <class F, int float_cost = kVectorFunction>
  static void floating(Tensor& out, const Tensor& self) {
    const DType d = floating_of(self.dtype());
    On::elementwise(out, d, {{&self, d}}, floating_loop<On, F, 1>(d), nullptr,
                    d != float64 ? float_cost : kLibraryFunction);
  }
  template <class F>
  static void number(Tensor& out, const Tensor& self) {
    const DType d = On::wide(self.dtype());
    On::elementwise(out, d, {{&self, d}}, number_loop<On, F, 1>(d, "pointwise"), nullptr, kCheap);
  }
  template <class F>
  static void mask(Tensor& out, const Tensor& self) {
    const DType d = On::wide(self.dtype());
    On::elementwise(out, bool_, {{&self, d}}, mask_loop<On, F, 1>(d), nullptr, kCheap);
  }
  static void sign(Tensor& out, const Tensor& self) {
    const DType d = On::wide(self.dtype());
    On::elementwise(out, d, {{&self, d}}, any_loop<On, fn::Sign, 1>(d), nullptr, kCheap);
  }
  static void square(Tensor& out, const Tensor& self) {
    const DType d = self.dtype() == bool_ ? int64 : On::wide(self.dtype());
    On::elementwise(out, d, {{&self, d}}, number_loop<On, fn::Square, 1>(d, "square"), nullptr, kCheap);
  }

  static void clamp_to(Tensor& out, const Tensor& self, DType made, const Scalar* min, const Scalar* max) {
    const DType d = On::wide(made);
    dispatch_numbers(compute_dtype(d), "clamp", [&]<class T>(Type<T>) {
      using Limits = std::numeric_limits<T>;
      constexpr bool floats = std::is_floating_point_v<T>;
      fn::Clamp<T> f{floats ? -Limits::infinity() : Limits::min(), floats ? Limits::infinity() : Limits::max()};
      if (min) f.low = Number(*min, d).as<T>();
      if (max) f.high = Number(*max, d).as<T>();
      // A bound that is NaN makes every result NaN.
      if (f.low != f.low) f.high = f.low;
      if (f.high != f.high) {
        const Number nan(Scalar(double(f.high)), d);
        return On::elementwise(out, d, {nan.operand()}, On::template loop<fn::Cast<T>, T, T>, nullptr, kCheap);
      }
      On::elementwise(out, d, {{&self, d}}, On::template loop<fn::Clamp<T>, T, T>, &f, kCheap);
    });
  }
  static void clamp(Tensor& out, const Tensor& self, const std::optional<Scalar>& min,
                    const std::optional<Scalar>& max) {
    DType d = self.dtype();
    if (min) d = promote_types(d, result_type(self, *min));
    if (max) d = promote_types(d, result_type(self, *max));
    clamp_to(out, self, d, min ? &*min : nullptr, max ? &*max : nullptr);
  }
  /// The gradient of a function of one, from the gradient of its result and the result.
  template <class F>
  static void gradient(Tensor& out, const Tensor& g, const Tensor& y) {
    const DType d = g.dtype();
    On::elementwise(out, d, {{&g, d}, {&y, d}}, floating_loop<On, F, 2>(d), nullptr, kCheap);
  }
  static void clamp_grad(Tensor& out, const Tensor& g, const Tensor& self, const std::optional<Scalar>& min,
                         const std::optional<Scalar>& max) {
    dispatch_floating(compute_dtype(g.dtype()), "clamp_grad", [&]<class T>(Type<T>) {
      constexpr T infinity = std::numeric_limits<T>::infinity();
      const fn::ClampGrad<T> f{min ? min->to<T>() : -infinity, max ? max->to<T>() : infinity};
      const DType d = dtype_of<T>;
      On::elementwise(out, d, {{&g, d}, {&self, d}}, On::template loop<fn::ClampGrad<T>, T, T, T>, &f, kCheap);
    });
  }

  static void clamp_min(Tensor& out, const Tensor& self, const Scalar& min) {
    clamp_to(out, self, result_type(self, min), &min, nullptr);
  }
  static void clamp_max(Tensor& out, const Tensor& self, const Scalar& max) {
    clamp_to(out, self, result_type(self, max), nullptr, &max);
  }

  static void install() {
    ops::exp.set_kernel(On::key, floating<fn::Exp>);
    ops::log.set_kernel(On::key, floating<fn::Log>);
    ops::sqrt.set_kernel(On::key, floating<fn::Sqrt>);
    ops::rsqrt.set_kernel(On::key, floating<fn::Rsqrt>);
    ops::reciprocal.set_kernel(On::key, floating<fn::Reciprocal>);
    ops::tanh.set_kernel(On::key, floating<fn::Tanh>);
    ops::sigmoid.set_kernel(On::key, floating<fn::Sigmoid>);
    ops::sin.set_kernel(On::key, floating<fn::Sin, kLibraryFunction>);
    ops::cos.set_kernel(On::key, floating<fn::Cos, kLibraryFunction>);
    ops::abs.set_kernel(On::key, number<fn::Abs>);
    ops::neg.set_kernel(On::key, number<fn::Neg>);
    ops::relu.set_kernel(On::key, number<fn::Relu>);
    ops::square.set_kernel(On::key, square);
    ops::sign.set_kernel(On::key, sign);
    ops::clamp.set_kernel(On::key, clamp);
    ops::clamp_min.set_kernel(On::key, clamp_min);
    ops::clamp_max.set_kernel(On::key, clamp_max);
    ops::clamp_grad.set_kernel(On::key, clamp_grad);
    ops::relu_grad.set_kernel(On::key, gradient<fn::ReluGrad>);
    ops::tanh_grad.set_kernel(On::key, gradient<fn::TanhGrad>);
    ops::sigmoid_grad.set_kernel(On::key, gradient<fn::SigmoidGrad>);
    ops::logical_not.set_kernel(On::key, mask<fn::LogicalNot>);
    ops::isnan.set_kernel(On::key, mask<fn::IsNan>);
    ops::isinf.set_kernel(On::key, mask<fn::IsInf>);
    ops::isfinite.set_kernel(On::key, mask<fn::IsFinite>);
  }
};

}  // namespace taper::pointwise
