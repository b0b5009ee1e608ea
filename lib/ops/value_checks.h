#pragma once
#include <taper/cuda.h>
#include <taper/tensor.h>

namespace taper {

/// Whether operators look at t's values before they run: on the cpu always, on cuda where checks are immediate.
inline bool looks_at_values(const Tensor& t) {
  return t.device().is_cpu() || (t.device().is_cuda() && cuda::detail::checks_now(t.device()));
}

}  // namespace taper
