#include <taper/operator.h>
#include <taper/ops/embedding.h>

#include <cstring>

#include "elements.h"
#include "parallel.h"
#include "strided_rows.h"

namespace taper::cpu_kernels {
void install_embedding();
namespace {

void embedding(Tensor& out, const Tensor& weight, const Tensor& indices, const std::optional<std::int64_t>&,
               const bool&) {
  if (out.numel() == 0) return;
  const std::int64_t width = weight.size(1), down = weight.stride(0), right = weight.stride(1);
  const StridedRows<1> rows(indices.sizes(), {indices.strides()});
  const std::int64_t n = rows.row_length(), step = rows.steps()[0];
  dispatch_size(weight.dtype(), [&]<class T>(Type<T>) {
    const auto copy = [&]<class Index>(Type<Index>) {
      parallel_for(0, rows.rows(), grain_for(n * width), [&](std::int64_t begin, std::int64_t end) {
        T* to = first_of<T>(out) + begin * n * width;
        rows.for_each_row(begin, end, [&](const auto& at) {
          for (std::int64_t i = 0; i < n; ++i, to += width) {
            const T* from =
                first_of<const T>(weight) + std::int64_t(first_of<const Index>(indices)[at[0] + i * step]) * down;
            if (right == 1)
              std::memcpy(to, from, std::size_t(width) * sizeof(T));
            else
              for (std::int64_t c = 0; c < width; ++c) to[c] = from[c * right];
          }
        });
      });
    };
    if (indices.dtype() == int32)
      copy(Type<std::int32_t>{});
    else
      copy(Type<std::int64_t>{});
  });
}

}  // namespace

void install_embedding() { ops::embedding.set_kernel(DispatchKey::CPU, embedding); }

}  // namespace taper::cpu_kernels
