#pragma once
#include <taper/ops/loss.h>

namespace taper {

/// The losses of the elements, their mean or their sum.
Tensor reduced(const Tensor& losses, Reduction reduction);

struct Pair {
  Tensor input, target;
};
/// The operands of an elementwise loss, which must have the same shape and get the same dtype.
Pair alike(const char* op, const Tensor& input, const Tensor& target);

}  // namespace taper
