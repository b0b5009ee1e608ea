#pragma once
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

/// The dtype and device a conversion ends in.
struct Conversion {
  using plain_argument = void;
  DType dtype = float32;
  Device device = cpu;
};

namespace ops {
extern StructuredOp<Tensor(Tensor, Tensor)> copy;
extern StructuredOp<Tensor(Tensor, Scalar)> fill;
extern StructuredOp<Tensor(Tensor, Tensor)> fill_tensor;
extern StructuredOp<Tensor(Tensor)> zero;
extern StructuredOp<Tensor(Tensor)> clone;
extern StructuredOp<Tensor(Tensor)> contiguous;
extern StructuredOp<Tensor(Tensor, Conversion)> to;
}  // namespace ops

/// New memory with self's values; dense, and in self's order of dimensions. Differentiable.
Tensor clone(const Tensor& self);
/// self if it is row-major and without gaps, else a copy that is. Differentiable.
Tensor contiguous(const Tensor& self);

// Methods of Tensor:
//   copy_(src)   overwrites self with src, broadcast to self's shape and converted to its dtype, also from floating to
//                integer. Differentiable in src.
//   fill_(value) overwrites self with a number or a 0-dim tensor. Differentiable in the tensor.
//   zero_()      overwrites self with zeros.
//   to(...)      self if it has that dtype and device already and `copy` is not set, else a converted copy.
//                Differentiable from floating to floating.

}  // namespace taper
