#pragma once
#include <taper/tensor.h>

#include <cstdint>

/// Fills parameters with start values, drawn from default_generator(). Each function writes into t, without recording,
/// and returns it. What kaiming and xavier cannot fill (fewer than two dimensions, not floating) or draw from (a gain
/// that is negative, a slope that is no number) is an error before anything is written.
namespace taper::nn::init {

enum class Nonlinearity : std::uint8_t { linear, conv1d, conv2d, conv3d, sigmoid, tanh, relu, leaky_relu, selu };
/// Whether the variance of activations is kept in the forward pass, or that of gradients in the backward pass.
enum class FanMode : std::uint8_t { fan_in, fan_out };

/// The factor by which the deviation of weights makes up for what the nonlinearity takes away.
/// `param` is the negative slope of leaky_relu; absent: 0.01.
double calculate_gain(Nonlinearity nonlinearity, std::optional<double> param = {});

struct Fans {
  std::int64_t in = 0, out = 0;
};
/// Inputs per output and outputs per input of a weight [out, in, ...], the elements of a window counted.
/// Throws ShapeError if there are fewer than two dimensions.
Fans calculate_fan_in_and_fan_out(const Tensor& t);

struct KaimingOptions {
  double a = 0;  ///< negative slope, for leaky_relu
  FanMode mode = FanMode::fan_in;
  Nonlinearity nonlinearity = Nonlinearity::leaky_relu;
};
/// Uniform in [-b, b], b = gain sqrt(3 / fan). He, Zhang, Ren, Sun 2015, "Delving deep into rectifiers", eq. 10.
Tensor kaiming_uniform_(Tensor t, const KaimingOptions& options = {});
/// Normal with deviation gain / sqrt(fan).
Tensor kaiming_normal_(Tensor t, const KaimingOptions& options = {});
/// Uniform in [-b, b], b = gain sqrt(6 / (fan_in + fan_out)). Glorot and Bengio 2010, "Understanding the difficulty of
/// training deep feedforward neural networks", eq. 16.
Tensor xavier_uniform_(Tensor t, double gain = 1);
/// Normal with deviation gain sqrt(2 / (fan_in + fan_out)).
Tensor xavier_normal_(Tensor t, double gain = 1);

/// Uniform in [a, b).
Tensor uniform_(Tensor t, double a = 0, double b = 1);
Tensor normal_(Tensor t, double mean = 0, double std = 1);
Tensor constant_(Tensor t, double value);
Tensor zeros_(Tensor t);
Tensor ones_(Tensor t);

struct TruncNormalOptions {
  double mean = 0, std = 1;
  double a = -2, b = 2;
};
/// Normal with this mean and deviation, what is not in [a, b] drawn again.
Tensor trunc_normal_(Tensor t, const TruncNormalOptions& options = {});
/// The rows of t as a matrix [out, rest], or its columns where these are fewer, are orthogonal and of length gain, in
/// directions that are uniformly distributed. Saxe, McClelland and Ganguli 2013, "Exact solutions to the nonlinear
/// dynamics of learning in deep linear neural networks".
Tensor orthogonal_(Tensor t, double gain = 1);
/// 1 on the diagonal of a matrix, 0 elsewhere.
Tensor eye_(Tensor t);
/// A convolution weight [out, in, window...] that passes each input channel on unchanged, as far as there are outputs
/// for it; one to three dimensions of window. With groups, each group of outputs does so.
Tensor dirac_(Tensor t, std::int64_t groups = 1);
/// A matrix [out, in] drawn as normal_(0, std), with sparsity * out elements of each column, rounded up, set to 0.
/// Martens 2010, "Deep learning via Hessian-free optimization".
Tensor sparse_(Tensor t, double sparsity, double std = 0.01);

}  // namespace taper::nn::init
