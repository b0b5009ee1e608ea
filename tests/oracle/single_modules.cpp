// Modules of sequences, lookups, and others that may have several inputs or outputs.
#include <taper/nn/attention.h>
#include <taper/nn/embedding.h>
#include <taper/nn/linear.h>
#include <taper/nn/loss.h>
#include <taper/nn/resize.h>
#include <taper/nn/rnn.h>
#include <taper/nn/transformer.h>

#include <map>

#include "modules.h"
#include "reduction.h"

namespace oracle {
namespace {

namespace nn = taper::nn;

using State = std::tuple<Tensor, Tensor>;

nn::RNNNonlinearity nonlinearity(const Args& a) {
  return a.text("nonlinearity", "tanh") == "relu" ? nn::RNNNonlinearity::relu : nn::RNNNonlinearity::tanh;
}

template <class Options>
Options layers(const Args& a) {
  Options o;
  o.num_layers = a.integer("num_layers", 1);
  o.bias = a.flag("bias", true);
  o.batch_first = a.flag("batch_first", false);
  o.dropout = a.real("dropout", 0);
  o.bidirectional = a.flag("bidirectional", false);
  return o;
}

/// hx: [h, c], or nothing.
State states(const Args& a) {
  if (!a.has("hx")) return {};
  const TensorList hx = a.tensors("hx");
  return {hx.at(0), hx.at(1)};
}

template <class M, class... A>
std::shared_ptr<M> sized(const Args& a, const A&... options) {
  return std::make_shared<M>(a.integer("input_size"), a.integer("hidden_size"), options...);
}
template <class M>
SingleModule with_state(std::shared_ptr<M> m) {
  return {m, [m](const Args& a) { return Outputs((*m)(a.tensor("input"), a.optional_tensor("hx"))); }};
}

SingleModule rnn(const Args& a) {
  auto o = layers<nn::RNNOptions>(a);
  o.nonlinearity = nonlinearity(a);
  return with_state(sized<nn::RNN>(a, o));
}
SingleModule gru(const Args& a) { return with_state(sized<nn::GRU>(a, layers<nn::GRUOptions>(a))); }
SingleModule lstm(const Args& a) {
  auto o = layers<nn::LSTMOptions>(a);
  o.proj_size = a.integer("proj_size", 0);
  const auto m = sized<nn::LSTM>(a, o);
  return {m, [m](const Args& s) {
            const auto [y, last] = (*m)(s.tensor("input"), states(s));
            return Outputs(TensorList{y, std::get<0>(last), std::get<1>(last)});
          }};
}

SingleModule rnn_cell(const Args& a) {
  return with_state(
      sized<nn::RNNCell>(a, nn::RNNCellOptions{.bias = a.flag("bias", true), .nonlinearity = nonlinearity(a)}));
}
SingleModule gru_cell(const Args& a) {
  return with_state(sized<nn::GRUCell>(a, nn::RecurrentCellOptions{.bias = a.flag("bias", true)}));
}
SingleModule lstm_cell(const Args& a) {
  const auto m = sized<nn::LSTMCell>(a, nn::RecurrentCellOptions{.bias = a.flag("bias", true)});
  return {m, [m](const Args& s) { return Outputs((*m)(s.tensor("input"), states(s))); }};
}

SingleModule multihead_attention(const Args& a) {
  const auto m = std::make_shared<nn::MultiheadAttention>(
      a.integer("embed_dim"), a.integer("num_heads"),
      nn::MultiheadAttentionOptions{.dropout = a.real("dropout", 0),
                                    .bias = a.flag("bias", true),
                                    .add_bias_kv = a.flag("add_bias_kv", false),
                                    .add_zero_attn = a.flag("add_zero_attn", false),
                                    .kdim = a.optional_integer("kdim"),
                                    .vdim = a.optional_integer("vdim"),
                                    .batch_first = a.flag("batch_first", false)});
  return {m, [m](const Args& s) {
            const auto [y, weights] = (*m)(s.tensor("query"), s.tensor("key"), s.tensor("value"),
                                           {.key_padding_mask = s.optional_tensor("key_padding_mask"),
                                            .attn_mask = s.optional_tensor("attn_mask"),
                                            .need_weights = s.flag("need_weights", true),
                                            .average_attn_weights = s.flag("average_attn_weights", true)});
            Outputs out(y);
            out.push_back(weights.defined() ? Value{weights} : Value{None()});
            return out;
          }};
}

template <class M>
std::shared_ptr<M> transformer_layer(const Args& a) {
  const bool is_gelu = a.text("activation", "relu") == "gelu";
  return std::make_shared<M>(a.integer("d_model"), a.integer("nhead"),
                             nn::TransformerLayerOptions{.dim_feedforward = a.integer("dim_feedforward", 2048),
                                                         .dropout = a.real("dropout", .1),
                                                         .activation = is_gelu ? nn::TransformerActivation::gelu
                                                                               : nn::TransformerActivation::relu,
                                                         .layer_norm_eps = a.real("layer_norm_eps", 1e-5),
                                                         .batch_first = a.flag("batch_first", false),
                                                         .norm_first = a.flag("norm_first", false)});
}
SingleModule encoder_layer(const Args& a) {
  const auto m = transformer_layer<nn::TransformerEncoderLayer>(a);
  return {m, [m](const Args& s) {
            return Outputs((*m)(s.tensor("src"), {.src_mask = s.optional_tensor("src_mask"),
                                                  .src_key_padding_mask = s.optional_tensor("src_key_padding_mask")}));
          }};
}
SingleModule decoder_layer(const Args& a) {
  const auto m = transformer_layer<nn::TransformerDecoderLayer>(a);
  return {m, [m](const Args& s) {
            return Outputs((*m)(s.tensor("tgt"), s.tensor("memory"),
                                {.tgt_mask = s.optional_tensor("tgt_mask"),
                                 .memory_mask = s.optional_tensor("memory_mask"),
                                 .tgt_key_padding_mask = s.optional_tensor("tgt_key_padding_mask"),
                                 .memory_key_padding_mask = s.optional_tensor("memory_key_padding_mask")}));
          }};
}

template <class M>
SingleModule of_one(std::shared_ptr<M> m) {
  return {m, [m](const Args& s) { return Outputs((*m)(s.tensor("input"))); }};
}

SingleModule embedding(const Args& a) {
  const auto max_norm = a.optional_number("max_norm");
  return of_one(std::make_shared<nn::Embedding>(
      a.integer("num_embeddings"), a.integer("embedding_dim"),
      nn::EmbeddingOptions{.padding_idx = a.optional_integer("padding_idx"),
                           .max_norm = max_norm ? max_norm->to<double>() : std::optional<double>(),
                           .norm_type = a.real("norm_type", 2),
                           .scale_grad_by_freq = a.flag("scale_grad_by_freq", false)}));
}
SingleModule upsample(const Args& a) {
  nn::UpsampleOptions o{.mode = a.text("mode", "nearest")};
  if (a.has("size")) o.size = a.ints("size");
  if (a.has("scale_factor")) o.scale_factor = {a.real("scale_factor")};
  if (a.has("align_corners")) o.align_corners = a.flag("align_corners", false);
  return of_one(std::make_shared<nn::Upsample>(o));
}
SingleModule zero_pad(const Args& a) {
  return of_one(std::make_shared<nn::ZeroPad2d>(taper::IntSpan(a.ints_n("padding", 4, 0))));
}

SingleModule embedding_bag(const Args& a) {
  const std::string mode = a.text("mode", "mean");
  const auto m = std::make_shared<nn::EmbeddingBag>(
      a.integer("num_embeddings"), a.integer("embedding_dim"),
      nn::EmbeddingBagModuleOptions{.mode = mode == "sum"   ? taper::BagMode::sum
                                            : mode == "max" ? taper::BagMode::max
                                                            : taper::BagMode::mean,
                                    .padding_idx = a.optional_integer("padding_idx"),
                                    .include_last_offset = a.flag("include_last_offset", false)});
  return {
      m, [m](const Args& s) {
        return Outputs((*m)(s.tensor("input"), s.optional_tensor("offsets"), s.optional_tensor("per_sample_weights")));
      }};
}

SingleModule bilinear(const Args& a) {
  const auto m = std::make_shared<nn::Bilinear>(a.integer("in1_features"), a.integer("in2_features"),
                                                a.integer("out_features"), nn::LinearOptions{a.flag("bias", true)});
  return {m, [m](const Args& s) { return Outputs((*m)(s.tensor("input1"), s.tensor("input2"))); }};
}

SingleModule gaussian_nll_loss(const Args& a) {
  const auto m = std::make_shared<nn::GaussianNLLLoss>(
      taper::GaussianNllOptions{.full = a.flag("full", false), .eps = a.real("eps", 1e-6), .reduction = reduction(a)});
  return {m, [m](const Args& s) { return Outputs((*m)(s.tensor("input"), s.tensor("target"), s.tensor("var"))); }};
}

const std::map<std::string, SingleModule (*)(const Args&)>& single_modules() {
  static const std::map<std::string, SingleModule (*)(const Args&)> table = {
      {"RNN", rnn},
      {"GRU", gru},
      {"LSTM", lstm},
      {"RNNCell", rnn_cell},
      {"GRUCell", gru_cell},
      {"LSTMCell", lstm_cell},
      {"MultiheadAttention", multihead_attention},
      {"TransformerEncoderLayer", encoder_layer},
      {"TransformerDecoderLayer", decoder_layer},
      {"Embedding", embedding},
      {"EmbeddingBag", embedding_bag},
      {"Upsample", upsample},
      {"ZeroPad2d", zero_pad},
      {"Bilinear", bilinear},
      {"GaussianNLLLoss", gaussian_nll_loss},
  };
  return table;
}

}  // namespace

bool has_single_module(const std::string& name) { return single_modules().contains(name); }

SingleModule make_single_module(const Args& ctor) { return single_modules().at(ctor.op())(ctor); }

}  // namespace oracle
