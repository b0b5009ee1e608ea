// The functions of <taper/ops/special.h>.
#include <taper/operator.h>
#include <taper/ops/fn_special.h>
#include <taper/ops/special.h>
#include <taper/promotion.h>

#include "pointwise.h"

namespace taper::cpu_kernels {
void install_special();
namespace {

constexpr int kLibraryFunction = 64;  // rough work per element, in additions

template <class F>
void floating(Tensor& out, const Tensor& self) {
  const DType d = floating_of(self.dtype());
  elementwise(out, d, {{&self, d}}, floating_loop<F, 1>(d), nullptr, kLibraryFunction);
}
void signbit(Tensor& out, const Tensor& self) {
  const DType d = self.dtype();
  elementwise(out, bool_, {{&self, d}}, mask_loop<fn::Signbit, 1>(d), nullptr, 1);
}
void polygamma(Tensor& out, const Tensor& self, const std::int64_t& n) {
  const DType d = floating_of(self.dtype());
  const fn::Polygamma f{n};
  elementwise(out, d, {{&self, d}}, floating_loop<fn::Polygamma, 1>(d), &f, kLibraryFunction);
}
void logit(Tensor& out, const Tensor& self, const std::optional<double>& eps) {
  const DType d = floating_of(self.dtype());
  const fn::Logit f{eps.value_or(-1)};
  elementwise(out, d, {{&self, d}}, floating_loop<fn::Logit, 1>(d), &f, kLibraryFunction);
}

}  // namespace

void install_special() {
  constexpr DispatchKey key = DispatchKey::CPU;
  ops::sinc.set_kernel(key, floating<fn::Sinc>);
  ops::erfinv.set_kernel(key, floating<fn::Erfinv>);
  ops::lgamma.set_kernel(key, floating<fn::Lgamma>);
  ops::digamma.set_kernel(key, floating<fn::Digamma>);
  ops::signbit.set_kernel(key, signbit);
  ops::polygamma.set_kernel(key, polygamma);
  ops::logit.set_kernel(key, logit);
}

}  // namespace taper::cpu_kernels
