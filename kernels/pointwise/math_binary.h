#pragma once
// The functions of <taper/ops/math_binary.h>, <taper/ops/blend.h> and <taper/ops/bitwise.h>.
#include <taper/operator.h>
#include <taper/ops/bitwise.h>
#include <taper/ops/blend.h>
#include <taper/ops/fn_binary.h>
#include <taper/ops/math_binary.h>
#include <taper/promotion.h>

#include "operands.h"

namespace taper::pointwise {

template <class On>
struct MathBinary {
  static constexpr int kCheap = 1, kLibraryFunction = 32;  // rough work per element, in additions

  template <class F>
  static void any_pair(Tensor& out, const Tensor& a, const Tensor& b) {
    const DType d = On::wide(result_type(a, b));
    On::elementwise(out, d, {{&a, d}, {&b, d}}, any_loop<On, F, 2>(d), nullptr, kCheap);
  }
  template <class F>
  static void number_pair(Tensor& out, const Tensor& a, const Tensor& b) {
    const DType d = On::wide(result_type(a, b));
    On::elementwise(out, d, {{&a, d}, {&b, d}}, number_loop<On, F, 2>(d, "div"), nullptr, kLibraryFunction);
  }
  template <class F>
  static void floating_pair(Tensor& out, const Tensor& a, const Tensor& b) {
    const DType d = floating_of(result_type(a, b));
    On::elementwise(out, d, {{&a, d}, {&b, d}}, floating_loop<On, F, 2>(d), nullptr, kLibraryFunction);
  }

  /// The loop for an integer dtype or, where wanted, bool; infer has refused others.
  template <class F, int arity, bool with_bool>
  static typename On::Loop integer_loop(DType d) {
    return dispatch_computed(d, []<class T>(Type<T>) -> typename On::Loop {
      if constexpr (std::is_integral_v<T> && (with_bool || !std::is_same_v<T, bool>))
        return detail::loop_of<On, F, T, T, arity>();
      else
        return nullptr;
    });
  }
  template <class F, bool with_bool = true>
  static void bits(Tensor& out, const Tensor& a, const Tensor& b) {
    const DType d = On::wide(result_type(a, b));
    On::elementwise(out, d, {{&a, d}, {&b, d}}, integer_loop<F, 2, with_bool>(d), nullptr, kCheap);
  }
  static void bitwise_not(Tensor& out, const Tensor& a) {
    const DType d = On::wide(a.dtype());
    On::elementwise(out, d, {{&a, d}}, integer_loop<fn::BitNot, 1, true>(d), nullptr, kCheap);
  }

  static void lerp(Tensor& out, const Tensor& a, const Tensor& b, const Tensor& w) {
    const DType d = a.dtype();
    dispatch_floating(compute_dtype(d), "lerp", [&]<class T>(Type<T>) {
      On::elementwise(out, d, {{&a, d}, {&b, d}, {&w, d}}, On::template loop<fn::Lerp, T, T, T, T>, nullptr, kCheap);
    });
  }
  static void lerp_scalar(Tensor& out, const Tensor& a, const Tensor& b, const Scalar& w) {
    const DType d = a.dtype();
    dispatch_floating(compute_dtype(d), "lerp", [&]<class T>(Type<T>) {
      const fn::LerpBy<T> f{T(w.to<double>())};
      On::elementwise(out, d, {{&a, d}, {&b, d}}, On::template loop<fn::LerpBy<T>, T, T, T>, &f, kCheap);
    });
  }
  static void addcmul(Tensor& out, const Tensor& a, const Tensor& x, const Tensor& y, const Scalar& value) {
    const DType d = On::wide(result_type({a, x, y}));
    dispatch_numbers(compute_dtype(d), "addcmul", [&]<class T>(Type<T>) {
      const fn::AddProduct<T> f{Number(value, d).as<T>()};
      On::elementwise(out, d, {{&a, d}, {&x, d}, {&y, d}}, On::template loop<fn::AddProduct<T>, T, T, T, T>, &f,
                      kCheap);
    });
  }
  static void addcdiv(Tensor& out, const Tensor& a, const Tensor& x, const Tensor& y, const Scalar& value) {
    const DType d = On::wide(result_type({a, x, y}));
    dispatch_floating(compute_dtype(d), "addcdiv", [&]<class T>(Type<T>) {
      const fn::AddQuotient<T> f{Number(value, d).as<T>()};
      On::elementwise(out, d, {{&a, d}, {&x, d}, {&y, d}}, On::template loop<fn::AddQuotient<T>, T, T, T, T>, &f,
                      kCheap);
    });
  }

  static void install() {
    ops::remainder.set_kernel(On::key, number_pair<fn::Remainder>);
    ops::fmod.set_kernel(On::key, number_pair<fn::Fmod>);
    ops::floor_divide.set_kernel(On::key, number_pair<fn::FloorDivide>);
    ops::trunc_divide.set_kernel(On::key, number_pair<fn::TruncDivide>);
    ops::fmax.set_kernel(On::key, any_pair<fn::Fmax>);
    ops::fmin.set_kernel(On::key, any_pair<fn::Fmin>);
    ops::copysign.set_kernel(On::key, floating_pair<fn::Copysign>);
    ops::atan2.set_kernel(On::key, floating_pair<fn::Atan2>);
    ops::hypot.set_kernel(On::key, floating_pair<fn::Hypot>);
    ops::xlogy.set_kernel(On::key, floating_pair<fn::Xlogy>);
    ops::logaddexp.set_kernel(On::key, floating_pair<fn::Logaddexp>);
    ops::logaddexp2.set_kernel(On::key, floating_pair<fn::Logaddexp2>);

    ops::lerp.set_kernel(On::key, lerp);
    ops::lerp_scalar.set_kernel(On::key, lerp_scalar);
    ops::addcmul.set_kernel(On::key, addcmul);
    ops::addcdiv.set_kernel(On::key, addcdiv);

    ops::bitwise_not.set_kernel(On::key, bitwise_not);
    ops::bitwise_and.set_kernel(On::key, bits<fn::BitAnd>);
    ops::bitwise_or.set_kernel(On::key, bits<fn::BitOr>);
    ops::bitwise_xor.set_kernel(On::key, bits<fn::BitXor>);
    ops::bitwise_left_shift.set_kernel(On::key, bits<fn::ShiftLeft, false>);
    ops::bitwise_right_shift.set_kernel(On::key, bits<fn::ShiftRight, false>);
  }
};

}  // namespace taper::pointwise
