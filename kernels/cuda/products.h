#pragma once
// The products of all elements but one, behind the gradient of prod.
#include <cstdint>

#include "cuda/queue.h"

namespace taper::cuda_kernels {

/// out[i] = the product of the other elements of x, of n that are `step` apart; for `results` of them. `left` is
/// memory for n * results numbers.
struct Others {
  std::uint32_t results, n;
  double* left;
};
template <class T>
void products_of_others(const Queue& queue, const Others& others, const T* x, T* out);

}  // namespace taper::cuda_kernels
