#pragma once
// Signals, images and volumes in other sizes: [n, c, length], [n, c, h, w] or [n, c, depth, h, w]. Floating dtypes.
// Differentiable; grid_sample in the grid, too.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/tensor.h>

#include <optional>
#include <string_view>
#include <vector>

namespace taper {

struct InterpolateOptions {
  IntVec size = {};                        ///< of the result; or
  std::vector<double> scale_factor = {};   ///< one number for all dims, or one for each
  std::string_view mode = "nearest";       ///< nearest, nearest-exact, linear, bilinear, trilinear, bicubic, area
  std::optional<bool> align_corners = {};  ///< first and last samples stay in place; for the linear and cubic modes
  bool recompute_scale_factor = false;     ///< positions follow from the sizes, not from scale_factor
  bool antialias = false;                  ///< for bilinear and bicubic: shrinking looks at all that it covers
};
/// x in another size. Throws ShapeError and ValueError for sizes and options that do not go together.
Tensor interpolate(const Tensor& x, const InterpolateOptions& options);

/// [..., c r^2, h, w] -> [..., c, h r, w r]: r^2 channels become an r by r square. Shi et al. 2016.
Tensor pixel_shuffle(const Tensor& x, std::int64_t upscale_factor);
Tensor& pixel_shuffle_out(Tensor& out, const Tensor& x, std::int64_t upscale_factor);
/// The reverse of pixel_shuffle.
Tensor pixel_unshuffle(const Tensor& x, std::int64_t downscale_factor);
Tensor& pixel_unshuffle_out(Tensor& out, const Tensor& x, std::int64_t downscale_factor);

/// x at the points of a grid: [n, c, h, w] at [n, h2, w2, 2] -> [n, c, h2, w2], or [n, c, d, h, w] at
/// [n, d2, h2, w2, 3]. Points are (x, y) or (x, y, z), -1 and 1 being the outer edges of the corner elements, or with
/// align_corners their centres.
///
/// mode is bilinear, nearest or (for images) bicubic; padding_mode says what is outside: zeros, border (the nearest
/// edge), reflection.
Tensor grid_sample(const Tensor& x, const Tensor& grid, std::string_view mode = "bilinear",
                   std::string_view padding_mode = "zeros", bool align_corners = false);
/// The grid that takes an image of `size` through theta [n, 2, 3], or a volume through theta [n, 3, 4].
Tensor affine_grid(const Tensor& theta, IntSpan size, bool align_corners = false);

}  // namespace taper
