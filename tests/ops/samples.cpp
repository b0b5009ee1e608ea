#include "samples.h"

#include <taper/factory.h>
#include <taper/ops/activation.h>
#include <taper/ops/bitwise.h>
#include <taper/ops/blend.h>
#include <taper/ops/compare.h>
#include <taper/ops/conv.h>
#include <taper/ops/copy.h>
#include <taper/ops/diagonals.h>
#include <taper/ops/dropout.h>
#include <taper/ops/embedding.h>
#include <taper/ops/fn_activation.h>
#include <taper/ops/image.h>
#include <taper/ops/index.h>
#include <taper/ops/join.h>
#include <taper/ops/linalg.h>
#include <taper/ops/loss.h>
#include <taper/ops/loss_elementwise.h>
#include <taper/ops/math.h>
#include <taper/ops/math_binary.h>
#include <taper/ops/matmul.h>
#include <taper/ops/norm.h>
#include <taper/ops/norm_samples.h>
#include <taper/ops/optim.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/pool.h>
#include <taper/ops/rearrange.h>
#include <taper/ops/reduce.h>
#include <taper/ops/resample_dim.h>
#include <taper/ops/scan.h>
#include <taper/ops/softmax.h>
#include <taper/ops/sort.h>
#include <taper/ops/special.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include <limits>

using namespace taper;

