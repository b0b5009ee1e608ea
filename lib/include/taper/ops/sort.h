#pragma once
// Order along a dim: sorting, the largest, the middle, where something belongs. NaN counts as larger than everything,
// -0 as equal to 0; equal elements stay in their order. Positions are int64. Values are differentiable, masks and
// positions are not. A 0-dim tensor counts as one entry.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <array>
#include <tuple>

namespace taper {

/// The entries of dim in order, and where each was. Always stable.
std::tuple<Tensor, Tensor> sort(const Tensor& self, std::int64_t dim = -1, bool descending = false);
std::tuple<Tensor&, Tensor&> sort_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t dim = -1,
                                      bool descending = false);
/// Only where each was.
Tensor argsort(const Tensor& self, std::int64_t dim = -1, bool descending = false);
Tensor& argsort_out(Tensor& out, const Tensor& self, std::int64_t dim = -1, bool descending = false);
/// The k largest (or smallest) entries of dim, best first, and where they were; `sorted` = false promises no order.
/// Among equals those that come first. Throws ValueError unless dim has k entries.
std::tuple<Tensor, Tensor> topk(const Tensor& self, std::int64_t k, std::int64_t dim = -1, bool largest = true,
                                bool sorted = true);
std::tuple<Tensor&, Tensor&> topk_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t k,
                                      std::int64_t dim = -1, bool largest = true, bool sorted = true);
/// The k-th smallest entry of dim, counted from 1, and where it was. Throws ValueError unless dim has k entries.
std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, std::int64_t k, std::int64_t dim = -1, bool keepdim = false);
std::tuple<Tensor&, Tensor&> kthvalue_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t k,
                                          std::int64_t dim = -1, bool keepdim = false);
/// The middle entry of dim, of an even number the lower one; NaN if there is one.
std::tuple<Tensor, Tensor> median(const Tensor& self, std::int64_t dim, bool keepdim = false);
std::tuple<Tensor&, Tensor&> median_out(Tensor& values, Tensor& indices, const Tensor& self, std::int64_t dim,
                                        bool keepdim = false);
/// The middle one of all elements; NaN for none.
Tensor median(const Tensor& self);
Tensor& median_out(Tensor& out, const Tensor& self);

/// The distinct values in ascending order; with return_inverse, for each element its place among them; with
/// return_counts, how often each occurs. What is not asked for is undefined. Each NaN is distinct. Not differentiable.
std::tuple<Tensor, Tensor, Tensor> unique(const Tensor& self, bool return_inverse = false, bool return_counts = false);
/// How often 0, 1, 2, ... occur in a vector of integers, or the sum of their weights; at least minlength entries.
Tensor bincount(const Tensor& self, const Tensor& weights = {}, std::int64_t minlength = 0);
Tensor& bincount_out(Tensor& out, const Tensor& self, const Tensor& weights = {}, std::int64_t minlength = 0);
/// Where each value would be inserted into the ascending last dim of sorted_sequence: before its equals, with `right`
/// after them. sorted_sequence is one dim, or has the leading dims of values. Same dtype. int64, or int32 if asked for.
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool out_int32 = false, bool right = false);
Tensor& searchsorted_out(Tensor& out, const Tensor& sorted_sequence, const Tensor& values, bool out_int32 = false,
                         bool right = false);
Tensor searchsorted(const Tensor& sorted_sequence, Scalar value, bool out_int32 = false, bool right = false);
Tensor& searchsorted_out(Tensor& out, const Tensor& sorted_sequence, Scalar value, bool out_int32 = false,
                         bool right = false);
/// searchsorted(boundaries, self): the number of the bucket that each element falls into.
Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32 = false, bool right = false);
Tensor& bucketize_out(Tensor& out, const Tensor& self, const Tensor& boundaries, bool out_int32 = false,
                      bool right = false);
Tensor bucketize(Scalar self, const Tensor& boundaries, bool out_int32 = false, bool right = false);
Tensor& bucketize_out(Tensor& out, Scalar self, const Tensor& boundaries, bool out_int32 = false, bool right = false);

namespace ops {
extern StructuredOp<std::array<Tensor, 2>(Tensor, std::int64_t, bool)> sort;                // self, dim, descending
extern StructuredOp<std::array<Tensor, 2>(Tensor, std::int64_t, std::int64_t, bool)> topk;  // self, dim, k, largest
extern StructuredOp<std::array<Tensor, 2>(Tensor, std::int64_t, std::int64_t)> kthvalue;    // self, dim, k; keeps dim
extern StructuredOp<std::array<Tensor, 2>(Tensor, std::int64_t)> median;                    // self, dim; keeps dim
extern StructuredOp<Tensor(Tensor, Tensor, bool, bool)> searchsorted;  // sequence, values, out_int32, right
}  // namespace ops

}  // namespace taper
