#pragma once
// Kernels that pick or place elements along one dimension, behind the gradients of max and prod.
#include <cstdint>

#include "cuda/fast_div.h"
#include "cuda/queue.h"

namespace taper::cuda_kernels {

/// Three operands walked over one shape; steps in elements.
struct Along {
  static constexpr int kMaxDims = 8;
  struct Dim {
    FastDiv size;
    std::int64_t moved, index, fixed;
  };
  std::uint32_t count;
  std::int32_t rank;
  Dim dim[kMaxDims];  // innermost first
  std::int64_t step;  // of the moved operand along the dimension that is indexed
};

/// placed[... + index * step] = from[...]: the moved operand is written.
template <class T>
void place_elements(const Queue& queue, const Along& along, T* placed, const std::int64_t* index, const T* from);
/// to[...] = x[... + index * step]: the moved operand is read.
template <class T>
void take_elements(const Queue& queue, const Along& along, T* to, const std::int64_t* index, const T* x);

/// out[i] = the product of the other elements of x, of n that are `step` apart; for `results` of them. `left` is
/// memory for n * results numbers.
struct Others {
  std::uint32_t results, n;
  double* left;
};
template <class T>
void products_of_others(const Queue& queue, const Others& others, const T* x, T* out);

}  // namespace taper::cuda_kernels
