#pragma once
// How the host describes a running result to its kernels. An operation `Op` says what is done along a line:
//
//   using Acc;                                // what has been seen so far; trivially copyable
//   Acc start() const                         // of nothing
//   Acc entry(const int64 (&at)[3], i) const  // of entry i alone, of the line whose operands begin at `at`
//   Acc both(a, b) const                      // of b after a; associative but for rounding
//   void store(at, i, acc) const
//
// Which entries a thread walks follows from the shape and the device alone: the same call gives the same bits.
#include <cstdint>

#include "cuda/queue.h"
#include "cuda/walk.h"

namespace taper::cuda_kernels {

struct Scan {
  Walk<3> lines;  // of up to three operands
  FastDiv line_count;
  std::uint32_t n, chunks, chunk_length;  // what a thread walks
  void* partials;                         // chunks * lines of Op::Acc, where chunks > 1
};
/// Defined in scan.cuh; scan.cu lists the operations.
template <class Op>
void scan_loop(const Queue& queue, const Scan& scan, const Op& op);

}  // namespace taper::cuda_kernels
