// Derivatives of choosing along a dim.
#include <taper/ops/sort.h>

#include "chosen.h"
#include "rules.h"

namespace taper {

void install_sort_rules() {
  differentiate<ChosenBackward, ops::sort>();
  differentiate<ChosenBackward, ops::topk>();
  differentiate<ChosenBackward, ops::kthvalue>();
  differentiate<ChosenBackward, ops::median>();
  ops::searchsorted.declare_non_differentiable();
}

}  // namespace taper
