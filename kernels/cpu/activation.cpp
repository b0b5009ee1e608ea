// The functions of <taper/ops/activation.h>.
#include "pointwise/activation.h"

#include "cpu/pointwise.h"

namespace taper::cpu_kernels {
void install_activation();

void install_activation() { pointwise::Activation<OnCpu>::install(); }

}  // namespace taper::cpu_kernels
