#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/dropout.h>
#include <taper/ops/pointwise.h>

#include <cmath>

#include "elementwise.h"

namespace taper {
namespace {

void check_arguments(const char* op, const Tensor& x, double p) {
  check<ValueError>(p >= 0 && p <= 1, op, ": p is the probability of setting an element to 0, from 0 to 1, got ", p);
  check<DTypeError>(is_floating(x.dtype()), op, ": needs a floating dtype, got ", x.spec(),
                    "; convert with x.to(taper::float32) first");
}

TensorSpec infer_dropout(const Tensor& x, const double& p, const RandomStream&) {
  check_arguments("dropout", x, p);
  return elementwise_spec("dropout", x.dtype(), x);
}

/// Drops whole channels of an x of n + 2 dimensions, or of n + 1 for one sample.
Tensor dropout_channels(const char* op, int n, const Tensor& x, double p, bool training, Generator& generator) {
  check_arguments(op, x, p);
  check<ShapeError>(x.dim() == n + 1 || x.dim() == n + 2, op, ": needs x [n, c, ", n, n == 1 ? " dim" : " dims",
                    " more], or without n for one sample, got ", x.spec(), "; dropout() takes any shape");
  if (!training) return x;
  IntVec sizes = x.sizes().vec();
  for (std::size_t d = sizes.size() - std::size_t(n); d < sizes.size(); ++d) sizes[d] = 1;
  return x * dropout(ones(sizes, x.options()), p, true, generator);
}

struct AlphaDropout {
  static constexpr double lowest = -1.7580993408473766;  // -scale * alpha of selu
  const double p, scale = 1 / std::sqrt((1 - p) * (1 + p * lowest * lowest)), shift = -scale * lowest * p;

  explicit AlphaDropout(double probability) : p(probability) {}
  Tensor dropped(const Tensor& x, Generator& generator) const {
    return dropout(ones(x.sizes(), x.options()), p, true, generator).eq(0);
  }
};

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor, double, RandomStream)> dropout{"dropout", "x, p, stream", infer_dropout,
                                                                     "dropout_"};
}  // namespace ops

Tensor dropout(const Tensor& x, double p, bool training, Generator& generator) {
  if (training) return ops::dropout(x, p, generator.next());
  check_arguments("dropout", x, p);
  return x;
}

Tensor& dropout_(Tensor& x, double p, bool training, Generator& generator) {
  if (training) return ops::dropout.inplace(x, x, p, generator.next());
  check_arguments("dropout_", x, p);
  return x;
}

Tensor alpha_dropout(const Tensor& x, double p, bool training, Generator& generator) {
  check_arguments("alpha_dropout", x, p);
  if (!training || p == 0) return x;
  if (p == 1) return x.mul(0);
  const AlphaDropout d(p);
  return x.masked_fill(d.dropped(x, generator), d.lowest).mul(d.scale).add(d.shift);
}
Tensor& alpha_dropout_(Tensor& x, double p, bool training, Generator& generator) {
  check_arguments("alpha_dropout_", x, p);
  if (!training || p == 0) return x;
  if (p == 1) return x.mul_(0);
  const AlphaDropout d(p);
  return x.masked_fill_(d.dropped(x, generator), d.lowest).mul_(d.scale).add_(d.shift);
}

Tensor dropout1d(const Tensor& x, double p, bool training, Generator& generator) {
  return dropout_channels("dropout1d", 1, x, p, training, generator);
}
Tensor dropout2d(const Tensor& x, double p, bool training, Generator& generator) {
  return dropout_channels("dropout2d", 2, x, p, training, generator);
}
Tensor dropout3d(const Tensor& x, double p, bool training, Generator& generator) {
  return dropout_channels("dropout3d", 3, x, p, training, generator);
}

}  // namespace taper
