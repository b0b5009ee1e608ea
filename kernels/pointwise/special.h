#pragma once
// The functions of <taper/ops/special.h>.
#include <taper/operator.h>
#include <taper/ops/fn_special.h>
#include <taper/ops/special.h>
#include <taper/promotion.h>

#include "operands.h"

namespace taper::pointwise {

template <class On>
struct Special {
  static constexpr int kLibraryFunction = 64;  // rough work per element, in additions

  template <class F>
  static void floating(Tensor& out, const Tensor& self) {
    const DType d = floating_of(self.dtype());
    On::elementwise(out, d, {{&self, d}}, floating_loop<On, F, 1>(d), nullptr, kLibraryFunction);
  }
  static void signbit(Tensor& out, const Tensor& self) {
    const DType d = On::wide(self.dtype());
    On::elementwise(out, bool_, {{&self, d}}, mask_loop<On, fn::Signbit, 1>(d), nullptr, 1);
  }
  static void polygamma(Tensor& out, const Tensor& self, const std::int64_t& n) {
    const DType d = floating_of(self.dtype());
    const fn::Polygamma f{n};
    On::elementwise(out, d, {{&self, d}}, floating_loop<On, fn::Polygamma, 1>(d), &f, kLibraryFunction);
  }
  static void logit(Tensor& out, const Tensor& self, const std::optional<double>& eps) {
    const DType d = floating_of(self.dtype());
    const fn::Logit f{eps.value_or(-1)};
    On::elementwise(out, d, {{&self, d}}, floating_loop<On, fn::Logit, 1>(d), &f, kLibraryFunction);
  }

  static void install() {
    ops::sinc.set_kernel(On::key, floating<fn::Sinc>);
    ops::erfinv.set_kernel(On::key, floating<fn::Erfinv>);
    ops::lgamma.set_kernel(On::key, floating<fn::Lgamma>);
    ops::digamma.set_kernel(On::key, floating<fn::Digamma>);
    ops::special_entr.set_kernel(On::key, floating<fn::Entr>);
    ops::signbit.set_kernel(On::key, signbit);
    ops::polygamma.set_kernel(On::key, polygamma);
    ops::logit.set_kernel(On::key, logit);
  }
};

}  // namespace taper::pointwise
