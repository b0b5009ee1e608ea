#pragma once
// Losses of scores and distances that are to lie apart by a margin. Floating dtypes; differentiable, twice.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/loss.h>

namespace taper {

/// max(0, -t (x1 - x2) + margin): x1 is to rank above x2 where the target is 1, below where it is -1. All three have
/// the same number of dims and broadcast.
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin = 0,
                           Reduction reduction = Reduction::mean);
/// 1 - cos(x1, x2) where the target is 1, max(0, cos(x1, x2) - margin) where it is -1. input1, input2 [n, d] with
/// target [n], or [d] with [].
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin = 0,
                             Reduction reduction = Reduction::mean);

struct TripletMarginOptions {
  double margin = 1;
  double p = 2;  ///< the norm that measures distances
  double eps = 1e-6;
  bool swap = false;  ///< with the distance of positive and negative where that is smaller
  Reduction reduction = Reduction::mean;
};
/// max(0, margin + |anchor - positive| - |anchor - negative|), distances as of pairwise_distance.
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginOptions& options = {});

struct MultiMarginOptions {
  int p = 1;  ///< 1 or 2
  double margin = 1;
  Tensor weight = {};  ///< [classes], undefined: 1
  Reduction reduction = Reduction::mean;
};
/// The mean over the other classes of max(0, margin - x[target] + x[class])^p times the target's weight. input [n,
/// classes] with target [n] (int64), or [classes] with [].
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginOptions& options = {});
Tensor& multi_margin_loss_out(Tensor& out, const Tensor& input, const Tensor& target,
                              const MultiMarginOptions& options = {});
/// For each target class of a sample and each class that is none, max(0, 1 - x[target] + x[class]), summed and divided
/// by the number of classes. target has input's shape, and lists classes up to the first -1.
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
Tensor& multilabel_margin_loss_out(Tensor& out, const Tensor& input, const Tensor& target,
                                   Reduction reduction = Reduction::mean);
/// The mean over the classes (the last dim) of binary_cross_entropy_with_logits.
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                                   Reduction reduction = Reduction::mean);

}  // namespace taper
