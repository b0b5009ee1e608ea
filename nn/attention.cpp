#include <taper/factory.h>
#include <taper/nn/attention.h>
#include <taper/nn/init.h>
#include <taper/ops/attention.h>
#include <taper/ops/dropout.h>
#include <taper/ops/index.h>
#include <taper/ops/join.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pad.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/softmax.h>

#include <cmath>
#include <limits>

#include "fan_init.h"

namespace taper::nn {

namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// softmax(q k^T / sqrt(size) + mask), where a query that sees no key has weights 0.
Tensor attention_weights(const Tensor& q, const Tensor& k, const Tensor& mask) {
  const Tensor scores = matmul(q.mul(1 / std::sqrt(double(q.size(-1)))), k.transpose(-2, -1));
  if (!mask.defined()) return softmax(scores, -1);
  const bool is_bool = mask.dtype() == bool_;
  const Tensor sees_none = (is_bool ? mask : mask.eq(kHidden)).all(-1, true);
  const Tensor masked = is_bool ? scores.masked_fill(mask, kHidden) : scores.add(mask);
  // Kept away from softmax, whose NaN would reach the gradients.
  return softmax(masked.masked_fill(sees_none, 0), -1).masked_fill(sees_none, 0);
}

Tensor as_floating(const Tensor& mask, DType dtype) {
  if (mask.dtype() != bool_) return mask;
  return zeros(mask.sizes(), dtype, mask.device()).masked_fill(mask, kHidden);
}

void check_mask(const Tensor& mask, const char* what) {
  check<DTypeError>(mask.dtype() == bool_ || mask.is_floating_point(), "MultiheadAttention: ", what,
                    " must be bool, true for what is hidden, or floating, got ", mask.spec());
}

}  // namespace

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                                       const MultiheadAttentionOptions& options)
    : out_proj(embed_dim, embed_dim, {.bias = options.bias, .dtype = options.dtype, .device = options.device}),
      embed_dim_(embed_dim),
      num_heads_(num_heads),
      options_(options) {
  check<ValueError>(embed_dim > 0 && num_heads > 0 && embed_dim % num_heads == 0, "MultiheadAttention: num_heads must ",
                    "be positive and divide embed_dim, got ", num_heads, " for ", embed_dim);
  check<ValueError>(options.dropout >= 0 && options.dropout <= 1, "MultiheadAttention: dropout must be in [0, 1], got ",
                    options.dropout);
  const std::int64_t kdim = options.kdim.value_or(embed_dim), vdim = options.vdim.value_or(embed_dim);
  check<ValueError>(kdim > 0 && vdim > 0, "MultiheadAttention: kdim and vdim must be positive, got ", kdim, " and ",
                    vdim);
  const auto parameter = [&](IntSpan sizes) { return Parameter(empty(sizes, options.dtype, options.device)); };
  if (kdim == embed_dim && vdim == embed_dim) {
    in_proj_weight = parameter({3 * embed_dim, embed_dim});
  } else {
    q_proj_weight = parameter({embed_dim, embed_dim});
    k_proj_weight = parameter({embed_dim, kdim});
    v_proj_weight = parameter({embed_dim, vdim});
  }
  if (options.bias) in_proj_bias = parameter({3 * embed_dim});
  if (options.add_bias_kv) {
    bias_k = parameter({1, 1, embed_dim});
    bias_v = parameter({1, 1, embed_dim});
  }
  reset_parameters();
}

void MultiheadAttention::reset_parameters() {
  out_proj.reset_parameters();
  for (const Parameter* w : {&in_proj_weight, &q_proj_weight, &k_proj_weight, &v_proj_weight})
    if (w->defined()) init::xavier_uniform_(*w);
  if (in_proj_bias.defined()) {
    init::zeros_(in_proj_bias);
    init::zeros_(out_proj.bias);
  }
  if (bias_k.defined()) {
    init::xavier_normal_(bias_k);
    init::xavier_normal_(bias_v);
  }
}

