#include <taper/operator.h>
#include <taper/ops/rearrange.h>

#include "elements.h"
#include "strided_rows.h"

namespace taper::cpu_kernels {
void install_rearrange();
namespace {

void flip(Tensor& out, const Tensor& self, const IntSpan& dims) {
  if (out.numel() == 0) return;
  IntVec strides = self.strides().vec();
  std::int64_t first = 0;
  for (const std::int64_t any : dims) {
    if (self.dim() == 0) break;
    const std::int64_t d = any < 0 ? any + self.dim() : any;
    first += (self.size(d) - 1) * self.stride(d);
    strides[std::size_t(d)] = -self.stride(d);
  }
  const StridedRows<1> rows(self.sizes(), {IntSpan(strides)});
  const std::int64_t n = rows.row_length(), step = rows.steps()[0];
  dispatch_size(self.dtype(), [&]<class T>(Type<T>) {
    T* to = first_of<T>(out);
    const T* const from = first_of<const T>(self) + first;
    rows.for_each_row(0, rows.rows(), [&](const auto& at) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = from[at[0] + i * step];
      to += n;
    });
  });
}

}  // namespace

void install_rearrange() { ops::flip.set_kernel(DispatchKey::CPU, flip); }

}  // namespace taper::cpu_kernels
