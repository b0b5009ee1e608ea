#pragma once
// Losses that compare an input with a target element by element. Both are floating and have the same shape: ShapeError
// otherwise, also where they would broadcast. A loss is a number or, without reduction, has input's shape. All are
// differentiable in both, twice.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/ops/loss.h>

namespace taper {

/// d^2 / (2 beta) for |d| < beta, |d| - beta / 2 beyond, d being input - target; |d| for beta = 0. Girshick 2015, "Fast
/// R-CNN", eq. 3.
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean,
                      double beta = 1);
Tensor& smooth_l1_loss_out(Tensor& out, const Tensor& input, const Tensor& target,
                           Reduction reduction = Reduction::mean, double beta = 1);
/// d^2 / 2 for |d| <= delta, delta (|d| - delta / 2) beyond. Huber 1964.
Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean, double delta = 1);
Tensor& huber_loss_out(Tensor& out, const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean,
                       double delta = 1);

/// -(t log x + (1 - t) log(1 - x)), each logarithm being at least -100, for probabilities x. weight broadcasts to the
/// losses. Throws ValueError if an element of input is outside of [0, 1].
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                            Reduction reduction = Reduction::mean);
Tensor& binary_cross_entropy_out(Tensor& out, const Tensor& input, const Tensor& target, const Tensor& weight = {},
                                 Reduction reduction = Reduction::mean);
/// binary_cross_entropy of sigmoid(input), for input of any size. pos_weight multiplies the part of the target.
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                                        Reduction reduction = Reduction::mean, const Tensor& pos_weight = {});
Tensor& binary_cross_entropy_with_logits_out(Tensor& out, const Tensor& input, const Tensor& target,
                                             const Tensor& weight = {}, Reduction reduction = Reduction::mean,
                                             const Tensor& pos_weight = {});

/// As Reduction, and batchmean: the sum divided by the first size, which is the divergence per sample.
enum class KlReduction : std::uint8_t { none, mean, sum, batchmean };
/// t (log t - x) for log-probabilities x, and 0 where t is 0; with log_target t is given as log t.
Tensor kl_div(const Tensor& input, const Tensor& target, KlReduction reduction = KlReduction::mean,
              bool log_target = false);

/// log(1 + exp(-t x)) for targets of 1 and -1.
Tensor soft_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
Tensor& soft_margin_loss_out(Tensor& out, const Tensor& input, const Tensor& target,
                             Reduction reduction = Reduction::mean);
/// x where the target is 1, max(0, margin - x) where it is -1.
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin = 1,
                            Reduction reduction = Reduction::mean);

struct PoissonNllOptions {
  bool log_input = true;  ///< input is the logarithm of the expected count
  bool full = false;      ///< with Stirling's approximation of log t!, for t above 1
  double eps = 1e-8;      ///< keeps log(input + eps) finite
  Reduction reduction = Reduction::mean;
};
/// The negative log-likelihood of counts under Poisson's distribution: exp(x) - t x, or x - t log(x + eps).
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNllOptions& options = {});

struct GaussianNllOptions {
  bool full = false;  ///< with the constant log(2 pi) / 2
  double eps = 1e-6;  ///< the least variance; below it the gradient passes as if it were kept
  Reduction reduction = Reduction::mean;
};
/// (log var + (input - target)^2 / var) / 2. var has input's shape, or lacks the last dim, or has size 1 there; target
/// broadcasts. Throws ValueError for a negative variance.
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                         const GaussianNllOptions& options = {});

namespace ops {
extern StructuredOp<Tensor(Tensor, Tensor)> binary_cross_entropy;               // input, target; of each element
extern StructuredOp<Tensor(Tensor, Tensor, Tensor)> binary_cross_entropy_grad;  // grad, input, target
}  // namespace ops

}  // namespace taper
