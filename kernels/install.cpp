#include <taper/operator.h>

namespace taper {
namespace cpu_kernels {
// One per file of kernels/cpu that serves operators.
void install_view();
}  // namespace cpu_kernels

void install_kernels() { cpu_kernels::install_view(); }

}  // namespace taper