void MultiheadAttention::members(MemberVisitor& v) {
  v("in_proj_weight", in_proj_weight);
  v("q_proj_weight", q_proj_weight);
  v("k_proj_weight", k_proj_weight);
  v("v_proj_weight", v_proj_weight);
  v("in_proj_bias", in_proj_bias);
  v("bias_k", bias_k);
  v("bias_v", bias_v);
  v("out_proj", out_proj);
}

std::string MultiheadAttention::extra_repr() const {
  const MultiheadAttentionOptions& o = options_;
  std::string s = "embed_dim=" + std::to_string(embed_dim_) + ", num_heads=" + std::to_string(num_heads_);
  if (o.dropout != 0) s += ", dropout=" + name_of_number(o.dropout);
  if (!o.bias) s += ", bias=False";
  if (o.add_bias_kv) s += ", add_bias_kv=True";
  if (o.add_zero_attn) s += ", add_zero_attn=True";
  if (o.kdim) s += ", kdim=" + std::to_string(*o.kdim);
  if (o.vdim) s += ", vdim=" + std::to_string(*o.vdim);
  if (o.batch_first) s += ", batch_first=True";
  return s;
}

void MultiheadAttention::check_inputs(const Tensor& query, const Tensor& key, const Tensor& value) const {
  constexpr const char* op = "MultiheadAttention";
  check<ShapeError>((query.dim() == 2 || query.dim() == 3) && key.dim() == query.dim() && value.dim() == query.dim(),
                    op, ": query, key and value must all have 3 dims, or all have 2 without a batch, got ",
                    query.sizes(), ", ", key.sizes(), " and ", value.sizes());
  const std::int64_t kdim = options_.kdim.value_or(embed_dim_), vdim = options_.vdim.value_or(embed_dim_);
  check<ShapeError>(query.size(-1) == embed_dim_ && key.size(-1) == kdim && value.size(-1) == vdim, op,
                    ": the last sizes of query, key and value must be ", embed_dim_, ", ", kdim, " and ", vdim,
                    ", got ", query.sizes(), ", ", key.sizes(), " and ", value.sizes());
  const bool batched = query.dim() == 3;
  const std::int64_t batch_dim = options_.batch_first ? 0 : 1, time_dim = batched ? 1 - batch_dim : 0;
  check<ShapeError>(key.size(time_dim) == value.size(time_dim), op, ": there are ", key.size(time_dim), " keys but ",
                    value.size(time_dim), " values, in key ", key.sizes(), " and value ", value.sizes());
  check<ShapeError>(
      !batched || (key.size(batch_dim) == query.size(batch_dim) && value.size(batch_dim) == query.size(batch_dim)), op,
      ": query, key and value must have the same batch, dim ", batch_dim, ", got ", query.sizes(), ", ", key.sizes(),
      " and ", value.sizes());
}

MultiheadAttention::Inputs MultiheadAttention::project(const Tensor& query, const Tensor& key,
                                                       const Tensor& value) const {
  if (in_proj_weight.defined() && query.is_same(key) && key.is_same(value)) {
    const TensorList parts = linear(query, in_proj_weight, in_proj_bias).chunk(3, -1);
    return {parts[0], parts[1], parts[2]};
  }
  const TensorList w =
      in_proj_weight.defined() ? in_proj_weight.chunk(3) : TensorList{q_proj_weight, k_proj_weight, v_proj_weight};
  const TensorList b = in_proj_bias.defined() ? in_proj_bias.chunk(3) : TensorList(3);
  return {linear(query, w[0], b[0]), linear(key, w[1], b[1]), linear(value, w[2], b[2])};
}

