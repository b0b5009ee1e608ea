// nonzero. (masked_fill is elementwise: pointwise/compare.h.)
#include <taper/operator.h>
#include <taper/ops/index.h>

#include "elements.h"
#include "strided_rows.h"

namespace taper::cpu_kernels {
void install_mask();
namespace {

void nonzero(Tensor& out, const Tensor& self, const std::int64_t&) {
  if (out.numel() == 0) return;
  const IntSpan sizes = self.sizes();
  auto* to = first_of<std::int64_t>(out);
  dispatch_all(self.dtype(), [&]<class T>(Type<T>) {
    const T* const x = first_of<const T>(self);
    std::int64_t i = 0;  // in row-major order
    StridedRows<1>(sizes, {self.strides()}).for_each([&](const auto& at) {
      if (x[at[0]] != T(0)) {
        std::int64_t rest = i;
        for (std::size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) to[d] = rest % sizes[d];
        to += sizes.size();
      }
      ++i;
    });
  });
}

}  // namespace

void install_mask() { ops::nonzero.set_kernel(DispatchKey::CPU, nonzero); }

}  // namespace taper::cpu_kernels
