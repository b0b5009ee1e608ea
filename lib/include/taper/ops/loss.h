#pragma once
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <array>

namespace taper {

/// What becomes of the losses of the single elements.
enum class Reduction : std::uint8_t { none, mean, sum };

struct CrossEntropyOptions {
  Tensor weight = {};                     ///< [C], what an element of each class counts; undefined: 1
  std::int64_t ignore_index = -100;       ///< elements with this target count nothing and get no gradient
  Reduction reduction = Reduction::mean;  ///< mean divides by the sum of the weights of the targets
  double label_smoothing = 0;             ///< the share of the target that is spread evenly over all classes
};

/// The cross entropy between softmax(input) over the classes and the target.
///
/// input [N, C, ...] or [C], unnormalized log-probabilities. target [N, ...] or [], class indices (int64); or of
/// input's shape, class probabilities, for which the mean divides by the number of elements and there is no
/// ignore_index. Any floating dtype; the loss is a number, or has target's shape (less the classes) without reduction.
/// The mean over no elements, or with all of them ignored, is NaN; its gradient is 0.
/// Differentiable in input, and in target probabilities.
/// Throws IndexError if a target is not a class, ShapeError, DTypeError and ValueError for arguments that do not fit.
/// Szegedy et al. 2016, "Rethinking the Inception Architecture for Computer Vision", section 7, for the smoothing.
Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyOptions& options = {});

struct NllLossOptions {
  Tensor weight = {};
  std::int64_t ignore_index = -100;
  Reduction reduction = Reduction::mean;
};
/// The negative log-likelihood of the target classes: as cross_entropy with class indices, for an input that holds
/// log-probabilities, such as those of log_softmax.
Tensor nll_loss(const Tensor& input, const Tensor& target, const NllLossOptions& options = {});
Tensor& nll_loss_out(Tensor& out, const Tensor& input, const Tensor& target, const NllLossOptions& options = {});

/// (input - target)^2. Both floating and of the same shape; a difference in dtype is promoted. Differentiable in both.
/// Throws ShapeError if the shapes differ, also where they would broadcast: a [n, 1] prediction for [n] targets would
/// be compared n times with each.
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
Tensor& mse_loss_out(Tensor& out, const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
/// |input - target|, under the same rules; its gradient is 0 where the two are equal.
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);

namespace ops {

/// The plain arguments of a loss over classes.
struct ClassLoss {
  using plain_argument = void;
  std::int64_t classes = 0;
  std::int64_t ignore_index = -100;
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0;
};

/// {loss, statistics}: of each element the largest logit, then of each the log of the sum of exponentials relative to
/// it, [2, *target].
extern StructuredOp<std::array<Tensor, 2>(Tensor, Tensor, std::optional<Tensor>, ClassLoss)> cross_entropy;
/// grad, input, target, weight, statistics. Has no rule: a backward pass that is recorded takes the operators below.
extern StructuredOp<Tensor(Tensor, Tensor, Tensor, std::optional<Tensor>, Tensor, ClassLoss)> cross_entropy_backward;
/// log-probabilities, target, weight; with label smoothing. Linear in the first.
extern StructuredOp<Tensor(Tensor, Tensor, std::optional<Tensor>, ClassLoss)> nll_loss;
/// grad, target, weight: the adjoint of nll_loss.
extern StructuredOp<Tensor(Tensor, Tensor, std::optional<Tensor>, ClassLoss)> nll_loss_backward;
/// The sum of the squared differences, or their mean.
extern StructuredOp<Tensor(Tensor, Tensor, Reduction)> mse_loss;

}  // namespace ops
}  // namespace taper
