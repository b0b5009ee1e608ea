// Arithmetic of two tensors, or of a tensor and a number.
#include "cpu/pointwise.h"
#include "pointwise/binary.h"

namespace taper::cpu_kernels {
void install_pointwise_binary();

void install_pointwise_binary() { pointwise::Binary<OnCpu>::install(); }

}  // namespace taper::cpu_kernels
