#pragma once
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <vector>

namespace taper {

struct ImageScale {
  using plain_argument = void;
  std::vector<double> mean, std;
};

/// Brings pictures to mean 0 and deviation 1, given those of the data set: (x - mean) / std, channel by channel.
///
/// images [..., c, h, w] or any shape if mean and std hold one number, else one for each of the c channels.
/// uint8 pictures become float32 and count from 0 to 1: (x / 255 - mean) / std, in one pass. Pictures of float32 or
/// float64 keep dtype and scale, and are differentiable. Throws ValueError if a deviation is not positive, and
/// ShapeError if the channels are not as many.
Tensor normalize_images(const Tensor& images, const std::vector<double>& mean, const std::vector<double>& std);

namespace ops {
/// For uint8.
extern StructuredOp<Tensor(Tensor, ImageScale)> normalize_images;
}  // namespace ops

}  // namespace taper
