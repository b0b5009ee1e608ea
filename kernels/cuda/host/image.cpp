#include "cuda/image.h"

#include <taper/operator.h>
#include <taper/ops/image.h>

#include <algorithm>

#include "device.h"
#include "install.h"
#include "operand_order.h"

namespace taper::cuda_kernels {
namespace {

constexpr std::int64_t kMost = (std::int64_t(1) << 31) - 1;  // kernels count in 32 bits

/// (x / 255 - mean) / std = x factor + shift
void normalize_images(Tensor& out, const Tensor& images, const ImageScale& scale) {
  if (out.numel() == 0) return;
  check<NotImplementedError>(out.numel() <= kMost, "normalize_images: ", images.spec(), " has more than ", kMost,
                             " elements, which CUDA kernels do not count; normalize a part at a time");
  const Tensor x = kernels::operand_in_order("normalize_images", images, MemoryFormat::contiguous);
  const auto channels = std::uint32_t(scale.mean.size());
  // With one mean for all, the pictures are one plane.
  const std::int64_t plane = channels == 1 ? out.numel() : out.size(-1) * out.size(-2);
  const OnDevice on(out.device());
  for (std::uint32_t first = 0; first < channels; first += ScaledPlanes::kMost) {
    const std::uint32_t here = std::min(channels - first, ScaledPlanes::kMost);
    ScaledPlanes s{.plane = FastDiv::by(std::uint32_t(plane)),
                   .here = FastDiv::by(here),
                   .channels = channels,
                   .first = first,
                   .count = std::uint32_t(out.numel() / channels * here),
                   .factor = {},
                   .shift = {}};
    for (std::uint32_t c = 0; c < here; ++c) {
      s.factor[c] = float(1 / (255 * scale.std[first + c]));
      s.shift[c] = float(-scale.mean[first + c] / scale.std[first + c]);
    }
    scale_planes(on.queue(), s, kernels::values_of<std::uint8_t>(x), kernels::place_of<float>(out));
  }
}

}  // namespace

void install_image() { ops::normalize_images.set_kernel(DispatchKey::CUDA, normalize_images); }

}  // namespace taper::cuda_kernels
