// The functions of <taper/ops/math_binary.h>, <taper/ops/blend.h> and <taper/ops/bitwise.h>.
#include "pointwise/math_binary.h"

#include "cpu/pointwise.h"

namespace taper::cpu_kernels {
void install_math_binary();

void install_math_binary() { pointwise::MathBinary<OnCpu>::install(); }

}  // namespace taper::cpu_kernels