Tensor MultiheadAttention::joined_mask(const AttentionMasks& masks, std::int64_t n, std::int64_t l,
                                       std::int64_t s) const {
  constexpr const char* op = "MultiheadAttention";
  Tensor padding = masks.key_padding_mask, mask = masks.attn_mask;
  if (padding.defined()) {
    check_mask(padding, "key_padding_mask");
    check<ShapeError>(padding.numel() == n * s && padding.size(-1) == s, op, ": key_padding_mask must be [", n, ", ", s,
                      "] (batch, keys), got ", padding.sizes());
    padding = padding.reshape({n, 1, 1, s});
  }
  if (mask.defined()) {
    check_mask(mask, "attn_mask");
    const bool each = mask.dim() == 3;
    check<ShapeError>((each || mask.dim() == 2) && (!each || mask.size(0) == n * num_heads_) && mask.size(-2) == l &&
                          mask.size(-1) == s,
                      op, ": attn_mask must be [", l, ", ", s, "] (queries, keys) or, for each head, [", n * num_heads_,
                      ", ", l, ", ", s, "], got ", mask.sizes());
    mask = each ? mask.reshape({n, num_heads_, l, s}) : mask.reshape({1, 1, l, s});
  }
  if (padding.defined() && mask.defined()) {
    if (padding.dtype() == bool_ && mask.dtype() == bool_)
      mask = mask.logical_or(padding);
    else {
      const DType dtype = padding.dtype() == bool_ ? mask.dtype() : padding.dtype();
      mask = as_floating(mask, dtype).add(as_floating(padding, dtype));
    }
  } else if (padding.defined()) {
    mask = padding;
  }
  if (!mask.defined()) return mask;

  // What was appended to the keys is not hidden.
  const std::int64_t more = (bias_k.defined() ? 1 : 0) + (options_.add_zero_attn ? 1 : 0);
  if (more == 0) return mask;
  IntVec sizes(mask.sizes().begin(), mask.sizes().end());
  sizes.back() = more;
  return cat({mask, zeros(IntSpan(sizes), mask.dtype(), mask.device())}, -1);
}

std::tuple<Tensor, Tensor> MultiheadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                       const AttentionMasks& masks) {
  check_inputs(query, key, value);
  const bool batched = query.dim() == 3;
  const std::int64_t batch_dim = options_.batch_first ? 0 : 1, time_dim = 1 - batch_dim;
  Inputs in = project(query, key, value);
  if (!batched) in = {in.q.unsqueeze(batch_dim), in.k.unsqueeze(batch_dim), in.v.unsqueeze(batch_dim)};
  const std::int64_t n = in.q.size(batch_dim), l = in.q.size(time_dim);
  const Tensor mask = joined_mask(masks, n, l, in.k.size(time_dim));

  std::int64_t one_each[] = {1, 1, embed_dim_};
  one_each[batch_dim] = n;
  if (bias_k.defined()) {
    in.k = cat({in.k, bias_k.expand(one_each)}, time_dim);
    in.v = cat({in.v, bias_v.expand(one_each)}, time_dim);
  }
  if (options_.add_zero_attn) {
    const Tensor none = zeros(one_each, in.k.dtype(), in.k.device());
    in.k = cat({in.k, none}, time_dim);
    in.v = cat({in.v, none}, time_dim);
  }

  const std::int64_t size = embed_dim_ / num_heads_;
  const std::int64_t order[] = {batch_dim, 2, time_dim, 3};
  const auto by_head = [&](const Tensor& t) {
    return t.reshape({t.size(0), t.size(1), num_heads_, size}).permute(order);  // [n, heads, time, size]
  };
  const Tensor q = by_head(in.q), k = by_head(in.k), v = by_head(in.v);
  const double p = is_training() ? options_.dropout : 0;
  Tensor y, weights;  // y [n, heads, l, size]
  if (masks.need_weights) {
    weights = dropout(attention_weights(q, k, mask), p, p > 0);
    y = matmul(weights, v);
    if (masks.average_attn_weights) weights = weights.mean(1);
    if (!batched) weights = weights.squeeze(0);
  } else {
    const bool is_bool = mask.defined() && mask.dtype() == bool_;
    y = scaled_dot_product_attention(q, k, v, is_bool ? mask.logical_not() : mask, p);
  }
  // Back to the layout of query.
  y = options_.batch_first ? y.transpose(1, 2) : y.permute({2, 0, 1, 3});
  y = out_proj(y.reshape({y.size(0), y.size(1), embed_dim_}));
  return {batched ? y : y.squeeze(batch_dim), weights};
}

}  // namespace taper::nn
