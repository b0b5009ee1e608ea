#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/image.h>

#include "constant_on.h"

namespace taper {

namespace {

void check_scale(const Tensor& images, const ImageScale& scale) {
  check<ValueError>(!scale.mean.empty() && scale.mean.size() == scale.std.size(), "normalize_images: got ",
                    scale.mean.size(), " means and ", scale.std.size(),
                    " deviations; give one of each, or as many as channels");
  for (const double s : scale.std) check<ValueError>(s > 0, "normalize_images: a deviation must be positive, got ", s);
  const std::int64_t channels = std::int64_t(scale.mean.size());
  check<ShapeError>(channels == 1 || (images.dim() >= 3 && images.size(-3) == channels), "normalize_images: ", channels,
                    " means need images [..., ", channels, ", height, width], got ", images.spec());
}

TensorSpec infer(const Tensor& images, const ImageScale& scale) {
  check_scale(images, scale);
  check<DTypeError>(images.dtype() == uint8, "normalize_images: images must be uint8 or floating, got ", images.spec());
  return TensorSpec::contiguous(images.sizes(), float32, images.device());
}

/// The numbers as [c, 1, 1], to broadcast over pictures.
Tensor per_channel(const std::vector<double>& values, const Tensor& like) {
  Tensor t = constant_on(like.device(), from_vector(std::vector<double>(values)).to(like.dtype()));
  if (values.size() == 1) return t.view(IntSpan{});
  return t.view({std::int64_t(values.size()), 1, 1});
}

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor, ImageScale)> normalize_images{"normalize_images", "images", infer};
}  // namespace ops

Tensor normalize_images(const Tensor& images, const std::vector<double>& mean, const std::vector<double>& std) {
  const ImageScale scale{mean, std};
  if (!images.is_floating_point()) return ops::normalize_images(images, scale);
  check_scale(images, scale);
  return images.sub(per_channel(mean, images)).div(per_channel(std, images));
}

}  // namespace taper
