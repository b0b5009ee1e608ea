#pragma once
#include <taper/memory_overlap.h>
#include <taper/tensor.h>

namespace taper::nn::init {

/// Checks, by the name of the function that was called, what uniform_() and normal_() would complain about.
inline void check_weight(const char* function, const Tensor& t) {
  check<ValueError>(t.defined(), "init.", function, ": the tensor is undefined");
  check<DTypeError>(t.is_floating_point(), "init.", function, ": the weight must be floating, got ", t.spec());
  check<ValueError>(!overlaps_itself(t), "init.", function, ": elements of the weight, ", t.spec(),
                    ", share memory; make it contiguous() first");
}

}  // namespace taper::nn::init
