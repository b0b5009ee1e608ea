#pragma once
// Adding to elements where positions say: the steps that index_put and the scatter family share.
#include "cuda/combine.h"
#include "sort.h"
#include "walks.h"

namespace taper::cuda_kernels {

/// Positions over `sizes`, in `lines` lines of n, each sorted; there are `size` of them.
SortedLines sort_positions(const OnDevice& on, const char* op, const Positions& positions, IntSpan sizes,
                           const IntVec& strides, std::int64_t lines, std::int64_t n, std::int64_t size);

struct CombineOptions {
  std::int64_t to_step = 0, from_step = 0;
  const std::int64_t* places = nullptr;  // see Combine
  Combining kind = Combining::add;
  bool include_self = true, mean = false;
};
/// out[...] = out[...] combined with what the positions bring there, for each element of the shape `sizes`; strides are
/// those of out, of values, and of the number of the line. Dtypes are those of widened_numbers.
void combine_in_order(const OnDevice& on, const char* op, const Tensor& out, const Tensor& values, IntSpan sizes,
                      std::array<IntVec, 3> strides, const SortedLines& lines, const CombineOptions& options);

}  // namespace taper::cuda_kernels
