#pragma once
// Arithmetic of two tensors, or of a tensor and a number.
#include <taper/operator.h>
#include <taper/ops/fn.h>
#include <taper/ops/pointwise.h>
#include <taper/promotion.h>

#include "operands.h"

namespace taper::pointwise {

template <class On>
struct Binary {
  static constexpr int kCheap = 1, kLibraryFunction = 40;

  static bool is_one(const Scalar& s) { return s.is_floating() ? s.to<double>() == 1 : s.to<std::int64_t>() == 1; }

  template <class F>
  static void any_pair(Tensor& out, const Tensor& a, const Tensor& b) {
    const DType d = On::wide(result_type(a, b));
    On::elementwise(out, d, {{&a, d}, {&b, d}}, any_loop<On, F, 2>(d), nullptr, kCheap);
  }
  template <class F>
  static void any_with_number(Tensor& out, const Tensor& a, const Scalar& b) {
    const DType d = On::wide(result_type(a, b));
    On::elementwise(out, d, {{&a, d}, Number(b, d).operand()}, any_loop<On, F, 2>(d), nullptr, kCheap);
  }

  /// a + alpha b; sub passes -alpha.
  static void add_scaled(Tensor& out, DType d, Operand a, Operand b, const Scalar& alpha, bool negate) {
    dispatch_computed(d, [&]<class T>(Type<T>) {
      fn::AddScaled<T> f{Number(alpha, d).as<T>()};
      if constexpr (!std::is_same_v<T, bool>) {
        if (negate) f.alpha = fn::Neg{}(f.alpha);
      }
      On::elementwise(out, d, {a, b}, On::template loop<fn::AddScaled<T>, T, T, T>, &f, kCheap);
    });
  }
  static void add(Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha) {
    if (is_one(alpha)) return any_pair<fn::Add>(out, a, b);
    const DType d = On::wide(result_type(a, b));
    add_scaled(out, d, {&a, d}, {&b, d}, alpha, false);
  }
  static void sub(Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha) {
    if (is_one(alpha)) return any_pair<fn::Sub>(out, a, b);
    const DType d = On::wide(result_type(a, b));
    add_scaled(out, d, {&a, d}, {&b, d}, alpha, true);
  }
  static void add_scalar(Tensor& out, const Tensor& a, const Scalar& b, const Scalar& alpha) {
    if (is_one(alpha)) return any_with_number<fn::Add>(out, a, b);
    const DType d = On::wide(result_type(a, b));
    add_scaled(out, d, {&a, d}, Number(b, d).operand(), alpha, false);
  }
  static void sub_scalar(Tensor& out, const Tensor& a, const Scalar& b, const Scalar& alpha) {
    if (is_one(alpha)) return any_with_number<fn::Sub>(out, a, b);
    const DType d = On::wide(result_type(a, b));
    add_scaled(out, d, {&a, d}, Number(b, d).operand(), alpha, true);
  }

  static void div(Tensor& out, const Tensor& a, const Tensor& b) {
    const DType d = floating_of(result_type(a, b));
    On::elementwise(out, d, {{&a, d}, {&b, d}}, floating_loop<On, fn::Div, 2>(d), nullptr, kCheap);
  }
  static void div_scalar(Tensor& out, const Tensor& a, const Scalar& b) {
    const DType d = floating_of(result_type(a, b));
    On::elementwise(out, d, {{&a, d}, Number(b, d).operand()}, floating_loop<On, fn::Div, 2>(d), nullptr, kCheap);
  }

  static void pow(Tensor& out, const Tensor& a, const Tensor& b) {
    const DType d = On::wide(result_type(a, b));
    On::elementwise(out, d, {{&a, d}, {&b, d}}, any_loop<On, fn::Pow, 2>(d), nullptr, kLibraryFunction);
  }
  /// Common powers are products and roots.
  static typename On::Loop special_power(DType d, double exponent) {
    if (exponent == 2) return floating_loop<On, fn::Square, 1>(d);
    if (exponent == 3) return floating_loop<On, fn::Cube, 1>(d);
    if (exponent == 0.5) return floating_loop<On, fn::Sqrt, 1>(d);
    if (exponent == -0.5) return floating_loop<On, fn::Rsqrt, 1>(d);
    if (exponent == -1) return floating_loop<On, fn::Reciprocal, 1>(d);
    if (exponent == -2) return floating_loop<On, fn::ReciprocalSquare, 1>(d);
    return nullptr;
  }
  static void pow_scalar(Tensor& out, const Tensor& a, const Scalar& b) {
    const DType d = On::wide(result_type(a, b));
    if (is_floating(d)) {
      if (const typename On::Loop special = special_power(d, b.to<double>()))
        return On::elementwise(out, d, {{&a, d}}, special, nullptr, kCheap);
    }
    On::elementwise(out, d, {{&a, d}, Number(b, d).operand()}, any_loop<On, fn::Pow, 2>(d), nullptr, kLibraryFunction);
  }

  static void install() {
    ops::add.set_kernel(On::key, add);
    ops::sub.set_kernel(On::key, sub);
    ops::mul.set_kernel(On::key, any_pair<fn::Mul>);
    ops::div.set_kernel(On::key, div);
    ops::pow.set_kernel(On::key, pow);
    ops::maximum.set_kernel(On::key, any_pair<fn::Maximum>);
    ops::minimum.set_kernel(On::key, any_pair<fn::Minimum>);
    ops::add_scalar.set_kernel(On::key, add_scalar);
    ops::sub_scalar.set_kernel(On::key, sub_scalar);
    ops::mul_scalar.set_kernel(On::key, any_with_number<fn::Mul>);
    ops::div_scalar.set_kernel(On::key, div_scalar);
    ops::pow_scalar.set_kernel(On::key, pow_scalar);
  }
};

}  // namespace taper::pointwise
