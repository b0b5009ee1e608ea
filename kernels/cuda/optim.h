#pragma once
// Steps of optimizers, for many parameters in one launch.
#include <cstdint>

#include "cuda/queue.h"

namespace taper::cuda_kernels {

/// A parameter with its gradient and state: dense, in one order.
struct StepTensor {
  void* param;
  const void* grad;
  void* state[3];
  std::int64_t count;
};
/// As many as fit into the arguments of a kernel, which have 4 KB.
struct StepTensors {
  static constexpr std::uint32_t kMost = 64;
  std::uint32_t count;
  std::uint32_t first_block[kMost];
  StepTensor tensor[kMost];
};

// The numbers of a step that are the same for all elements. No padding: the host compares them byte by byte.
template <class T>
struct SgdFactors {
  enum Flags : std::uint32_t { decays = 1, has_momentum = 2, first = 4, nesterov = 8 };
  T lr, decay, sign, keep, take;
  std::uint32_t flags, unused;
};
template <class T>
struct AdamFactors {
  enum Flags : std::uint32_t { decays = 1, keeps_largest = 2 };
  T beta1, beta2, rest1, rest2, eps, sign, shrink, decay, step_size, root_scale;
  std::uint32_t flags, unused;
};

// A step takes `all` for every tensor, or, if `each` is not null, each[i] for tensor i, which it reads from the device:
// so a graph is captured. Both set first_block.
/// The state is the momentum buffer.
template <class T>
void sgd_steps(const Queue& queue, StepTensors& tensors, const SgdFactors<T>& all, const SgdFactors<T>* each);
/// The state is the mean, the mean square and the largest mean square.
template <class T>
void adam_steps(const Queue& queue, StepTensors& tensors, const AdamFactors<T>& all, const AdamFactors<T>* each);

}  // namespace taper::cuda_kernels
