#include <taper/factory.h>
#include <taper/grad_mode.h>
#include <taper/nn/embedding.h>
#include <taper/nn/init.h>

#include "fan_init.h"

namespace taper::nn {

namespace {

Parameter table(const char* name, std::int64_t rows, std::int64_t width, std::optional<std::int64_t> padding_idx,
                DType dtype, Device device) {
  check<ValueError>(rows >= 0 && width >= 0, name, ": num_embeddings and embedding_dim must not be negative, got ",
                    rows, " and ", width);
  check<ValueError>(!padding_idx || (*padding_idx >= -rows && *padding_idx < rows), name,
                    ": padding_idx must be one of the ", rows, " rows, got ", padding_idx.value_or(0));
  return Parameter(empty({rows, width}, dtype, device));
}

void init_table(const Tensor& weight, std::optional<std::int64_t> padding_idx) {
  init::normal_(weight);
  if (padding_idx) init::zeros_(weight.detach().select(0, *padding_idx));
}

void renormalize(Tensor weight, const Tensor& indices, std::optional<double> max_norm, double norm_type) {
  if (!max_norm) return;
  const NoGradGuard no_grad;
  embedding_renorm_(weight, indices, *max_norm, norm_type);
}

template <class Options>
std::string describe_table(std::int64_t rows, std::int64_t width, const Options& o) {
  std::string s = std::to_string(rows) + ", " + std::to_string(width);
  if (o.padding_idx)
    s += ", padding_idx=" + std::to_string(*o.padding_idx < 0 ? *o.padding_idx + rows : *o.padding_idx);
  if (o.max_norm) s += ", max_norm=" + name_of_number(*o.max_norm);
  if (o.norm_type != 2) s += ", norm_type=" + name_of_number(o.norm_type);
  if (o.scale_grad_by_freq) s += ", scale_grad_by_freq=True";
  return s;
}

const char* name_of(BagMode mode) {
  switch (mode) {
    case BagMode::sum:
      return "sum";
    case BagMode::mean:
      return "mean";
    case BagMode::max:
      break;
  }
  return "max";
}

}  // namespace

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingOptions& options)
    : weight(table("Embedding", num_embeddings, embedding_dim, options.padding_idx, options.dtype, options.device)),
      num_embeddings_(num_embeddings),
      embedding_dim_(embedding_dim),
      options_(options) {
  reset_parameters();
}

void Embedding::reset_parameters() { init_table(weight, options_.padding_idx); }

Tensor Embedding::forward(const Tensor& indices) {
  renormalize(weight, indices, options_.max_norm, options_.norm_type);
  return embedding(weight, indices, options_.padding_idx, options_.scale_grad_by_freq);
}

std::string Embedding::extra_repr() const { return describe_table(num_embeddings_, embedding_dim_, options_); }

EmbeddingBag::EmbeddingBag(std::int64_t num_embeddings, std::int64_t embedding_dim,
                           const EmbeddingBagModuleOptions& options)
    : weight(table("EmbeddingBag", num_embeddings, embedding_dim, options.padding_idx, options.dtype, options.device)),
      num_embeddings_(num_embeddings),
      embedding_dim_(embedding_dim),
      options_(options) {
  reset_parameters();
}

void EmbeddingBag::reset_parameters() { init_table(weight, options_.padding_idx); }

Tensor EmbeddingBag::forward(const Tensor& indices, const Tensor& offsets, const Tensor& per_sample_weights) {
  renormalize(weight, indices, options_.max_norm, options_.norm_type);
  return embedding_bag(weight, indices, offsets,
                       {.mode = options_.mode,
                        .scale_grad_by_freq = options_.scale_grad_by_freq,
                        .include_last_offset = options_.include_last_offset,
                        .padding_idx = options_.padding_idx},
                       per_sample_weights);
}

std::string EmbeddingBag::extra_repr() const {
  return describe_table(num_embeddings_, embedding_dim_, options_) + ", mode=" + name_of(options_.mode);
}

}  // namespace taper::nn
