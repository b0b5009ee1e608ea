#include <taper/factory.h>
#include <taper/ops/attention.h>
#include <taper/ops/diagonals.h>
#include <taper/ops/dropout.h>
#include <taper/ops/index.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/softmax.h>
#include <taper/ops/view.h>

#include <cmath>
#include <limits>

namespace taper {

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, Generator& generator) {
  constexpr const char* op = "scaled_dot_product_attention";
  check<ShapeError>(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2, op,
                    ": query, key and value need at least two dims, got ", query.sizes(), ", ", key.sizes(), " and ",
                    value.sizes());
  check<ShapeError>(query.size(-1) == key.size(-1), op, ": query ", query.sizes(), " and key ", key.sizes(),
                    " differ in the length of their vectors");
  check<ShapeError>(key.size(-2) == value.size(-2), op, ": there are ", key.size(-2), " keys but ", value.size(-2),
                    " values");
  check<ValueError>(!is_causal || !attn_mask.defined(), op, ": is_causal is a mask by itself; give one of the two");
  const double factor = scale.value_or(1 / std::sqrt(double(query.size(-1))));
  Tensor scores = matmul(query.mul(factor), key.transpose(-2, -1));
  if (!is_causal && !attn_mask.defined())
    return matmul(dropout(softmax(scores, -1), dropout_p, dropout_p > 0, generator), value);

  Tensor mask = attn_mask;
  if (is_causal) mask = ones({query.size(-2), key.size(-2)}, bool_, query.device()).tril();
  check<DTypeError>(mask.dtype() == bool_ || mask.is_floating_point(), op, ": attn_mask must be bool or floating, got ",
                    mask);
  const double hidden = -std::numeric_limits<double>::infinity();
  const bool chooses = mask.dtype() == bool_;
  const Tensor sees_none = (chooses ? mask : mask.ne(hidden)).any(-1, true).logical_not();
  scores = chooses ? where(mask, scores, hidden) : scores.add(mask);
  // Kept away from softmax, whose NaN would reach the gradients.
  Tensor weights = softmax(where(sees_none, 0, scores), -1);
  weights = where(sees_none, 0, weights);
  return matmul(dropout(weights, dropout_p, dropout_p > 0, generator), value);
}

}  // namespace taper
