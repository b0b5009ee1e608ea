// tril and triu.
#include <taper/operator.h>
#include <taper/ops/diagonals.h>

#include <algorithm>

#include "elements.h"
#include "strided_rows.h"

namespace taper::cpu_kernels {
void install_triangles();
namespace {

template <bool lower>
void triangle(Tensor& out, const Tensor& x, const std::int64_t& diagonal) {
  if (out.numel() == 0) return;
  const std::size_t lead = x.sizes().size() - 2;
  const std::int64_t rows = x.size(-2), columns = x.size(-1), down = x.stride(-2), right = x.stride(-1);
  const std::int64_t offset = std::clamp(diagonal, -rows - 1, columns + 1);
  const auto leading = [&](IntSpan s) { return IntSpan(s.data(), lead); };
  const StridedRows<2> batch(leading(x.sizes()), {leading(out.strides()), leading(x.strides())});
  dispatch_size(x.dtype(), [&]<class T>(Type<T>) {
    batch.for_each([&](const auto& at) {
      T* to = first_of<T>(out) + at[0];
      const T* from = first_of<const T>(x) + at[1];
      for (std::int64_t r = 0; r < rows; ++r, to += columns, from += down) {
        const std::int64_t edge = std::clamp<std::int64_t>(r + offset + (lower ? 1 : 0), 0, columns);
        const std::int64_t begin = lower ? 0 : edge, end = lower ? edge : columns;
        std::fill(to, to + begin, T(0));
        for (std::int64_t c = begin; c < end; ++c) to[c] = from[c * right];
        std::fill(to + end, to + columns, T(0));
      }
    });
  });
}

}  // namespace

void install_triangles() {
  ops::tril.set_kernel(DispatchKey::CPU, triangle<true>);
  ops::triu.set_kernel(DispatchKey::CPU, triangle<false>);
}

}  // namespace taper::cpu_kernels
