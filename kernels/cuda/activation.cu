// The functions of pointwise/activation.h.
#include <taper/ops/fn_activation.h>

#include "elementwise.cuh"

namespace taper::cuda_kernels {

template struct OnFloating<1, fn::Gelu, fn::GeluTanh, fn::Hardshrink, fn::Hardsigmoid, fn::Hardswish, fn::LeakyRelu,
                           fn::LogSigmoid, fn::Mish, fn::Silu, fn::Softplus, fn::Softshrink, fn::Elu>;
template struct OnNumbers<1, fn::Hardtanh, fn::Threshold>;

template <class... F>
struct Gradients {
  static constexpr const ElementLoop* loops[] = {Loops<2, fn::GradientOf<F>, float, double>::loops...};
  static void use() { (Loops<2, fn::GradientOf<F>, float, double>::use(), ...); }
};
template struct Gradients<fn::Gelu, fn::GeluTanh, fn::Hardshrink, fn::Hardsigmoid, fn::Hardswish, fn::LeakyRelu,
                          fn::LogSigmoid, fn::Mish, fn::Silu, fn::Softplus, fn::Softshrink, fn::Elu, fn::Hardtanh,
                          fn::Threshold>;

}  // namespace taper::cuda_kernels
