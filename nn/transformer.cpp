#include <taper/nn/transformer.h>
#include <taper/ops/activation.h>
#include <taper/ops/pointwise.h>

#include "fan_init.h"

namespace taper::nn {

namespace {

MultiheadAttentionOptions attention_options(const TransformerLayerOptions& o) {
  return {.dropout = o.dropout, .batch_first = o.batch_first, .dtype = o.dtype, .device = o.device};
}
LinearOptions linear_options(const TransformerLayerOptions& o) { return {.dtype = o.dtype, .device = o.device}; }
LayerNormOptions norm_options(const TransformerLayerOptions& o) {
  return {.eps = o.layer_norm_eps, .dtype = o.dtype, .device = o.device};
}

Tensor activated(const Tensor& x, TransformerActivation activation) {
  return activation == TransformerActivation::relu ? x.relu() : gelu(x);
}

/// x + part(x), with the norm before the part or after the sum.
template <class Part>
Tensor residual(const Tensor& x, LayerNorm& norm, bool norm_first, Part part) {
  return norm_first ? x.add(part(norm(x))) : norm(x.add(part(x)));
}

Tensor attend(MultiheadAttention& attention, const Tensor& query, const Tensor& memory, const Tensor& mask,
              const Tensor& padding) {
  return std::get<0>(
      attention(query, memory, memory, {.key_padding_mask = padding, .attn_mask = mask, .need_weights = false}));
}

/// What the parts do not show.
std::string describe_options(const TransformerLayerOptions& o) {
  return std::string("activation=") + (o.activation == TransformerActivation::relu ? "relu" : "gelu") +
         ", norm_first=" + name_of_bool(o.norm_first);
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerLayerOptions& options)
    : self_attn(d_model, nhead, attention_options(options)),
      linear1(d_model, options.dim_feedforward, linear_options(options)),
      linear2(options.dim_feedforward, d_model, linear_options(options)),
      norm1(d_model, norm_options(options)),
      norm2(d_model, norm_options(options)),
      dropout(options.dropout),
      dropout1(options.dropout),
      dropout2(options.dropout),
      options_(options) {}

Tensor TransformerEncoderLayer::forward(const Tensor& src, const TransformerEncoderMasks& masks) {
  const Tensor x = residual(src, norm1, options_.norm_first, [&](const Tensor& in) {
    return dropout1(attend(self_attn, in, in, masks.src_mask, masks.src_key_padding_mask));
  });
  return residual(x, norm2, options_.norm_first, [&](const Tensor& in) {
    return dropout2(linear2(dropout(activated(linear1(in), options_.activation))));
  });
}

void TransformerEncoderLayer::members(MemberVisitor& v) {
  v("self_attn", self_attn);
  v("linear1", linear1);
  v("dropout", dropout);
  v("linear2", linear2);
  v("norm1", norm1);
  v("norm2", norm2);
  v("dropout1", dropout1);
  v("dropout2", dropout2);
}

std::string TransformerEncoderLayer::extra_repr() const { return describe_options(options_); }

TransformerEncoderLayer TransformerEncoderLayer::clone() const {
  return clone_as(*this, self_attn.embed_dim(), self_attn.num_heads(), options_);
}

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerLayerOptions& options)
    : self_attn(d_model, nhead, attention_options(options)),
      multihead_attn(d_model, nhead, attention_options(options)),
      linear1(d_model, options.dim_feedforward, linear_options(options)),
      linear2(options.dim_feedforward, d_model, linear_options(options)),
      norm1(d_model, norm_options(options)),
      norm2(d_model, norm_options(options)),
      norm3(d_model, norm_options(options)),
      dropout(options.dropout),
      dropout1(options.dropout),
      dropout2(options.dropout),
      dropout3(options.dropout),
      options_(options) {}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory, const TransformerDecoderMasks& masks) {
  Tensor x = residual(tgt, norm1, options_.norm_first, [&](const Tensor& in) {
    return dropout1(attend(self_attn, in, in, masks.tgt_mask, masks.tgt_key_padding_mask));
  });
  x = residual(x, norm2, options_.norm_first, [&](const Tensor& in) {
    return dropout2(attend(multihead_attn, in, memory, masks.memory_mask, masks.memory_key_padding_mask));
  });
  return residual(x, norm3, options_.norm_first, [&](const Tensor& in) {
    return dropout3(linear2(dropout(activated(linear1(in), options_.activation))));
  });
}

void TransformerDecoderLayer::members(MemberVisitor& v) {
  v("self_attn", self_attn);
  v("multihead_attn", multihead_attn);
  v("linear1", linear1);
  v("dropout", dropout);
  v("linear2", linear2);
  v("norm1", norm1);
  v("norm2", norm2);
  v("norm3", norm3);
  v("dropout1", dropout1);
  v("dropout2", dropout2);
  v("dropout3", dropout3);
}

std::string TransformerDecoderLayer::extra_repr() const { return describe_options(options_); }

TransformerDecoderLayer TransformerDecoderLayer::clone() const {
  return clone_as(*this, self_attn.embed_dim(), self_attn.num_heads(), options_);
}

}  // namespace taper::nn
