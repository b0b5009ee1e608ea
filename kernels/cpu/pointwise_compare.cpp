// Comparison, logic and choice by a mask.
#include "cpu/pointwise.h"
#include "pointwise/compare.h"

namespace taper::cpu_kernels {
void install_pointwise_compare();

void install_pointwise_compare() { pointwise::Compare<OnCpu>::install(); }

}  // namespace taper::cpu_kernels
