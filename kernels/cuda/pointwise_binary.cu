// The functions of pointwise/binary.h.
#include "elementwise.cuh"

namespace taper::cuda_kernels {

template struct OnAll<2, fn::Add, fn::Sub, fn::Mul, fn::Maximum, fn::Minimum, fn::Pow>;
template struct OnFloating<2, fn::Div>;
template struct OnFloating<1, fn::Cube, fn::ReciprocalSquare>;

template struct Loops<2, fn::AddScaled<bool>, bool>;
template struct Loops<2, fn::AddScaled<std::uint8_t>, std::uint8_t>;
template struct Loops<2, fn::AddScaled<std::int32_t>, std::int32_t>;
template struct Loops<2, fn::AddScaled<std::int64_t>, std::int64_t>;
template struct Loops<2, fn::AddScaled<float>, float>;
template struct Loops<2, fn::AddScaled<double>, double>;

}  // namespace taper::cuda_kernels
