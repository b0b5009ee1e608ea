#pragma once
// Pools of other kinds than max_pool2d() and avg_pool2d(): along lines, in volumes, to a given size, by norms, and
// back. Floating dtypes; x is a batch or, without the first dim, one sample. Differentiable, twice too. Errors as of
// max_pool2d().
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/convs.h>
#include <taper/ops/pool.h>

#include <optional>
#include <utility>
#include <vector>

namespace taper {

struct MaxPool1dOptions {
  std::optional<std::int64_t> stride = {};  ///< absent: the window's size
  std::int64_t padding = 0, dilation = 1;
  bool ceil_mode = false;
};
/// x [n, c, length].
Tensor max_pool1d(const Tensor& x, std::int64_t kernel_size, const MaxPool1dOptions& options = {});
std::pair<Tensor, Tensor> max_pool1d_with_indices(const Tensor& x, std::int64_t kernel_size,
                                                  const MaxPool1dOptions& options = {});
struct AvgPool1dOptions {
  std::optional<std::int64_t> stride = {};
  std::int64_t padding = 0;
  bool ceil_mode = false, count_include_pad = true;
};
Tensor avg_pool1d(const Tensor& x, std::int64_t kernel_size, const AvgPool1dOptions& options = {});

struct MaxPool3dOptions {
  std::optional<IntTriple> stride = {};
  IntTriple padding = 0, dilation = 1;
  bool ceil_mode = false;
};
/// x [n, c, d, h, w]; positions count through the volume in row-major order.
Tensor max_pool3d(const Tensor& x, IntTriple kernel_size, const MaxPool3dOptions& options = {});
std::pair<Tensor, Tensor> max_pool3d_with_indices(const Tensor& x, IntTriple kernel_size,
                                                  const MaxPool3dOptions& options = {});
std::tuple<Tensor&, Tensor&> max_pool3d_with_indices_out(Tensor& out, Tensor& indices, const Tensor& x,
                                                         IntTriple kernel_size, const MaxPool3dOptions& options = {});
struct AvgPool3dOptions {
  std::optional<IntTriple> stride = {};
  IntTriple padding = 0;
  bool ceil_mode = false, count_include_pad = true;
  std::optional<std::int64_t> divisor_override = {};
};
Tensor avg_pool3d(const Tensor& x, IntTriple kernel_size, const AvgPool3dOptions& options = {});
Tensor& avg_pool3d_out(Tensor& out, const Tensor& x, IntTriple kernel_size, const AvgPool3dOptions& options = {});

/// Sizes of a result; an absent one is that of x. One for all dims, or one for each.
using OutputSizes = std::vector<std::optional<std::int64_t>>;
/// Means over parts of nearly equal size, as many as output_size says.
Tensor adaptive_avg_pool1d(const Tensor& x, const OutputSizes& output_size);
Tensor adaptive_avg_pool2d(const Tensor& x, const OutputSizes& output_size);
Tensor& adaptive_avg_pool2d_out(Tensor& out, const Tensor& x, const OutputSizes& output_size);
Tensor adaptive_avg_pool3d(const Tensor& x, const OutputSizes& output_size);
Tensor& adaptive_avg_pool3d_out(Tensor& out, const Tensor& x, const OutputSizes& output_size);
/// Maxima, and where they were.
std::pair<Tensor, Tensor> adaptive_max_pool1d_with_indices(const Tensor& x, const OutputSizes& output_size);
std::pair<Tensor, Tensor> adaptive_max_pool2d_with_indices(const Tensor& x, const OutputSizes& output_size);
std::tuple<Tensor&, Tensor&> adaptive_max_pool2d_with_indices_out(Tensor& out, Tensor& indices, const Tensor& x,
                                                                  const OutputSizes& output_size);
Tensor adaptive_max_pool1d(const Tensor& x, const OutputSizes& output_size);
Tensor adaptive_max_pool2d(const Tensor& x, const OutputSizes& output_size);

/// The elements of x back where max_pool found them, zeros elsewhere. output_size is that of the line or image; empty:
/// (size - 1) stride - 2 padding + kernel_size. Throws IndexError for a position outside.
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, std::int64_t kernel_size,
                    std::optional<std::int64_t> stride = {}, std::int64_t padding = 0, IntSpan output_size = {});
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, IntPair kernel_size, PoolStride stride = {},
                    IntPair padding = 0, IntSpan output_size = {});
Tensor& max_unpool2d_out(Tensor& out, const Tensor& x, const Tensor& indices, IntPair kernel_size,
                         PoolStride stride = {}, IntPair padding = 0, IntSpan output_size = {});

/// (sum of x^p)^(1/p) under each window.
Tensor lp_pool1d(const Tensor& x, double norm_type, std::int64_t kernel_size, std::optional<std::int64_t> stride = {},
                 bool ceil_mode = false);
Tensor lp_pool2d(const Tensor& x, double norm_type, IntPair kernel_size, PoolStride stride = {},
                 bool ceil_mode = false);

}  // namespace taper
