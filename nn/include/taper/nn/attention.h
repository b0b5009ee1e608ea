#pragma once
#include <taper/nn/linear.h>

#include <optional>
#include <tuple>

namespace taper::nn {

struct MultiheadAttentionOptions {
  double dropout = 0;  ///< of attention weights, while training
  bool bias = true;
  bool add_bias_kv = false;               ///< appends trained vectors, bias_k and bias_v, to the keys and values
  bool add_zero_attn = false;             ///< appends zeros to the keys and values
  std::optional<std::int64_t> kdim = {};  ///< the length of keys, where it is not embed_dim
  std::optional<std::int64_t> vdim = {};  ///< the length of values, where it is not embed_dim
  bool batch_first = false;               ///< inputs and output are [n, l, ...] instead of [l, n, ...]
  DType dtype = float32;
  Device device = default_device();
};

/// Bool masks say what is hidden, other than those of scaled_dot_product_attention(); floating ones are added to the
/// products of queries and keys.
struct AttentionMasks {
  Tensor key_padding_mask = {};      ///< [n, s], or [s] without a batch: keys hidden from all queries
  Tensor attn_mask = {};             ///< [l, s], or for each head [n * heads, l, s]: keys hidden from a query
  bool need_weights = true;          ///< otherwise the weights that forward() returns are undefined
  bool average_attn_weights = true;  ///< the mean over the heads, rather than the weights of each
};

/// Attention with several heads, each with queries, keys and values that are linear maps of its inputs:
///
///   out_proj(concatenation of softmax(q k^T / sqrt(embed_dim / num_heads)) v over the heads)
///
/// query [l, n, embed_dim], key [s, n, kdim], value [s, n, vdim], all with n first if batch_first, or all without n.
/// A query from which all keys are hidden gets zeros before out_proj. The maps of the inputs start by Glorot's
/// xavier_uniform_, biases as 0. Vaswani et al. 2017, "Attention Is All You Need", section 3.2.2.
class MultiheadAttention final : public Module {
 public:
  /// Throws ValueError unless num_heads divides embed_dim.
  MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, const MultiheadAttentionOptions& options = {});
  using Module::forward;
  /// Returns the output, like query, and the weights [n, l, s], or [n, heads, l, s] if not averaged.
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const AttentionMasks& masks = {});
  std::tuple<Tensor, Tensor> operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                        const AttentionMasks& masks = {}) {
    return forward(query, key, value, masks);
  }
  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  MultiheadAttention clone() const { return clone_as(*this, embed_dim_, num_heads_, options_); }

  std::int64_t embed_dim() const { return embed_dim_; }
  std::int64_t num_heads() const { return num_heads_; }
  /// Draws new start values.
  void reset_parameters();

  Parameter in_proj_weight;  ///< [3 embed_dim, embed_dim]: of queries, keys, values; undefined with kdim or vdim
  Parameter q_proj_weight;   ///< [embed_dim, embed_dim]; this and the next two are defined with kdim or vdim only
  Parameter k_proj_weight;   ///< [embed_dim, kdim]
  Parameter v_proj_weight;   ///< [embed_dim, vdim]
  Parameter in_proj_bias;    ///< [3 embed_dim]; undefined without bias
  Parameter bias_k;          ///< [1, 1, embed_dim]; undefined without add_bias_kv
  Parameter bias_v;          ///< [1, 1, embed_dim]; undefined without add_bias_kv
  Linear out_proj;

 private:
  struct Inputs {
    Tensor q, k, v;
  };
  void check_inputs(const Tensor& query, const Tensor& key, const Tensor& value) const;
  Inputs project(const Tensor& query, const Tensor& key, const Tensor& value) const;
  /// [n or 1, heads or 1, l or 1, s], ready to be added or, if bool, true where hidden; undefined without masks.
  Tensor joined_mask(const AttentionMasks& masks, std::int64_t n, std::int64_t l, std::int64_t s) const;

  std::int64_t embed_dim_, num_heads_;
  MultiheadAttentionOptions options_;
};

}  // namespace taper::nn
