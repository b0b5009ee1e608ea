// The functions of <taper/ops/math.h>.
#include "pointwise/math.h"

#include "cpu/pointwise.h"

namespace taper::cpu_kernels {
void install_math();

void install_math() { pointwise::Math<OnCpu>::install(); }

}  // namespace taper::cpu_kernels
