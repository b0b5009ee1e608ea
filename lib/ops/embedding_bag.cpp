#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/embedding.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/rearrange.h>
#include <taper/ops/reduce.h>
#include <taper/ops/sort.h>
#include <taper/ops/view.h>

#include "positions.h"

namespace taper {
namespace {

/// The looked-up entries in one dim, and the bag each belongs to.
struct Bags {
  Tensor entries, bag;
  std::int64_t count = 0;
};

Bags bags_of(const Tensor& indices, const Tensor& offsets, bool include_last_offset) {
  const auto count_up = [&](std::int64_t n) { return arange(n, {.dtype = int64, .device = indices.device()}); };
  if (indices.dim() == 2) {
    check<ValueError>(!offsets.defined(), "embedding_bag: indices ", indices.sizes(),
                      " have a bag in each row, so offsets cannot be given");
    return {indices.reshape(-1), repeat_interleave(count_up(indices.size(0)), indices.size(1)), indices.size(0)};
  }
  check<ShapeError>(indices.dim() == 1, "embedding_bag: indices must have one or two dims, got ", indices);
  check<ValueError>(offsets.defined() && offsets.dim() == 1,
                    "embedding_bag: indices in one dim need offsets in one dim, where each bag begins");
  check_position_dtype("embedding_bag", offsets);
  check<ValueError>(!include_last_offset || offsets.size(0) > 0, "embedding_bag: include_last_offset needs an offset");
  const Tensor begins = offsets.to(int64);
  const std::int64_t count = offsets.size(0) - (include_last_offset ? 1 : 0);
  if (offsets.device().is_meta()) return {indices, zeros(indices.sizes(), int64, offsets.device()), count};
  const std::vector<std::int64_t> at = begins.to_vector<std::int64_t>();
  const std::int64_t n = indices.size(0);
  check<ValueError>(at.empty() || at[0] == 0, "embedding_bag: offsets[0] must be 0, the start of the first bag, got ",
                    at.empty() ? 0 : at[0]);
  for (std::size_t i = 0; i < at.size(); ++i)
    check<ValueError>(at[i] <= n && (i == 0 || at[i] >= at[i - 1]), "embedding_bag: offsets must ascend up to ", n,
                      ", the number of indices, but offsets[", i, "] is ", at[i]);
  Bags bags{indices, {}, count};
  if (include_last_offset) bags.entries = indices.narrow(0, 0, at.back());
  if (bags.count == 0) bags.entries = indices.narrow(0, 0, 0);
  // The last offset that is not behind the entry.
  bags.bag = bucketize(count_up(bags.entries.size(0)), begins, false, true).sub(1);
  return bags;
}

}  // namespace

Tensor embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                     const EmbeddingBagOptions& options, const Tensor& per_sample_weights) {
  check<ShapeError>(weight.dim() == 2, "embedding_bag: weight must be [entries, width], got ", weight);
  check_position_dtype("embedding_bag", indices);
  const bool weighted = per_sample_weights.defined();
  check<ValueError>(!weighted || options.mode == BagMode::sum,
                    "embedding_bag: per_sample_weights go with mode sum only");
  check<ShapeError>(!weighted || per_sample_weights.sizes() == indices.sizes(), "embedding_bag: per_sample_weights ",
                    weighted ? per_sample_weights.sizes() : IntSpan(), " do not fit indices ", indices.sizes());
  Bags bags = bags_of(indices, offsets, options.include_last_offset);
  Tensor factors = weighted ? per_sample_weights.reshape(-1).narrow(0, 0, bags.entries.size(0)) : Tensor();
  if (options.padding_idx) {
    const std::int64_t rows = weight.size(0), padding = *options.padding_idx;
    check<ValueError>(padding >= -rows && padding < rows, "embedding_bag: padding_idx is ", padding, " but weight has ",
                      rows, " rows");
    if (!weight.device().is_meta()) {  // how many are left does not change the result's shape
      const Tensor counted = nonzero(bags.entries.ne(padding < 0 ? padding + rows : padding)).select(1, 0);
      bags.entries = index_select(bags.entries, 0, counted);
      bags.bag = index_select(bags.bag, 0, counted);
      if (weighted) factors = index_select(factors, 0, counted);
    }
  }

  Tensor rows = embedding(weight, bags.entries, {}, options.scale_grad_by_freq);
  if (weighted) rows = rows.mul(factors.unsqueeze(1));
  const Tensor none = zeros({bags.count, weight.size(1)}, weight.dtype(), weight.device());
  if (options.mode == BagMode::max)
    return scatter_reduce(none, 0, bags.bag.unsqueeze(1).expand(rows.sizes()), rows, "amax", false);
  const Tensor sums = index_add(none, 0, bags.bag, rows);
  if (options.mode == BagMode::sum) return sums;
  const Tensor one_each = ones(bags.bag.sizes(), int64, weight.device());
  const Tensor counts = index_add(zeros({bags.count}, int64, weight.device()), 0, bags.bag, one_each);
  return sums.div(counts.clamp_min(1).to(weight.dtype()).unsqueeze(1));
}

}  // namespace taper
