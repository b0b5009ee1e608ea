#pragma once
#include <taper/cuda.h>
#include <taper/tensor.h>

namespace taper {

/// Whether operators look at t's values before they run: on the cpu always, on cuda where checks are immediate.
inline bool looks_at_values(const Tensor& t) {
  return t.device().is_cpu() || (t.device().is_cuda() && cuda::detail::checks_now(t.device()));
}

/// Throws ValueError, with `op` and what was expected, unless all of t lies between low and high; NaN does not. On
/// cuda, where checks are not immediate, a kernel looks and the next wait throws. Both texts must live on.
void expect_between(const char* op, const Tensor& t, double low, double high, const char* what);

}  // namespace taper
