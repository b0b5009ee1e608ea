#include <taper/operator.h>
#include <taper/ops/image.h>

#include "memory_order.h"
#include "parallel.h"

namespace taper::cpu_kernels {
void install_image();
namespace {

/// (x / 255 - mean) / std = x * factor + shift
void scale_range(const std::uint8_t* __restrict x, float* __restrict y, float factor, float shift, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = float(x[i]) * factor + shift;
}

void normalize_images(Tensor& out, const Tensor& images, const ImageScale& scale) {
  const Tensor dense = operand_in_order("normalize_images", images, MemoryFormat::contiguous);
  const auto* x = static_cast<const std::uint8_t*>(dense.data_ptr());
  auto* y = static_cast<float*>(out.impl()->data());
  const std::int64_t channels = std::int64_t(scale.mean.size());
  // With one mean for all, the pictures are one plane.
  const std::int64_t plane = channels == 1 ? out.numel() : out.size(-1) * out.size(-2);
  if (plane == 0) return;

  constexpr std::int64_t kGrain = 1 << 18;
  const auto planes = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t p = i / plane, last = std::min(end, (p + 1) * plane);
      const std::size_t c = std::size_t(p % channels);
      const double factor = 1 / (255 * scale.std[c]), shift = -scale.mean[c] / scale.std[c];
      scale_range(x + i, y + i, float(factor), float(shift), last - i);
      i = last;
    }
  };
  parallel_for(0, out.numel(), kGrain, planes);
}

}  // namespace

void install_image() { ops::normalize_images.set_kernel(DispatchKey::CPU, normalize_images); }

}  // namespace taper::cpu_kernels
