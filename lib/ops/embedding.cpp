#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/embedding.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/sort.h>
#include <taper/ops/view.h>

#include "positions.h"

namespace taper {
namespace {

void check_padding(const Tensor& weight, std::optional<std::int64_t> padding_idx) {
  if (!padding_idx) return;
  const std::int64_t n = weight.size(0);
  check<ValueError>(*padding_idx >= -n && *padding_idx < n, "embedding: padding_idx is ", *padding_idx,
                    " but weight has ", n, " rows");
}
void check_table(const char* op, const Tensor& weight, const Tensor& indices) {
  check<ShapeError>(weight.dim() == 2, op, ": weight must be [entries, width], got ", weight);
  check_position_dtype(op, indices);
  check_positions(op, indices, weight.size(0), 0, weight, Negative::refused);
}

TensorSpec infer_embedding(const Tensor& weight, const Tensor& indices, const std::optional<std::int64_t>& padding_idx,
                           const bool&) {
  check_table("embedding", weight, indices);
  check_padding(weight, padding_idx);
  IntVec sizes = indices.sizes().vec();
  sizes.push_back(weight.size(1));
  return TensorSpec::contiguous(sizes, weight.dtype(), weight.device());
}

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor, Tensor, std::optional<std::int64_t>, bool)> embedding{
    "embedding", "weight, indices, padding_idx, scale_grad_by_freq", infer_embedding};
}  // namespace ops

Tensor embedding(const Tensor& weight, const Tensor& indices, std::optional<std::int64_t> padding_idx,
                 bool scale_grad_by_freq) {
  return ops::embedding(weight, indices, padding_idx, scale_grad_by_freq);
}
Tensor& embedding_out(Tensor& out, const Tensor& weight, const Tensor& indices, std::optional<std::int64_t> padding_idx,
                      bool scale_grad_by_freq) {
  return ops::embedding.out(out, weight, indices, padding_idx, scale_grad_by_freq);
}

Tensor& embedding_renorm_(Tensor& weight, const Tensor& indices, double max_norm, double norm_type) {
  check_table("embedding_renorm_", weight, indices);
  check<ValueError>(max_norm >= 0, "embedding_renorm_: max_norm is ", max_norm, ", expected 0 or more");
  if (indices.numel() == 0) return weight;
  const NoGradGuard no_grad;
  {
    const ExcludeKeysGuard as_one(DispatchKey::Watch);  // a second call finds nothing to do: it reads no old value
    const Tensor rows = std::get<0>(unique(indices));
    const Tensor old = index_select(weight, 0, rows), length = norm(old, norm_type, 1, true);
    const Tensor factor = where(length.gt(max_norm), max_norm / (length + 1e-7), 1);
    index_copy_(weight, 0, rows, old.mul(factor));
  }
  weight.impl()->count_write("embedding_renorm_");
  return weight;
}

}  // namespace taper
