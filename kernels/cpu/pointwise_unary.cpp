// Functions of one tensor, clamp among them.
#include "cpu/pointwise.h"
#include "pointwise/unary.h"

namespace taper::cpu_kernels {
void install_pointwise_unary();

void install_pointwise_unary() { pointwise::Unary<OnCpu>::install(); }

}  // namespace taper::cpu_kernels
