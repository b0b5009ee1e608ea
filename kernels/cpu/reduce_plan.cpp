#include "reduce_plan.h"

#include <algorithm>
#include <limits>

namespace taper::cpu_kernels {
namespace {

/// Large steps outside. A step of 0 reads the same memory again and goes furthest out, where it costs no locality.
void sort_by_stride(ReduceLoops& loops) {
  const auto rank = [](const ReduceLoop& l) {
    return l.stride == 0 ? std::numeric_limits<std::int64_t>::max() : l.stride;
  };
  std::stable_sort(loops.begin(), loops.end(),
                   [&](const ReduceLoop& a, const ReduceLoop& b) { return rank(a) > rank(b); });
}

void merge_neighbours(ReduceLoops& loops) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const ReduceLoop inner = loops[i];
    if (n > 0 && loops[n - 1].stride == inner.stride * inner.size &&
        loops[n - 1].out_stride == inner.out_stride * inner.size) {
      loops[n - 1] = {loops[n - 1].size * inner.size, inner.stride, inner.out_stride};
    } else {
      loops[n++] = inner;
    }
  }
  loops.resize(n);
}

}  // namespace

ReducePlan plan_reduction(const Tensor& x, ops::Reduced r, bool ordered) {
  ReducePlan p;
  const IntSpan sizes = x.sizes(), strides = x.strides();
  std::int64_t out_stride = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    const bool reduced = r.dims >> d & 1;
    (reduced ? p.per_result : p.results) *= sizes[d];
    if (sizes[d] != 1) {
      if (reduced)
        p.reduced.push_back({sizes[d], strides[d], 0});
      else
        p.kept.push_back({sizes[d], strides[d], out_stride});
    }
    if (!reduced) out_stride *= sizes[d];
  }
  std::reverse(p.kept.begin(), p.kept.end());
  std::reverse(p.reduced.begin(), p.reduced.end());
  sort_by_stride(p.kept);
  if (!ordered) sort_by_stride(p.reduced);
  merge_neighbours(p.kept);
  merge_neighbours(p.reduced);
  return p;
}

}  // namespace taper::cpu_kernels
