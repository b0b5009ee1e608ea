// binary_cross_entropy.
#include "cpu/pointwise.h"
#include "pointwise/loss.h"

namespace taper::cpu_kernels {
void install_loss_elementwise();

void install_loss_elementwise() { pointwise::Loss<OnCpu>::install(); }

}  // namespace taper::cpu_kernels
