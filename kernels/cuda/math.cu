// The functions of pointwise/math.h.
#include "elementwise.cuh"

namespace taper::cuda_kernels {

template struct OnFloating<1, fn::Expm1, fn::Exp2, fn::Log1p, fn::Log2, fn::Log10, fn::Tan, fn::Asin, fn::Acos,
                           fn::Atan, fn::Sinh, fn::Cosh, fn::Asinh, fn::Acosh, fn::Atanh, fn::Erf, fn::Erfc>;
template struct OnNumbers<1, fn::Floor, fn::Ceil, fn::Trunc, fn::Round>;

}  // namespace taper::cuda_kernels
