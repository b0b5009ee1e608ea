#pragma once
#include <taper/ops/loss.h>

namespace taper {

struct CtcLossOptions {
  std::int64_t blank = 0;                 ///< the class that stands for nothing
  Reduction reduction = Reduction::mean;  ///< mean divides each loss by the length of its target first
  bool zero_infinity = false;             ///< 0 in place of infinity, for targets too long for their input
};
/// The negative log-probability of each target sequence, over all ways of aligning it with the input.
///
/// log_probs [t, n, classes] or [t, classes], results of log_softmax; targets [n, s], or all targets in one dim, one
/// after the other; input_lengths and target_lengths int64 [n] or []. Differentiable in log_probs, twice too. As
/// PyTorch's, the gradient is that of the loss composed with log_softmax. It is 0 where the loss is infinite.
/// Throws ValueError for lengths and classes out of range.
/// Graves, Fernandez, Gomez, Schmidhuber 2006, "Connectionist Temporal Classification", section 4.1.
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CtcLossOptions& options = {});

}  // namespace taper
