#pragma once
// What the values of a tensor are like: the most frequent, the middle, shares of them, how many lie where.
// `dim` is reduced; the result lacks it, or with `keepdim` has it with size 1. A 0-dim tensor counts as one entry.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/tensor.h>

#include <optional>
#include <string_view>
#include <tuple>

namespace taper {

/// The most frequent value along dim, of several the smallest, and the position of its last occurrence. NaN equals
/// nothing, itself included. The values are differentiable. Throws ValueError if dim has no entries.
std::tuple<Tensor, Tensor> mode(const Tensor& self, std::int64_t dim = -1, bool keepdim = false);
std::tuple<Tensor&, Tensor&> mode_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t dim = -1,
                                      bool keepdim = false);

/// The lower middle value of those that are not NaN, and its position; NaN where all are. The values are
/// differentiable.
std::tuple<Tensor, Tensor> nanmedian(const Tensor& self, std::int64_t dim, bool keepdim = false);
/// Of all elements.
Tensor nanmedian(const Tensor& self);
std::tuple<Tensor&, Tensor&> nanmedian_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t dim,
                                           bool keepdim = false);

/// The value below which the share q, in [0, 1], of the sorted values along dim lies (of all elements without a dim).
/// Where that is between two of them, `interpolation` decides: linear, lower, higher, midpoint or nearest. A NaN among
/// the values makes it NaN. q is a number, or a vector, which gives the result a first dim. float32 and float64, q of
/// the same dtype. Differentiable. Throws ValueError for other q, and if there are no values.
Tensor quantile(const Tensor& self, double q, std::optional<std::int64_t> dim = {}, bool keepdim = false,
                std::string_view interpolation = "linear");
Tensor quantile(const Tensor& self, const Tensor& q, std::optional<std::int64_t> dim = {}, bool keepdim = false,
                std::string_view interpolation = "linear");
/// Of the values that are not NaN; NaN where all are.
Tensor nanquantile(const Tensor& self, double q, std::optional<std::int64_t> dim = {}, bool keepdim = false,
                   std::string_view interpolation = "linear");
Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<std::int64_t> dim = {}, bool keepdim = false,
                   std::string_view interpolation = "linear");
Tensor& quantile_out(Tensor& out, const Tensor& self, const Tensor& q, std::optional<std::int64_t> dim = {},
                     bool keepdim = false, std::string_view interpolation = "linear");
Tensor& nanquantile_out(Tensor& out, const Tensor& self, const Tensor& q, std::optional<std::int64_t> dim = {},
                        bool keepdim = false, std::string_view interpolation = "linear");

/// How many elements lie in each of `bins` equal parts of [min, max], max included, as numbers of self's floating
/// dtype. If min and max are equal, they are the least and largest element (widened by 1 if those are equal). Elements
/// outside and NaN are not counted. No derivative. Throws ValueError for a range that is empty or infinite.
Tensor histc(const Tensor& self, std::int64_t bins = 100, double min = 0, double max = 0);
Tensor& histc_out(Tensor& out, const Tensor& self, std::int64_t bins = 100, double min = 0, double max = 0);

/// The covariances of self's rows, of which each is a variable and each column an observation, with the divisor n -
/// correction; a vector is one variable. Differentiable.
Tensor cov(const Tensor& self, std::int64_t correction = 1);
/// The correlations of self's rows, from -1 to 1. Differentiable.
Tensor corrcoef(const Tensor& self);

}  // namespace taper
