// The elementwise operators of all families; the .cu files of the same names have their kernels.
#include "elementwise.h"
#include "install.h"
#include "pointwise/activation.h"
#include "pointwise/binary.h"
#include "pointwise/compare.h"
#include "pointwise/loss.h"
#include "pointwise/math.h"
#include "pointwise/math_binary.h"
#include "pointwise/special.h"
#include "pointwise/unary.h"

namespace taper::cuda_kernels {

void install_pointwise() {
  pointwise::Unary<OnCuda>::install();
  pointwise::Binary<OnCuda>::install();
  pointwise::Compare<OnCuda>::install();
  pointwise::Math<OnCuda>::install();
  pointwise::Activation<OnCuda>::install();
  pointwise::MathBinary<OnCuda>::install();
  pointwise::Special<OnCuda>::install();
  pointwise::Loss<OnCuda>::install();
}

}  // namespace taper::cuda_kernels
