#pragma once
#include <taper/ops/declare.h>
#include <taper/random.h>

namespace taper {

/// x with elements set to 0 with probability p, independently, and the others multiplied by 1 / (1 - p), so that the
/// mean stays. Returns x itself unless `training`.
///
/// x is floating. The mask is not stored: it follows from the stream the call took, and backward makes it anew.
/// Throws ValueError if p is outside [0, 1].
/// Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov 2014, "Dropout: A Simple Way to Prevent Neural Networks
/// from Overfitting".
Tensor dropout(const Tensor& x, double p = 0.5, bool training = true, Generator& generator = default_generator());
Tensor& dropout_(Tensor& x, double p = 0.5, bool training = true, Generator& generator = default_generator());
/// As dropout, with whole channels set to 0 together: x [n, c, ...], or [c, ...] of one sample, where `...` is one, two
/// or three dimensions.
Tensor dropout1d(const Tensor& x, double p = 0.5, bool training = true, Generator& generator = default_generator());
Tensor dropout2d(const Tensor& x, double p = 0.5, bool training = true, Generator& generator = default_generator());
Tensor dropout3d(const Tensor& x, double p = 0.5, bool training = true, Generator& generator = default_generator());

/// As dropout, but what is dropped becomes the value that scaled exponential linear units tend to, and the result is
/// scaled and shifted so that mean 0 and variance 1 stay. Klambauer, Unterthiner, Mayr, Hochreiter 2017,
/// "Self-Normalizing Neural Networks", section 3.
Tensor alpha_dropout(const Tensor& x, double p = 0.5, bool training = true, Generator& generator = default_generator());
Tensor& alpha_dropout_(Tensor& x, double p = 0.5, bool training = true, Generator& generator = default_generator());

namespace ops {
extern StructuredOp<Tensor(Tensor, double, RandomStream)> dropout;
}

}  // namespace taper
