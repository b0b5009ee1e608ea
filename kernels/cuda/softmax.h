#pragma once
#include <cstdint>

#include "cuda/queue.h"

namespace taper::cuda_kernels {

/// A contiguous tensor [outer, n, inner] as outer * inner lines of n elements that are `inner` apart.
struct SoftmaxLines {
  std::int64_t count, n, inner;
};
template <class T>
void softmax(const Queue& queue, const SoftmaxLines& lines, bool log, const T* x, T* y);
/// dx from dy and y, the softmax or its logarithm.
template <class T>
void softmax_backward(const Queue& queue, const SoftmaxLines& lines, bool log, const T* dy, const T* y, T* dx);

}  // namespace taper::cuda_kernels
