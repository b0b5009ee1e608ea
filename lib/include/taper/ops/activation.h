#pragma once
// Activation functions. Elementwise unless said otherwise; the result has x's shape and dtype, which is floating
// (hardtanh, relu6 and threshold take integers as well). A form whose name ends in _ overwrites x. Differentiable.
// Errors: DTypeError for other dtypes, ValueError for a parameter outside its domain.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <string_view>

namespace taper {

namespace fn {
struct ActivationShape;
struct Elu;
}  // namespace fn
namespace ops {
using Activation = StructuredOp<Tensor(Tensor, fn::ActivationShape)>;
using ActivationGradient = StructuredOp<Tensor(Tensor, Tensor, fn::ActivationShape)>;
extern Activation gelu, gelu_tanh, hardshrink, hardsigmoid, hardswish, hardtanh, leaky_relu, log_sigmoid, mish, silu,
    softplus, softshrink, threshold;
extern StructuredOp<Tensor(Tensor, fn::Elu)> elu;
/// grad, x: grad times the derivative at x.
extern ActivationGradient gelu_grad, gelu_tanh_grad, hardshrink_grad, hardsigmoid_grad, hardswish_grad, hardtanh_grad,
    leaky_relu_grad, log_sigmoid_grad, mish_grad, silu_grad, softplus_grad, softshrink_grad, threshold_grad;
extern StructuredOp<Tensor(Tensor, Tensor, fn::Elu)> elu_grad;
}  // namespace ops

/// x above 0, else negative_slope x. Maas, Hannun, Ng 2013.
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);
Tensor& leaky_relu_out(Tensor& out, const Tensor& x, double negative_slope = 0.01);
Tensor& leaky_relu_(Tensor& x, double negative_slope = 0.01);
/// x above 0, else weight x. weight has one element, or one for each entry of x's dim 1. He et al. 2015.
Tensor prelu(const Tensor& x, const Tensor& weight);
Tensor& prelu_out(Tensor& out, const Tensor& x, const Tensor& weight);
/// scale x above 0, else scale alpha (e^(input_scale x) - 1). Clevert, Unterthiner, Hochreiter 2015.
Tensor elu(const Tensor& x, double alpha = 1, double scale = 1, double input_scale = 1);
Tensor& elu_out(Tensor& out, const Tensor& x, double alpha = 1, double scale = 1, double input_scale = 1);
Tensor& elu_(Tensor& x, double alpha = 1, double scale = 1, double input_scale = 1);
/// elu with the slope 1 on both sides of 0: alpha (e^(x / alpha) - 1) below. alpha is not 0. Barron 2017.
Tensor celu(const Tensor& x, double alpha = 1);
Tensor& celu_out(Tensor& out, const Tensor& x, double alpha = 1);
Tensor& celu_(Tensor& x, double alpha = 1);
/// elu with the constants that keep mean 0 and variance 1. Klambauer et al. 2017.
Tensor selu(const Tensor& x);
Tensor& selu_(Tensor& x);
/// x Phi(x), Phi the normal distribution function; approximate is "none" or "tanh". Hendrycks, Gimpel 2016.
Tensor gelu(const Tensor& x, std::string_view approximate = "none");
Tensor& gelu_out(Tensor& out, const Tensor& x, std::string_view approximate = "none");
Tensor& gelu_(Tensor& x, std::string_view approximate = "none");
/// x sigmoid(x).
Tensor silu(const Tensor& x);
Tensor& silu_out(Tensor& out, const Tensor& x);
Tensor& silu_(Tensor& x);
/// x tanh(softplus(x)). Misra 2019.
Tensor mish(const Tensor& x);
Tensor& mish_out(Tensor& out, const Tensor& x);
Tensor& mish_(Tensor& x);
/// log(1 + e^(beta x)) / beta; x itself where beta x is above threshold. beta is not 0.
Tensor softplus(const Tensor& x, double beta = 1, double threshold = 20);
Tensor& softplus_out(Tensor& out, const Tensor& x, double beta = 1, double threshold = 20);
/// x / (1 + |x|).
Tensor softsign(const Tensor& x);
/// log(sigmoid(x)).
Tensor log_sigmoid(const Tensor& x);
Tensor& log_sigmoid_out(Tensor& out, const Tensor& x);
/// x - tanh(x).
Tensor tanhshrink(const Tensor& x);
/// x outside [-lambd, lambd], else 0.
Tensor hardshrink(const Tensor& x, double lambd = 0.5);
Tensor& hardshrink_out(Tensor& out, const Tensor& x, double lambd = 0.5);
/// x moved towards 0 by lambd, which is 0 or more.
Tensor softshrink(const Tensor& x, double lambd = 0.5);
Tensor& softshrink_out(Tensor& out, const Tensor& x, double lambd = 0.5);
/// x within [min_val, max_val], else the nearer end. The gradient at the ends is 0.
Tensor hardtanh(const Tensor& x, Scalar min_val = -1, Scalar max_val = 1);
Tensor& hardtanh_out(Tensor& out, const Tensor& x, Scalar min_val = -1, Scalar max_val = 1);
Tensor& hardtanh_(Tensor& x, Scalar min_val = -1, Scalar max_val = 1);
/// x within [0, 6], else the nearer end.
Tensor relu6(const Tensor& x);
Tensor& relu6_(Tensor& x);
/// x / 6 + 1/2 within [0, 1], else the nearer end. Howard et al. 2019.
Tensor hardsigmoid(const Tensor& x);
Tensor& hardsigmoid_out(Tensor& out, const Tensor& x);
Tensor& hardsigmoid_(Tensor& x);
/// x hardsigmoid(x).
Tensor hardswish(const Tensor& x);
Tensor& hardswish_out(Tensor& out, const Tensor& x);
Tensor& hardswish_(Tensor& x);
/// x above threshold, else value.
Tensor threshold(const Tensor& x, Scalar threshold, Scalar value);
Tensor& threshold_out(Tensor& out, const Tensor& x, Scalar threshold, Scalar value);
Tensor& threshold_(Tensor& x, Scalar threshold, Scalar value);
/// The first half of dim times the sigmoid of the second; that dim of x has an even size. Dauphin et al. 2016.
Tensor glu(const Tensor& x, std::int64_t dim = -1);
Tensor& glu_out(Tensor& out, const Tensor& x, std::int64_t dim = -1);
/// softmax(-x, dim).
Tensor softmin(const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});

}  // namespace taper
