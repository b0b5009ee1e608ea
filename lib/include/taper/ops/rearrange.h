#pragma once
// The elements of a tensor in other places or several times, in new memory. Differentiable.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

/// self side by side with itself, repeats[i] times along dim i; dims in front are added as needed. Always new memory,
/// where expand() shows the same elements again. Throws ShapeError if repeats has fewer entries than self has dims.
Tensor repeat(const Tensor& self, IntSpan repeats);
/// As repeat, but a shorter list is for the last dims.
Tensor tile(const Tensor& self, IntSpan repeats);
/// The entries of these dims in reverse. A copy: strides are never negative.
Tensor flip(const Tensor& self, IntSpan dims);
Tensor fliplr(const Tensor& self);
Tensor flipud(const Tensor& self);
/// Moves every entry by shifts[i] places along dims[i]; what falls off the end comes in at the front. Without dims, of
/// the elements in reading order: roll(x, 1).
Tensor roll(const Tensor& self, IntSpan shifts, IntSpan dims = {});

namespace ops {
extern StructuredOp<Tensor(Tensor, IntSpan)> flip;
}  // namespace ops

}  // namespace taper
