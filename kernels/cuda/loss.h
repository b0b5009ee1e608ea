#pragma once
// Losses over classes, an input being [n, classes, positions] and a target [n, positions], and the mean square
// difference.
#include <cstdint>

#include "cuda/fast_div.h"
#include "cuda/finding.h"
#include "cuda/queue.h"

namespace taper::cuda_kernels {

enum class LossReduction : std::uint32_t { none, mean, sum };

struct ClassTargets {
  const std::int64_t* target;
  const void* class_weight;  // of the elements' type; null: 1
  std::int64_t count, classes, positions, ignore_index;
  double label_smoothing;
  LossReduction reduction;
  Watch watch;
};

/// A sum of losses, and of the weights that the mean divides by.
struct LossSums {
  double loss, weight;
};
/// Partial sums of one launch, at most.
unsigned most_loss_sums(const Queue& queue);

/// `x` are logits; `largest` and `log_sum`, [count], become the statistics of each element. Without reduction the
/// losses go to loss [count]; else their sum or mean goes there, by way of `sums`.
template <class T>
void cross_entropy_losses(const Queue& queue, const ClassTargets& t, const T* x, T* loss, T* largest, T* log_sum,
                          LossSums* sums);
/// `x` are log-probabilities.
template <class T>
void nll_losses(const Queue& queue, const ClassTargets& t, const T* x, T* loss, LossSums* sums);

/// dx from the gradient of the loss; less than 2^31 elements. `sums` as above.
template <class T>
void cross_entropy_gradients(const Queue& queue, const ClassTargets& t, const T* grad, const T* x, const T* largest,
                             const T* log_sum, T* dx, LossSums* sums);
template <class T>
void nll_loss_gradients(const Queue& queue, const ClassTargets& t, const T* grad, T* dx, LossSums* sums);

/// loss = the sum, or mean, of (x - y)^2.
template <class T>
void square_differences(const Queue& queue, std::int64_t count, bool mean, const T* x, const T* y, T* loss,
                        LossSums* sums);

}  // namespace taper::cuda_kernels
