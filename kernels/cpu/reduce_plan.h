#pragma once
// How a reduction walks through memory, whatever it computes.
#include <taper/ops/reduce.h>
#include <taper/small_vector.h>

#include <cstdint>

namespace taper::cpu_kernels {

/// One loop over the operand. `out_stride` is the step in the result; 0 for a reduced dimension.
struct ReduceLoop {
  std::int64_t size, stride, out_stride;
};
using ReduceLoops = SmallVector<ReduceLoop, 6>;

/// A reduction as two nests of loops, the innermost last: `kept` runs over results, `reduced` over what goes into one.
/// Dimensions of size 1 are gone and neighbours that are one run of memory are one loop.
struct ReducePlan {
  ReduceLoops kept, reduced;
  std::int64_t results = 1;
  std::int64_t per_result = 1;

  /// The elements of one result follow each other in memory, or nothing does.
  bool by_rows() const {
    if (reduced.empty() || kept.empty()) return true;
    return reduced[reduced.size() - 1].stride == 1 || kept[kept.size() - 1].stride != 1;
  }
};

/// `ordered` keeps the reduced elements in row-major order, for reductions that count them.
ReducePlan plan_reduction(const Tensor& x, ops::Reduced r, bool ordered = false);

}  // namespace taper::cpu_kernels
