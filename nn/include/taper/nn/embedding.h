#pragma once
#include <taper/nn/module.h>
#include <taper/ops/embedding.h>

namespace taper::nn {

struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx =
      {};                               ///< a row that starts as 0 and is not trained; from the end if negative
  std::optional<double> max_norm = {};  ///< rows that are looked up are first scaled down to this norm
  double norm_type = 2;
  bool scale_grad_by_freq = false;  ///< divides each row's gradient by how often it was looked up
  DType dtype = float32;
  Device device = default_device();
};
/// A table of trained vectors, looked up by number: indices, int64 or int32, of any shape -> [*indices, embedding_dim];
/// see embedding(). The table starts normal, with mean 0 and deviation 1.
class Embedding final : public Module {
 public:
  /// Throws ValueError for negative sizes and for a padding_idx that is no row.
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingOptions& options = {});
  Tensor forward(const Tensor& indices) override;
  void members(MemberVisitor& v) override { v("weight", weight); }
  std::string extra_repr() const override;
  Embedding clone() const { return clone_as(*this, num_embeddings_, embedding_dim_, options_); }

  std::int64_t num_embeddings() const { return num_embeddings_; }
  std::int64_t embedding_dim() const { return embedding_dim_; }
  /// Draws new start values.
  void reset_parameters();

  Parameter weight;  ///< [num_embeddings, embedding_dim]

 private:
  std::int64_t num_embeddings_, embedding_dim_;
  EmbeddingOptions options_;
};

struct EmbeddingBagModuleOptions {
  BagMode mode = BagMode::mean;
  std::optional<std::int64_t> padding_idx =
      {};                               ///< a row that starts as 0 and does not count; from the end if negative
  std::optional<double> max_norm = {};  ///< rows that are looked up are first scaled down to this norm
  double norm_type = 2;
  bool scale_grad_by_freq = false;   ///< divides each row's gradient by how often it was looked up
  bool include_last_offset = false;  ///< the last of the offsets is the end of the last bag
  DType dtype = float32;
  Device device = default_device();
};
/// Sums, means or maxima of bags of vectors from a trained table; see embedding_bag().
class EmbeddingBag final : public Module {
 public:
  /// Throws ValueError for negative sizes and for a padding_idx that is no row.
  EmbeddingBag(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingBagModuleOptions& options = {});
  /// Each row of indices [bags, n] is a bag.
  Tensor forward(const Tensor& indices) override { return forward(indices, {}); }
  /// With offsets, indices have one dim and bag b begins at offsets[b].
  Tensor forward(const Tensor& indices, const Tensor& offsets, const Tensor& per_sample_weights = {});
  using Module::operator();
  Tensor operator()(const Tensor& indices, const Tensor& offsets, const Tensor& per_sample_weights = {}) {
    return forward(indices, offsets, per_sample_weights);
  }
  void members(MemberVisitor& v) override { v("weight", weight); }
  std::string extra_repr() const override;
  EmbeddingBag clone() const { return clone_as(*this, num_embeddings_, embedding_dim_, options_); }

  /// Draws new start values.
  void reset_parameters();

  Parameter weight;  ///< [num_embeddings, embedding_dim]

 private:
  std::int64_t num_embeddings_, embedding_dim_;
  EmbeddingBagModuleOptions options_;
};

}  // namespace taper::nn
