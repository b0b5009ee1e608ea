// The functions of <taper/ops/math.h>.
#include <taper/operator.h>
#include <taper/ops/fn.h>
#include <taper/ops/math.h>
#include <taper/promotion.h>

#include "pointwise.h"

namespace taper::cpu_kernels {
void install_math();
namespace {

constexpr int kCheap = 1, kLibraryFunction = 32;  // rough work per element, in additions

template <class F>
void floating(Tensor& out, const Tensor& self) {
  const DType d = floating_of(self.dtype());
  elementwise(out, d, {{&self, d}}, floating_loop<F, 1>(d), nullptr, kLibraryFunction);
}
template <class F>
void rounding(Tensor& out, const Tensor& self) {
  const DType d = self.dtype();
  elementwise(out, d, {{&self, d}}, number_loop<F, 1>(d, "round"), nullptr, kCheap);
}

}  // namespace

void install_math() {
  constexpr DispatchKey key = DispatchKey::CPU;
  ops::expm1.set_kernel(key, floating<fn::Expm1>);
  ops::exp2.set_kernel(key, floating<fn::Exp2>);
  ops::log1p.set_kernel(key, floating<fn::Log1p>);
  ops::log2.set_kernel(key, floating<fn::Log2>);
  ops::log10.set_kernel(key, floating<fn::Log10>);
  ops::tan.set_kernel(key, floating<fn::Tan>);
  ops::asin.set_kernel(key, floating<fn::Asin>);
  ops::acos.set_kernel(key, floating<fn::Acos>);
  ops::atan.set_kernel(key, floating<fn::Atan>);
  ops::sinh.set_kernel(key, floating<fn::Sinh>);
  ops::cosh.set_kernel(key, floating<fn::Cosh>);
  ops::asinh.set_kernel(key, floating<fn::Asinh>);
  ops::acosh.set_kernel(key, floating<fn::Acosh>);
  ops::atanh.set_kernel(key, floating<fn::Atanh>);
  ops::erf.set_kernel(key, floating<fn::Erf>);
  ops::erfc.set_kernel(key, floating<fn::Erfc>);
  ops::floor.set_kernel(key, rounding<fn::Floor>);
  ops::ceil.set_kernel(key, rounding<fn::Ceil>);
  ops::trunc.set_kernel(key, rounding<fn::Trunc>);
  ops::round.set_kernel(key, rounding<fn::Round>);
}

}  // namespace taper::cpu_kernels
