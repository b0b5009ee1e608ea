#include "value_checks.h"

#include <taper/error.h>
#include <taper/ops/compare.h>
#include <taper/ops/reduce.h>

namespace taper {

void expect_between(const char* op, const Tensor& t, double low, double high, const char* what) {
  if (looks_at_values(t))
    check<ValueError>(t.ge(low).logical_and(t.le(high)).all().item<bool>(), op, ": ", what, "; ", t,
                      " has an element that is not so");
  else if (t.device().is_cuda())
    cuda::detail::expect_between(op, t.detach(), low, high, what);
}

}  // namespace taper
