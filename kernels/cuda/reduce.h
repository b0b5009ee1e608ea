#pragma once
// How the host describes a reduction to its kernels. No CUDA in here: .cu files and plain C++ read it.
//
// An operation `Op` says what is done with the elements:
//
//   using In, Acc;                        // of an element, of a partial result; Acc is trivially copyable
//   Acc start() const                     // of nothing
//   Acc add(acc, value, o, position) const    // for the result at o; positions count what is reduced into it
//   Acc combine(a, b) const               // of two partial results; commutative
//   void finish(o, acc) const             // stores the result at o
//
// Which thread adds which elements, and in which order partial results are combined, follows from the shapes and the
// device alone: the same call gives the same bits each time.
#include <cstdint>
#include <type_traits>

#include "cuda/fast_div.h"
#include "cuda/queue.h"

namespace taper::cuda_kernels {

struct Reduction {
  static constexpr int kMaxDims = 8;
  struct Dim {
    FastDiv size;
    std::int64_t stride, out_stride;  // elements
  };
  static_assert(std::has_unique_object_representations_v<Dim>, "a gap in an argument can look like a pointer");

  const void* in;
  void* partials;  // chunks * results accumulators, where chunks > 1
  std::uint32_t results, per_result;
  FastDiv chunks;  // into which what is reduced into one result is cut
  std::uint32_t chunk_length;
  bool by_blocks;  // a block works on one chunk; else a thread does
  std::uint32_t block_threads;
  std::int32_t kept_rank, reduced_rank;
  Dim kept[kMaxDims], reduced[kMaxDims];  // innermost first
};

/// Starts the kernels of one reduction. Defined in reduce.cuh; the .cu files list the operations.
template <class Op>
void reduce_loop(const Queue& queue, const Reduction& reduction, const Op& op);

}  // namespace taper::cuda_kernels
