#pragma once
// Numbers that must lie within bounds.
#include "cuda/finding.h"
#include "cuda/queue.h"

namespace taper::cuda_kernels {

/// Tells `watch` of an element of x[0, n) that is not between low and high. For float and double.
template <class T>
void find_outside(const Queue& queue, const Watch& watch, std::uint32_t n, const T* x, double low, double high);

}  // namespace taper::cuda_kernels
