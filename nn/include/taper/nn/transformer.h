#pragma once
// The layers of transformers: Vaswani et al. 2017, "Attention Is All You Need", section 3.
#include <taper/nn/activation.h>
#include <taper/nn/attention.h>
#include <taper/nn/layer_norm.h>

namespace taper::nn {

enum class TransformerActivation : std::uint8_t { relu, gelu };

struct TransformerLayerOptions {
  std::int64_t dim_feedforward = 2048;
  double dropout = .1;  ///< while training: of attention weights, within the feedforward part and of each part's result
  TransformerActivation activation = TransformerActivation::relu;
  double layer_norm_eps = 1e-5;
  bool batch_first = false;  ///< sequences are [n, l, d_model] instead of [l, n, d_model]
  bool norm_first = false;   ///< normalizes what goes into each part, rather than the sum with what comes out
  DType dtype = float32;
  Device device = default_device();
};

/// As in AttentionMasks, bool masks are true for what is hidden.
struct TransformerEncoderMasks {
  Tensor src_mask = {};              ///< [l, l], or for each head [n * heads, l, l]
  Tensor src_key_padding_mask = {};  ///< [n, l]
};
/// As in AttentionMasks, bool masks are true for what is hidden.
struct TransformerDecoderMasks {
  Tensor tgt_mask = {};                 ///< [l, l], or for each head [n * heads, l, l]
  Tensor memory_mask = {};              ///< [l, s], or for each head [n * heads, l, s]
  Tensor tgt_key_padding_mask = {};     ///< [n, l]
  Tensor memory_key_padding_mask = {};  ///< [n, s]
};

/// Attention of a sequence to itself and a feedforward part, each added to what goes in, and normalized.
/// src [l, n, d_model], [n, l, d_model] if batch_first, or [l, d_model] without a batch; the result is like it.
class TransformerEncoderLayer final : public Module {
 public:
  /// Throws ValueError unless nhead divides d_model.
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead, const TransformerLayerOptions& options = {});
  Tensor forward(const Tensor& src) override { return forward(src, TransformerEncoderMasks()); }
  Tensor forward(const Tensor& src, const TransformerEncoderMasks& masks);
  using Module::operator();
  Tensor operator()(const Tensor& src, const TransformerEncoderMasks& masks) { return forward(src, masks); }
  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  TransformerEncoderLayer clone() const;

  MultiheadAttention self_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2;
  Dropout dropout, dropout1, dropout2;

 private:
  TransformerLayerOptions options_;
};

/// Attention of a sequence to itself, to the encoder's result, and a feedforward part, each added to what goes in, and
/// normalized. tgt [l, n, d_model], memory [s, n, d_model], both with n first if batch_first, or both without n; the
/// result is like tgt.
class TransformerDecoderLayer final : public Module {
 public:
  /// Throws ValueError unless nhead divides d_model.
  TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead, const TransformerLayerOptions& options = {});
  using Module::forward;
  Tensor forward(const Tensor& tgt, const Tensor& memory, const TransformerDecoderMasks& masks = {});
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const TransformerDecoderMasks& masks = {}) {
    return forward(tgt, memory, masks);
  }
  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  TransformerDecoderLayer clone() const;

  MultiheadAttention self_attn, multihead_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout, dropout1, dropout2, dropout3;

 private:
  TransformerLayerOptions options_;
};

}  // namespace taper::nn