namespace samples {
namespace {

using Table = std::vector<OpSamples>;

template <auto& Op>
Row<Op> row(Table& t) {
  return Row<Op>(t);
}

template <auto&... Op, class... Plain>
void unary(Table& t, double low, double high, Plain... plain) {
  (row<Op>(t)
       .with({real({3, 4}, low, high)}, plain...)
       .with({real({}, low, high)}, plain...)
       .with({real({0, 3}, low, high)}, plain...),
   ...);
}
/// With derivatives that are 0.
template <auto&... Op, class... Plain>
void steps(Table& t, Plain... plain) {
  (row<Op>(t).with({flat({3, 4})}, plain...).with({flat({})}, plain...).with({flat({0, 3})}, plain...), ...);
}
template <auto&... Op, class... Plain>
void binary(Table& t, double low, double high, Plain... plain) {
  const auto both = [&](IntVec a, IntVec b) {
    return std::vector<Operand>{real(std::move(a), low, high), real(std::move(b), low, high)};
  };
  (row<Op>(t)
       .with(both({3, 4}, {3, 4}), plain...)
       .with(both({3, 4}, {4}), plain...)
       .with(both({3, 1}, {1, 4}), plain...)
       .with(both({}, {3}), plain...)
       .with(both({2}, {}), plain...)
       .with(both({0, 3}, {3}), plain...),
   ...);
}

/// So that each of the two is chosen somewhere.
template <auto&... Op>
void extrema(Table& t) {
  (row<Op>(t)
       .with({real({3, 4}), real({3, 4})})
       .with({real({3, 4}), real({4})})
       .with({real({3, 1}), real({1, 4})})
       .with({real({}, -0.5, 0.5), real({3})})
       .with({real({2}), real({}, -0.5, 0.5)})
       .with({real({0, 3}), real({3})}),
   ...);
}
template <auto&... Op>
void lines(Table& t) {
  (row<Op>(t).with({real({3, 4})}, 1).with({real({2, 3, 2})}, 1).with({flat({})}, 0).with({real({0, 3})}, 1), ...);
}

template <auto&... Op>
void bits(Table& t) {
  (row<Op>(t)
       .with({index({3, 4}, 100), index({3, 4}, 8)})
       .with({index({3, 1}, 100), index({4}, 8)})
       .with({index({}, 100), index({}, 8)})
       .with({index({0, 3}, 100), index({3}, 8)}),
   ...);
}

void add_pointwise(Table& t) {
  unary<ops::abs, ops::neg, ops::exp, ops::square, ops::tanh, ops::sigmoid, ops::relu, ops::sin, ops::cos, ops::expm1,
        ops::exp2, ops::atan, ops::sinh, ops::cosh, ops::asinh, ops::erf, ops::erfc>(t, -2, 2);
  unary<ops::log, ops::sqrt, ops::rsqrt, ops::reciprocal, ops::log2, ops::log10>(t, 0.5, 3);
  unary<ops::tan, ops::asin, ops::acos, ops::atanh, ops::log1p>(t, -0.8, 0.8);
  unary<ops::acosh>(t, 1.5, 4);
  steps<ops::sign, ops::floor, ops::ceil, ops::trunc, ops::round>(t);

  binary<ops::add, ops::sub>(t, -2, 2, Scalar(2));
  binary<ops::mul>(t, -2, 2);
  binary<ops::div, ops::pow>(t, 0.5, 2);
  extrema<ops::maximum, ops::minimum>(t);
  unary<ops::add_scalar, ops::sub_scalar>(t, -2, 2, Scalar(2), Scalar(3));
  unary<ops::mul_scalar>(t, -2, 2, Scalar(3));
  unary<ops::div_scalar>(t, -2, 2, Scalar(4));
  unary<ops::pow_scalar>(t, 0.5, 2, Scalar(3));
  unary<ops::clamp_min>(t, -2, 2, Scalar(0));
  unary<ops::clamp_max>(t, -2, 2, Scalar(1));
  unary<ops::clamp>(t, -2, 2, std::optional<Scalar>(-1), std::optional<Scalar>(1));
  row<ops::clamp_tensor>(t)
      .with({real({3, 4}), real({3, 4}, -1.5, -0.5), real({4}, 0.5, 1.5)})
      .with({real({3, 4}), real({}, -1.5, -0.5), absent()})
      .with({real({3, 4}), absent(), real({3, 1}, 0.5, 1.5)})
      .with({real({0, 3}), real({3}), absent()});
  row<ops::where>(t)
      .with({mask({3, 4}), real({3, 4}), real({3, 4})})
      .with({mask({3, 1}), real({4}), real({})})
      .with({mask({}), real({}), flat({})})
      .with({mask({0, 3}), real({3}), real({})});

  // Gradients of the above.
  row<ops::relu_grad>(t)
      .with({real({3, 4}), flat({3, 4})})
      .with({real({}), flat({}, 0.5, 2)})
      .with({real({0, 3}), flat({0, 3})});
  row<ops::tanh_grad>(t)
      .with({real({3, 4}), real({3, 4})})
      .with({real({}), real({})})
      .with({real({0, 3}), real({0, 3})});
  row<ops::sigmoid_grad>(t)
      .with({real({3, 4}), real({3, 4})})
      .with({real({}), real({})})
      .with({real({0, 3}), real({0, 3})});
  row<ops::clamp_grad>(t)
      .with({real({3, 4}), flat({3, 4})}, std::optional<Scalar>(-1), std::optional<Scalar>(1))
      .with({real({}), flat({}, -2, 0)}, std::nullopt, std::optional<Scalar>(1));
}

void add_functions(Table& t) {
  unary<ops::sinc, ops::erfinv>(t, -0.9, 0.9);
  unary<ops::lgamma, ops::digamma, ops::special_entr>(t, 0.5, 3);
  unary<ops::polygamma>(t, 0.5, 3, 1);
  unary<ops::logit>(t, 0.1, 0.9, std::optional<double>(0.25));
  unary<ops::signbit>(t, -2, 2);
  // Away from the jumps, with divisors that are not 0 as integers either.
  const auto divided = [&](auto& row) {
    row.with({real({3, 4}, 3.2, 3.8), real({3, 4}, 1.2, 1.4)})
        .with({real({3, 1}, -3.8, -3.2), real({4}, 1.2, 1.4)})
        .with({real({}, 3.2, 3.8), real({3}, -1.4, -1.2)})
        .with({real({2}, 3.2, 3.8), real({}, 1.2, 1.4)})
        .with({real({0, 3}), real({3}, 1.2, 1.4)});
  };
  const auto whole = [&](auto& row) {
    row.with({flat({3, 4}, 3.2, 3.8), flat({3, 4}, 1.2, 1.4)})
        .with({flat({}, 3.2, 3.8), flat({3}, -1.4, -1.2)})
        .with({flat({0, 3}), flat({3}, 1.2, 1.4)});
  };
  Row<ops::remainder> remainder(t);
  divided(remainder);
  Row<ops::fmod> fmod(t);
  divided(fmod);
  Row<ops::floor_divide> floor_divide(t);
  whole(floor_divide);
  Row<ops::trunc_divide> trunc_divide(t);
  whole(trunc_divide);
  extrema<ops::fmax, ops::fmin>(t);
  row<ops::copysign>(t)
      .with({real({3, 4}), flat({3, 4})})
      .with({real({3, 1}), flat({4})})
      .with({real({}), flat({})})
      .with({real({0, 3}), flat({3})});
  binary<ops::atan2, ops::hypot, ops::xlogy>(t, 0.5, 2);
  binary<ops::logaddexp, ops::logaddexp2>(t, -2, 2);

  row<ops::lerp>(t)
      .with({real({3, 4}), real({3, 4}), real({3, 4}, 0, 1)})
      .with({real({3, 1}), real({4}), real({}, 0, 1)})
      .with({real({}), real({}), real({}, 0, 1)})
      .with({real({0, 3}), real({3}), real({}, 0, 1)});
  row<ops::lerp_scalar>(t)
      .with({real({3, 4}), real({3, 4})}, Scalar(0.25))
      .with({real({3, 4}), real({4})}, Scalar(0.75))
      .with({real({}), real({})}, Scalar(0.5))
      .with({real({0, 3}), real({3})}, Scalar(0.5));
  row<ops::addcmul>(t)
      .with({real({3, 4}), real({3, 4}), real({3, 4})}, Scalar(2))
      .with({real({3, 1}), real({4}), real({})}, Scalar(2))
      .with({real({}), real({}), real({})}, Scalar(1))
      .with({real({0, 3}), real({3}), real({})}, Scalar(1));
  row<ops::addcdiv>(t)
      .with({real({3, 4}), real({3, 4}), real({3, 4}, 0.5, 2)}, Scalar(2))
      .with({real({3, 1}), real({4}), real({}, 0.5, 2)}, Scalar(2))
      .with({real({}), real({}), real({}, 0.5, 2)}, Scalar(1))
      .with({real({0, 3}), real({3}), real({}, 0.5, 2)}, Scalar(1));

  row<ops::bitwise_not>(t).with({index({3, 4}, 100)}).with({index({}, 100)}).with({index({0, 3}, 100)});
  bits<ops::bitwise_and, ops::bitwise_or, ops::bitwise_xor, ops::bitwise_left_shift, ops::bitwise_right_shift>(t);
}

/// An activation's gradient as a function of grad and x, by which it is straight if the activation is made of pieces.
template <auto&... Op>
void smooth_gradients(Table& t, fn::ActivationShape shape = {}) {
  (row<Op>(t)
       .with({real({3, 4}), real({3, 4})}, shape)
       .with({real({}), real({})}, shape)
       .with({real({0, 3}), real({0, 3})}, shape),
   ...);
}
template <auto&... Op>
void straight_gradients(Table& t, fn::ActivationShape shape = {}) {
  (row<Op>(t)
       .with({real({3, 4}), flat({3, 4})}, shape)
       .with({real({}), flat({}, 0.3, 0.9)}, shape)
       .with({real({0, 3}), flat({0, 3})}, shape),
   ...);
}

void add_activations(Table& t) {
  using fn::ActivationShape;
  unary<ops::gelu, ops::gelu_tanh, ops::silu, ops::mish, ops::log_sigmoid, ops::hardswish, ops::hardsigmoid>(
      t, -2, 2, ActivationShape{});
  unary<ops::softplus>(t, -2, 2, ActivationShape{1.5, 2});
  unary<ops::hardtanh>(t, -2, 2, ActivationShape{-1, 1});
  unary<ops::hardshrink, ops::softshrink, ops::leaky_relu>(t, -2, 2, ActivationShape{0.25});
  unary<ops::threshold>(t, -2, 2, ActivationShape{0.1, -3});
  unary<ops::elu>(t, -2, 2, fn::Elu{1.5, 2, 0.5});

  smooth_gradients<ops::gelu_grad, ops::gelu_tanh_grad, ops::silu_grad, ops::mish_grad, ops::log_sigmoid_grad,
                   ops::hardswish_grad>(t);
  smooth_gradients<ops::softplus_grad>(t, {1.5, 2});
  straight_gradients<ops::hardsigmoid_grad>(t);
  straight_gradients<ops::hardtanh_grad>(t, {-1, 1});
  straight_gradients<ops::hardshrink_grad, ops::softshrink_grad, ops::leaky_relu_grad>(t, {0.25});
  straight_gradients<ops::threshold_grad>(t, {0.1, -3});
  const fn::Elu elu{1.5, 2, 0.5};
  row<ops::elu_grad>(t).with({real({3, 4}), real({3, 4})}, elu).with({real({}), real({})}, elu);
}

void add_masks(Table& t) {
  binary<ops::eq, ops::ne, ops::lt, ops::le, ops::gt, ops::ge, ops::logical_and, ops::logical_or, ops::logical_xor>(
      t, -2, 2);
  unary<ops::eq_scalar, ops::ne_scalar, ops::lt_scalar, ops::le_scalar, ops::gt_scalar, ops::ge_scalar>(t, -2, 2,
                                                                                                        Scalar(1));
  unary<ops::logical_not, ops::isnan, ops::isfinite, ops::isinf>(t, -2, 2);
}

void add_copies(Table& t) {
  row<ops::copy>(t)
      .with({flat({3, 4}), real({3, 4})})
      .with({flat({3, 4}), real({4})})
      .with({flat({}), real({})})
      .with({flat({0, 3}), real({3})});
  steps<ops::fill>(t, Scalar(2));
  steps<ops::zero>(t);
  row<ops::fill_tensor>(t).with({flat({3, 4}), real({})}).with({flat({}), real({})}).with({flat({0, 3}), real({})});
  unary<ops::clone, ops::contiguous>(t, -2, 2);
  // Through float32, whose rounding wants a longer step.
  row<ops::to>(t)
      .with({real({3, 4})}, Conversion{float64, cpu})
      .with({real({3, 4})}, Conversion{float32, cpu})
      .with({real({0, 3})}, Conversion{float32, cpu})
      .steps(1e-2, 1e-3)
      .only_cpu();
}

ops::Reduced over(std::initializer_list<int> dims, bool keepdim = false) {
  ops::Reduced r;
  for (const int d : dims) r.dims |= std::uint64_t(1) << d;
  if (keepdim) r.kept = r.dims;
  return r;
}
template <auto&... Op, class... Plain>
void reductions(Table& t, Plain... plain) {
  (row<Op>(t)
       .with({real({3, 4})}, over({1}), plain...)
       .with({real({3, 4})}, over({0}, true), plain...)
       .with({real({3, 2})}, over({0, 1}), plain...)
       .with({real({2, 3, 2})}, over({0, 2}), plain...)
       .with({real({0, 3})}, over({1}), plain...),
   ...);
}

void add_reductions(Table& t) {
  reductions<ops::sum, ops::mean, ops::max, ops::min, ops::amax, ops::amin, ops::logsumexp>(t);
  reductions<ops::argmax, ops::argmin, ops::all, ops::any, ops::count_nonzero>(t);
  reductions<ops::var, ops::std>(t, std::int64_t(1));
  row<ops::prod>(t)
      .with({real({3, 4})}, over({1}))
      .with({real({4, 2})}, over({0}, true))
      .with({real({2, 2})}, over({0, 1}))
      .with({real({})}, over({}))
      .with({real({0, 3})}, over({0}));
  row<ops::prod_of_others>(t)
      .with({real({3, 4})}, over({1}))
      .with({real({2, 2})}, over({0, 1}))
      .with({real({0, 3})}, over({1}))
      .with({flat({})}, over({}));
  row<ops::norm>(t)
      .with({real({3, 4})}, over({1}), 2.0)
      .with({real({3, 2})}, over({0, 1}), 1.0)
      .with({real({3, 4})}, over({0}, true), 3.0)
      .with({real({3, 4})}, over({1}), 1.5)
      .with({real({3, 4})}, over({1}), std::numeric_limits<double>::infinity())
      .with({real({})}, over({}), 2.0)
      .with({real({0, 3})}, over({0}), 2.0)
      .with({flat({3, 4})}, over({1}), 0.0);
  row<ops::max_dim>(t)
      .with({real({3, 4})}, over({1}))
      .with({real({3, 4})}, over({0}, true))
      .with({real({})}, over({}))
      .with({real({0, 3})}, over({1}));
  row<ops::min_dim>(t)
      .with({real({3, 4})}, over({1}))
      .with({real({3, 4})}, over({0}, true))
      .with({real({})}, over({}))
      .with({real({0, 3})}, over({1}));
  row<ops::place_along>(t).with({real({3, 1}), index({3, 1}, 4)}, 1, 4).with({real({0, 1}), index({0, 1}, 4)}, 1, 4);
  row<ops::take_along>(t).with({real({3, 4}), index({3, 1}, 4)}, 1).with({real({0, 4}), index({0, 1}, 4)}, 1);

  lines<ops::softmax, ops::log_softmax>(t);
  row<ops::softmax_backward>(t)
      .with({real({3, 4}), real({3, 4})}, 1)
      .with({real({2, 3, 2}), real({2, 3, 2})}, 1)
      .with({real({0, 3}), real({0, 3})}, 1);
  row<ops::log_softmax_backward>(t)
      .with({real({3, 4}), real({3, 4})}, 1)
      .with({real({2, 3, 2}), real({2, 3, 2})}, 1)
      .with({real({0, 3}), real({0, 3})}, 1);
}

void add_products(Table& t) {
  row<ops::matmul>(t)
      .with({real({3, 4}), real({4, 2})})
      .with({real({4}), real({4})})
      .with({real({4}), real({4, 2})})
      .with({real({3, 4}), real({4})})
      .with({real({2, 3, 4}), real({4, 2})})
      .with({real({2, 1, 2, 3}), real({2, 3, 2})})
      .with({real({0, 4}), real({4, 2})})
      .with({real({3, 0}), real({0, 2})});
  row<ops::linear>(t)
      .with({real({3, 4}), real({2, 4}), real({2})})
      .with({real({3, 4}), real({2, 4}), absent()})
      .with({real({4}), real({2, 4}), real({2})})
      .with({real({2, 2, 3}), real({2, 3}), real({2})})
      .with({real({0, 4}), real({2, 4}), real({2})});
}

void add_linalg(Table& t) {
  row<ops::inverse>(t)
      .with({real({3, 3})})
      .with({real({2, 1, 2, 2})})
      .with({real({0, 2, 2})})
      .with({real({0, 0})})
      .regular();
  row<ops::solve>(t)
      .with({real({3, 3}), real({3, 2})})
      .with({real({2, 2, 2}), real({2, 2, 3})})
      .with({real({2, 2}), real({2, 0})})
      .regular();
  row<ops::solve_triangular>(t)
      .with({real({3, 3}, 1, 2), real({3, 2})}, true, false)
      .with({real({2, 2, 2}, 1, 2), real({2, 2, 3})}, false, false)
      .with({real({3, 3}), real({3, 2})}, true, true)
      .with({real({3, 3}), real({3, 2})}, false, true);
  row<ops::cholesky>(t).with({real({3, 3}, -1, 1)}).with({real({2, 2, 2}, -1, 1)}).with({real({0, 0})}).regular(true);
  row<ops::det>(t).with({real({3, 3})}).with({real({2, 1, 2, 2})}).with({real({1, 1})}).with({real({0, 0})}).regular();
  row<ops::cofactor>(t).with({real({3, 3})}).with({real({2, 2, 2})}).with({real({0, 2, 2})}).regular();
  row<ops::slogdet>(t).with({real({3, 3})}).with({real({2, 2, 2})}).with({real({0, 2, 2})}).regular();
  row<ops::eigh>(t).with({real({3, 3}, -1, 1)}).with({real({2, 2, 2}, -1, 1)}).with({real({0, 0})}).regular(true);
  row<ops::qr>(t)
      .with({real({4, 3})}, false)
      .with({real({2, 3, 4})}, false)
      .with({real({3, 3})}, true)
      .with({real({0, 3, 2})}, false)
      .regular();
  row<ops::svd>(t)
      .with({real({4, 3})}, false)
      .with({real({2, 2, 3})}, false)
      .with({real({3, 3})}, true)
      .with({real({0, 3, 2})}, false)
      .regular();
}

void add_losses(Table& t) {
  using taper::Reduction;
  const ops::ClassLoss mean{.classes = 3}, sum{.classes = 3, .reduction = Reduction::sum};
  const ops::ClassLoss each{.classes = 3, .ignore_index = 1, .reduction = Reduction::none, .label_smoothing = 0.1};
  row<ops::cross_entropy>(t)
      .with({real({4, 3}), index({4}, 3), absent()}, mean)
      .with({real({4, 3}), index({4}, 3), constant({3}, 0.5, 2)}, sum)
      .with({real({2, 3, 2}), index({2, 2}, 3), constant({3}, 0.5, 2)}, each)
      .with({real({3}), index({}, 3), absent()}, mean)
      .with({real({0, 3}), index({0}, 3), absent()}, sum)
      .results(1);
  row<ops::nll_loss>(t)
      .with({real({4, 3}), index({4}, 3), absent()}, mean)
      .with({real({4, 3}), index({4}, 3), constant({3}, 0.5, 2)}, sum)
      .with({real({2, 3, 2}), index({2, 2}, 3), constant({3}, 0.5, 2)}, each)
      .with({real({3}), index({}, 3), absent()}, mean)
      .with({real({0, 3}), index({0}, 3), absent()}, sum);
  row<ops::cross_entropy_backward>(t)
      .with({real({}), real({4, 3}), index({4}, 3), absent(), made({2, 4})}, mean)
      .with({real({2, 2}), real({2, 3, 2}), index({2, 2}, 3), real({3}, 0.5, 2), made({2, 2, 2})}, each);
  row<ops::nll_loss_backward>(t)
      .with({real({}), index({4}, 3), absent()}, mean)
      .with({real({2, 2}), index({2, 2}, 3), made({3}, 0.5, 2)}, each)
      .with({real({}), index({0}, 3), absent()}, sum);
  row<ops::binary_cross_entropy>(t)
      .with({real({3, 4}, 0.1, 0.9), real({3, 4}, 0, 1)})
      .with({real({}, 0.1, 0.9), real({}, 0, 1)})
      .with({real({0, 3}), real({0, 3})});
  row<ops::binary_cross_entropy_grad>(t)
      .with({real({3, 4}), real({3, 4}, 0.1, 0.9), real({3, 4}, 0, 1)})
      .with({real({}), real({}, 0.1, 0.9), real({}, 0, 1)})
      .with({real({0, 3}), real({0, 3}), real({0, 3})});
  row<ops::mse_loss>(t)
      .with({real({3, 4}), real({3, 4})}, Reduction::mean)
      .with({real({3, 4}), real({3, 4})}, Reduction::sum)
      .with({real({}), real({})}, Reduction::mean)
      .with({real({0, 3}), real({0, 3})}, Reduction::sum);
}

void add_images(Table& t) {
  const Conv2dWindow plain{}, wide{.stride = 2, .padding = 1, .dilation = 1}, grouped{.groups = 2};
  row<ops::conv2d>(t)
      .with({real({1, 2, 3, 3}), real({2, 2, 2, 2}), real({2})}, plain)
      .with({real({2, 1, 4, 4}), real({2, 1, 3, 3}), absent()}, wide)
      .with({real({1, 2, 3, 3}), real({2, 1, 2, 2}), real({2})}, grouped)
      .with({real({0, 2, 3, 3}), real({2, 2, 2, 2}), real({2})}, plain);
  row<ops::conv2d_input_grad>(t)
      .with({real({1, 2, 2, 2}), real({2, 2, 2, 2})}, IntPair(3), plain)
      .with({real({1, 2, 2, 2}), real({2, 1, 3, 3})}, IntPair(4), wide)
      .with({real({1, 2, 2, 2}), real({2, 1, 2, 2})}, IntPair(3), grouped);
  row<ops::conv2d_weight_grad>(t)
      .with({real({1, 2, 2, 2}), real({1, 2, 3, 3})}, IntPair(2), true, plain)
      .with({real({1, 2, 2, 2}), real({1, 1, 4, 4})}, IntPair(3), false, wide)
      .with({real({1, 2, 2, 2}), real({1, 2, 3, 3})}, IntPair(2), true, grouped);

  const Pool2dWindow halves{.kernel = 2, .stride = 2}, overlapping{.kernel = 3, .stride = 1, .padding = 1};
  row<ops::max_pool2d>(t)
      .with({real({1, 2, 4, 4})}, halves, true)
      .with({real({2, 1, 3, 3})}, overlapping, false)
      .with({real({0, 2, 4, 4})}, halves, true);
  const Pool2dWindow whole{.kernel = 4, .stride = 4}, sliding{.kernel = 3, .stride = 1};
  row<ops::max_pool2d_backward>(t)
      .with({real({1, 2, 1, 1}), index({1, 2, 1, 1}, 16)}, Pool2dImage{4}, whole)
      .with({real({1, 2, 2, 2}), bytes({1, 2, 2, 2}, 4)}, Pool2dImage{4}, halves)
      .with({real({2, 1, 2, 2}), bytes({2, 1, 2, 2}, 9)}, Pool2dImage{4}, sliding);
  row<ops::max_pool2d_at>(t)
      .with({real({1, 2, 4, 4}), index({1, 2, 1, 1}, 16)}, whole)
      .with({real({1, 2, 4, 4}), bytes({1, 2, 2, 2}, 4)}, halves)
      .with({real({2, 1, 4, 4}), bytes({2, 1, 2, 2}, 9)}, sliding);
  const AvgPool2dDivision all{}, inside{.count_include_pad = false}, fixed{.divisor_override = 3};
  row<ops::avg_pool2d>(t)
      .with({real({1, 2, 4, 4})}, halves, all)
      .with({real({2, 1, 3, 3})}, overlapping, inside)
      .with({real({2, 1, 3, 3})}, overlapping, fixed)
      .with({real({0, 2, 4, 4})}, halves, all);
  row<ops::avg_pool2d_backward>(t)
      .with({real({1, 2, 2, 2})}, Pool2dImage{4}, halves, all)
      .with({real({2, 1, 3, 3})}, Pool2dImage{3}, overlapping, inside);

  const BatchNormOptions training{.training = true, .momentum = 0.1, .eps = 1e-2}, use{.eps = 1e-2};
  row<ops::batch_norm>(t)
      .with({real({4, 3}), real({3}), real({3}), absent(), absent()}, training)
      .with({real({2, 2, 3}), real({2}), real({2}), state({2}), state({2}, 0.5, 2)}, training)
      .with({real({2, 2, 3}), absent(), absent(), absent(), absent()}, training)
      .with({real({2, 3}), real({3}), real({3}), constant({3}), constant({3}, 0.5, 2)}, use)
      .with({real({0, 3}), real({3}), real({3}), constant({3}), constant({3}, 0.5, 2)}, use)
      .results(1);
  row<ops::batch_norm_backward>(t).with({real({4, 3}), real({4, 3}), real({3}), made({3}), made({3}, 0.5, 2)}, training,
                                        std::array<bool, 3>{true, true, true});
  const LayerNormOptions last{.dims = 1, .eps = 1e-2}, last_two{.dims = 2, .eps = 1e-2},
      uncentered{.dims = 1, .eps = 1e-2, .centered = false};
  row<ops::layer_norm>(t)
      .with({real({3, 4}), real({4}), real({4})}, last)
      .with({real({2, 3, 2}), real({3, 2}), absent()}, last_two)
      .with({real({4}), absent(), real({4})}, last)
      .with({real({2, 3}), absent(), absent()}, last)
      .with({real({2, 3}), real({3}), absent()}, uncentered)
      .with({real({0, 3}), real({3}), real({3})}, last)
      .results(1);
  row<ops::layer_norm_backward>(t).with({real({3, 4}), real({3, 4}), real({4}), made({3}), made({3}, 0.5, 2)}, last,
                                        std::array<bool, 3>{true, true, true});
  const auto resampling = [](std::int64_t dim, std::vector<std::vector<double>> matrix) {
    ResampleTaps taps{.in = std::int64_t(matrix[0].size())};
    for (const std::vector<double>& entry : matrix) {
      for (std::size_t i = 0; i < entry.size(); ++i)
        if (entry[i] != 0) taps.add(std::int64_t(i), entry[i]);
      taps.end_entry();
    }
    return Resampling{dim, std::make_shared<const ResampleTaps>(std::move(taps)), {}};
  };
  row<ops::resample>(t)
      .with({real({2, 3})}, resampling(1, {{0.5, 0.5, 0}, {0, 0.25, 0.75}, {1, 2, 0}, {2, 0, 1}}))
      .with({real({2, 3, 2})}, resampling(1, {{0, 1, 0}, {0, 0, 0}, {1, 2, 3}, {0.5, 0, 0.5}}))
      .with({real({3})}, resampling(0, {{1, 2, 3}}))
      .with({real({0, 2})}, resampling(1, {{1, 1}}));
  row<ops::normalize_images>(t)
      .with({bytes({2, 3, 2})}, ImageScale{{0.5}, {0.25}})
      .with({bytes({2, 2, 3})}, ImageScale{{0.5, 0.25}, {0.25, 1}});
}

void add_indexing(Table& t) {
  row<ops::index>(t)
      .with({real({4, 3}), index({2}, 4)}, IntVec{0})
      .with({real({4, 3}), index({2, 2}, 3)}, IntVec{1})
      .with({real({3, 4}), index({2}, 3), index({2, 1}, 4)}, IntVec{0, 1})
      .with({real({2, 2, 3}), index({2}, 2), index({2}, 3)}, IntVec{0, 2})
      .with({real({4, 3}), index({0}, 4)}, IntVec{0})
      .with({real({4, 3}), index({}, 4)}, IntVec{0});
  row<ops::index_put>(t)
      .with({real({4, 3}), index({2}, 4), real({2, 3})}, IntVec{0}, false)
      .with({real({5, 3}), index({6}, 3), real({6, 3})}, IntVec{0}, false)
      .with({real({4, 3}), index({6}, 4), real({3})}, IntVec{0}, true)
      .with({real({2, 2, 3}), index({2}, 2), index({2}, 3), real({})}, IntVec{0, 2}, true)
      .with({real({4, 3}), index({0}, 4), real({0, 3})}, IntVec{0}, false);
  row<ops::gather>(t)
      .with({real({4, 3}), index({2, 3}, 4)}, 0)
      .with({real({4, 3}), index({4, 5}, 3)}, 1)
      .with({real({}), index({}, 1)}, 0)
      .with({real({4, 3}), index({0, 3}, 4)}, 0);
  row<ops::scatter>(t)
      .with({real({4, 3}), index({2, 3}, 4), real({3, 3})}, 0)
      .with({real({4, 4}), index({4, 5}, 3), real({4, 5})}, 1)
      .with({flat({}), index({}, 1), real({})}, 0)
      .with({real({4, 3}), index({0, 3}, 4), flat({2, 3})}, 0);
  row<ops::scatter_add>(t)
      .with({real({4, 3}), index({2, 3}, 4), real({3, 3})}, 0)
      .with({real({4, 3}), index({4, 5}, 3), real({4, 5})}, 1)
      .with({real({}), index({}, 1), real({})}, 0)
      .with({real({4, 3}), index({0, 3}, 4), flat({2, 3})}, 0);
  row<ops::masked_fill>(t)
      .with({real({3, 4}), mask({3, 4}), real({})})
      .with({real({3, 4}), mask({4}), real({})})
      .with({real({4}), mask({2, 4}), real({})})
      .with({real({0, 3}), mask({3}), flat({})});
  row<ops::nonzero>(t).with({real({3, 4}, 0.5, 2)}, 12).with({real({0, 4})}, 0).with({real({}, 0.5, 2)}, 1);
  row<ops::flip>(t)
      .with({real({3, 4})}, IntVec{0, 1})
      .with({real({2, 3, 2})}, IntVec{1})
      .with({real({0, 3})}, IntVec{1});
  row<ops::cat>(t)
      .with({real({2, 3}), real({1, 3})}, 0)
      .with({real({2, 3}), real({2, 1}), real({2, 2})}, 1)
      .with({real({2, 3}), real({0})}, 0)
      .with({real({0, 3}), real({0, 3})}, 0);
  row<ops::stack>(t)
      .with({real({2, 3}), real({2, 3})}, 0)
      .with({real({2}), real({2}), real({2})}, 1)
      .with({real({}), real({})}, 0)
      .with({real({0, 3}), real({0, 3})}, 1);
}

template <auto&... Op, class... Plain>
void along(Table& t, Plain... plain) {
  (row<Op>(t)
       .with({real({3, 4})}, 1, plain...)
       .with({real({3, 4})}, 0, plain...)
       .with({real({2, 3, 2})}, -2, plain...)
       .with({real({})}, 0, plain...)
       .with({real({0, 3})}, 1, plain...),
   ...);
}

/// Not along the first dim, where expanded operands are equal and small steps change the order.
template <auto&... Op, class... Plain>
void choices(Table& t, Plain... plain) {
  (row<Op>(t)
       .with({real({3, 4})}, 1, plain...)
       .with({real({2, 3, 2})}, -2, plain...)
       .with({real({})}, 0, plain...)
       .with({real({0, 3})}, 1, plain...),
   ...);
}

void add_order(Table& t) {
  along<ops::cumsum, ops::cumprod, ops::logcumsumexp, ops::cummax, ops::cummin>(t);
  row<ops::recurrence>(t)
      .with({real({3, 4}), real({3, 4})}, 1)
      .with({real({3, 4}), real({3, 4})}, 0)
      .with({real({2, 3, 2}), real({2, 3, 2})}, -2)
      .with({real({}), flat({})}, 0)
      .with({real({0, 3}), real({0, 3})}, 1);
  choices<ops::sort>(t, false);
  choices<ops::topk>(t, 1, true);
  choices<ops::kthvalue>(t, 1);
  choices<ops::median>(t);
  row<ops::searchsorted>(t)
      .with({real({5}), real({3, 4})}, false, true)
      .with({real({3, 5}), real({3, 2})}, true, false)
      .with({real({5}), real({})}, false, false)
      .with({real({5}), real({0, 3})}, false, false);
  row<ops::tril>(t).with({real({3, 4})}, 0).with({real({2, 3, 3})}, -1).with({real({0, 3})}, 1);
  row<ops::triu>(t).with({real({3, 4})}, 0).with({real({2, 3, 3})}, -1).with({real({0, 3})}, 1);

  row<ops::embedding>(t)
      .with({real({4, 3}), index({2, 3}, 4)}, std::nullopt, false)
      .with({real({4, 3}), index({6}, 3)}, std::optional<std::int64_t>(-1), false)
      .with({real({4, 3}), index({}, 4)}, std::nullopt, false)
      .with({real({4, 3}), index({0}, 4)}, std::nullopt, false);
  Row<ops::scatter_reduce> scatter_reduce(t);
  for (const bool include_self : {true, false}) {
    for (const ScatterKind kind :
         {ScatterKind::sum, ScatterKind::prod, ScatterKind::mean, ScatterKind::amax, ScatterKind::amin})
      scatter_reduce.with({real({4, 3}), index({3, 3}, 3), real({3, 4})}, 0, kind, include_self);
    scatter_reduce.with({real({4, 3}), index({0, 3}, 4), flat({2, 3})}, 0, ScatterKind::amax, include_self);
  }
}

void add_views(Table& t) {
  row<ops::transpose>(t).with({real({3, 4})}, 0, 1).with({real({2, 3, 2})}, 0, 2).with({real({0, 3})}, 0, 1);
  row<ops::permute>(t)
      .with({real({2, 3, 2})}, IntVec{2, 0, 1})
      .with({real({})}, IntVec{})
      .with({real({0, 3})}, IntVec{1, 0});
  row<ops::view>(t)
      .with({real({3, 4})}, IntVec{3, 2, 2})
      .with({real({})}, IntVec{1, 1})
      .with({real({0, 3})}, IntVec{0, 1, 3});
  row<ops::reshape_copy>(t)
      .with({real({3, 4})}, IntVec{2, 6})
      .with({real({})}, IntVec{1, 1})
      .with({real({0, 3})}, IntVec{3, 0});
  row<ops::squeeze>(t)
      .with({real({3, 1, 4})}, std::nullopt)
      .with({real({3, 1, 4})}, 1)
      .with({real({})}, std::nullopt)
      .with({real({0, 1})}, 1);
  row<ops::unsqueeze>(t).with({real({3, 4})}, 1).with({real({})}, 0).with({real({0, 3})}, 2);
  row<ops::expand>(t)
      .with({real({3, 1})}, IntVec{2, 3, 4})
      .with({real({})}, IntVec{2, 2})
      .with({real({0, 1})}, IntVec{0, 3});
  row<ops::select>(t).with({real({3, 4})}, 0, 1).with({real({3, 4})}, 1, 3).with({real({0, 4})}, 1, 2);
  row<ops::slice>(t)
      .with({real({3, 4})}, 1, 1, 2, 2)
      .with({real({5, 2})}, 0, 0, 2, 3)
      .with({real({3, 4})}, 0, 1, 0, 1)
      .with({real({0, 4})}, 1, 0, 2, 1);
  row<ops::unfold>(t).with({real({2, 5})}, 1, 3, 1).with({real({5})}, 0, 2, 3).with({real({0, 5})}, 1, 2, 2);
  row<ops::diagonal>(t)
      .with({real({3, 4})}, 0, 0, 1)
      .with({real({3, 4})}, 1, 0, 1)
      .with({real({2, 3, 3})}, -1, 1, 2)
      .with({real({0, 3})}, 0, 0, 1);
  row<ops::as_strided>(t)
      .with({real({3, 4})}, IntVec{2, 3}, IntVec{1, 2}, std::nullopt)
      .with({real({3, 4})}, IntVec{2, 2, 2}, IntVec{4, 1, 0}, 1)
      .with({real({3, 4})}, IntVec{0, 2}, IntVec{1, 1}, std::nullopt)
      .one_layout();
  row<ops::split_with_sizes>(t)
      .with({real({3, 4})}, IntVec{1, 3}, 1)
      .with({real({3, 2})}, IntVec{2, 0, 1}, 0)
      .with({real({0, 3})}, IntVec{1, 2}, 1);
  row<ops::unbind>(t).with({real({3, 4})}, 0).with({real({3, 2})}, 1).with({real({3, 0})}, 0);

  const TensorSpec base = TensorSpec::contiguous({3, 4}, float64, cpu);
  const ViewPlacement columns{base, SizesAndStrides({3, 2}, {4, 2}), 1};
  const ViewPlacement repeated{base, SizesAndStrides({2, 3}, {0, 5}), 0};
  row<ops::place_view>(t).with({real({3, 2})}, columns).with({real({2, 3})}, repeated);
  row<ops::read_view>(t).with({real({3, 4})}, columns).with({real({3, 4})}, repeated);
}

void add_random(Table& t) {
  const RandomStream stream{.seed = 7, .stream = 5};
  steps<ops::uniform>(t, -1.0, 1.0, stream);
  steps<ops::normal>(t, 0.0, 1.0, stream);
  steps<ops::bernoulli_fill, ops::exponential>(t, 0.5, stream);
  steps<ops::random>(t, std::int64_t(0), std::int64_t(2), stream);
  row<ops::bernoulli>(t)
      .with({flat({3, 4}, 0, 1)}, stream)
      .with({flat({}, 0, 1)}, stream)
      .with({flat({0, 3}, 0, 1)}, stream);
  row<ops::permutation>(t).with({index({5}, 5)}, stream).with({index({0}, 5)}, stream);
  unary<ops::dropout>(t, -2, 2, 0.5, stream);
}

void add_steps_of_optimizers(Table& t) {
  row<ops::sgd_step>(t)
      .with({real({3, 4}), real({3, 4}), absent()}, SgdStep{.lr = 0.1})
      .with({real({3, 4}), real({3, 4}), state({3, 4})}, SgdStep{.lr = 0.1, .momentum = 0.9});
  row<ops::adam_step>(t).with({real({3, 4}), real({3, 4}), state({3, 4}), state({3, 4}, 0.1, 1), absent()},
                              AdamStep{.lr = 0.1, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8});
}

}  // namespace

TensorList with_regular_first(TensorList in, bool symmetric) {
  Tensor& x = in[0];
  const TensorOptions like{.dtype = x.dtype(), .device = x.device()};
  const Tensor diagonal = eye(x.size(-2), x.size(-1), like) * arange(5, 5 + x.size(-1), 1, like);
  x = symmetric ? x + mT(x) + diagonal : x + diagonal;
  return in;
}

const std::vector<OpSamples>& all() {
  static const Table table = [] {
    Table t;
    add_pointwise(t);
    add_activations(t);
    add_masks(t);
    add_copies(t);
    add_reductions(t);
    add_products(t);
    add_linalg(t);
    add_losses(t);
    add_images(t);
    add_indexing(t);
    add_order(t);
    add_functions(t);
    add_views(t);
    add_random(t);
    add_steps_of_optimizers(t);
    return t;
  }();
  return table;
}

}  // namespace samples
