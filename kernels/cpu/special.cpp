// The functions of <taper/ops/special.h>.
#include "pointwise/special.h"

#include "cpu/pointwise.h"

namespace taper::cpu_kernels {
void install_special();

void install_special() { pointwise::Special<OnCpu>::install(); }

}  // namespace taper::cpu_kernels
