#pragma once
// The functions of <taper/ops/math.h>.
#include <taper/operator.h>
#include <taper/ops/fn.h>
#include <taper/ops/math.h>
#include <taper/promotion.h>

#include "operands.h"

namespace taper::pointwise {

template <class On>
struct Math {
  static constexpr int kCheap = 1, kLibraryFunction = 32;  // rough work per element, in additions

  template <class F>
  static void floating(Tensor& out, const Tensor& self) {
    const DType d = floating_of(self.dtype());
    On::elementwise(out, d, {{&self, d}}, floating_loop<On, F, 1>(d), nullptr, kLibraryFunction);
  }
  template <class F>
  static void rounding(Tensor& out, const Tensor& self) {
    const DType d = On::wide(self.dtype());
    On::elementwise(out, d, {{&self, d}}, number_loop<On, F, 1>(d, "round"), nullptr, kCheap);
  }

  static void install() {
    ops::expm1.set_kernel(On::key, floating<fn::Expm1>);
    ops::exp2.set_kernel(On::key, floating<fn::Exp2>);
    ops::log1p.set_kernel(On::key, floating<fn::Log1p>);
    ops::log2.set_kernel(On::key, floating<fn::Log2>);
    ops::log10.set_kernel(On::key, floating<fn::Log10>);
    ops::tan.set_kernel(On::key, floating<fn::Tan>);
    ops::asin.set_kernel(On::key, floating<fn::Asin>);
    ops::acos.set_kernel(On::key, floating<fn::Acos>);
    ops::atan.set_kernel(On::key, floating<fn::Atan>);
    ops::sinh.set_kernel(On::key, floating<fn::Sinh>);
    ops::cosh.set_kernel(On::key, floating<fn::Cosh>);
    ops::asinh.set_kernel(On::key, floating<fn::Asinh>);
    ops::acosh.set_kernel(On::key, floating<fn::Acosh>);
    ops::atanh.set_kernel(On::key, floating<fn::Atanh>);
    ops::erf.set_kernel(On::key, floating<fn::Erf>);
    ops::erfc.set_kernel(On::key, floating<fn::Erfc>);
    ops::floor.set_kernel(On::key, rounding<fn::Floor>);
    ops::ceil.set_kernel(On::key, rounding<fn::Ceil>);
    ops::trunc.set_kernel(On::key, rounding<fn::Trunc>);
    ops::round.set_kernel(On::key, rounding<fn::Round>);
  }
};

}  // namespace taper::pointwise
