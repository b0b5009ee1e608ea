#pragma once
// Tables of vectors, looked up by number.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <optional>

namespace taper {

/// The rows of weight at `indices`. weight [entries, width], indices int64 or int32 of any shape -> [*indices, width].
///
/// Differentiable in weight; the row padding_idx, which counts from the end if negative, gets no gradient. With
/// scale_grad_by_freq each row's gradient is divided by how often it was looked up.
/// Throws IndexError for an index outside of [0, entries).
Tensor embedding(const Tensor& weight, const Tensor& indices, std::optional<std::int64_t> padding_idx = {},
                 bool scale_grad_by_freq = false);
Tensor& embedding_out(Tensor& out, const Tensor& weight, const Tensor& indices,
                      std::optional<std::int64_t> padding_idx = {}, bool scale_grad_by_freq = false);
/// Scales the rows of weight at `indices` down to the norm max_norm where theirs is larger; not recorded.
Tensor& embedding_renorm_(Tensor& weight, const Tensor& indices, double max_norm, double norm_type = 2);

enum class BagMode : std::uint8_t { sum, mean, max };
struct EmbeddingBagOptions {
  BagMode mode = BagMode::mean;
  bool scale_grad_by_freq = false;
  bool include_last_offset = false;              ///< the last of the offsets is the end of the last bag
  std::optional<std::int64_t> padding_idx = {};  ///< entries that do not count
};
/// Sums, means or maxima of bags of rows of weight. indices [bags, n]: each row a bag; or one dim, in which bag b
/// begins at offsets[b] and ends where the next one begins. Empty bags give 0. per_sample_weights, of indices' shape,
/// multiply the rows; only for sums. -> [bags, width]. Differentiable in weight and per_sample_weights.
Tensor embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets = {},
                     const EmbeddingBagOptions& options = {}, const Tensor& per_sample_weights = {});

namespace ops {
extern StructuredOp<Tensor(Tensor, Tensor, std::optional<std::int64_t>, bool)> embedding;
}  // namespace ops

}  // namespace taper
