// The functions of pointwise/unary.h.
#include "elementwise.cuh"

namespace taper::cuda_kernels {

template struct OnFloating<1, fn::Exp, fn::Log, fn::Sqrt, fn::Rsqrt, fn::Reciprocal, fn::Tanh, fn::Sigmoid, fn::Sin,
                           fn::Cos>;
template struct OnFloating<2, fn::ReluGrad, fn::TanhGrad, fn::SigmoidGrad>;
template struct OnNumbers<1, fn::Abs, fn::Neg, fn::Relu, fn::Square>;
template struct OnAll<1, fn::Sign>;
template struct MasksOnAll<1, fn::LogicalNot, fn::IsNan, fn::IsInf, fn::IsFinite>;

template struct Loops<1, fn::Clamp<std::uint8_t>, std::uint8_t>;
template struct Loops<1, fn::Clamp<std::int32_t>, std::int32_t>;
template struct Loops<1, fn::Clamp<std::int64_t>, std::int64_t>;
template struct Loops<1, fn::Clamp<float>, float>;
template struct Loops<1, fn::Clamp<double>, double>;
template struct Loops<2, fn::ClampGrad<float>, float>;
template struct Loops<2, fn::ClampGrad<double>, double>;

}  // namespace taper::cuda_kernels
