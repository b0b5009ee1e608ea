#pragma once
#include <taper/ops/loss.h>

namespace taper::kernels {

/// Throws the error of the target at place `at` of all.
[[noreturn]] inline void raise_no_class(const char* op, const Tensor& target, std::int64_t value, std::int64_t at,
                                        const ops::ClassLoss& o) {
  IntVec index(std::size_t(target.dim()));
  for (std::size_t d = index.size(); d-- > 0;) {
    index[d] = at % target.size(std::int64_t(d));
    at /= target.size(std::int64_t(d));
  }
  raise<IndexError>(op, ": target", IntSpan(index), " is ", value, ", which is not a class: input has ", o.classes,
                    " classes, from 0 to ", o.classes - 1, ", and ignore_index is ", o.ignore_index);
}

}  // namespace taper::kernels
