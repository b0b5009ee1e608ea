#pragma once
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

/// exp(x) / sum(exp(x)) along `dim`, computed without overflow; with `dtype`, x is converted to it first.
///
/// x of any shape, floating. The result is contiguous new memory. A line whose elements are all -infinity, or with a
/// NaN or +infinity among them, becomes NaN; other lines are not touched by it. Differentiable.
/// Throws IndexError if there is no such dimension.
Tensor softmax(const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});
Tensor& softmax_out(Tensor& out, const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});
/// log(softmax(x, dim)), without the loss of digits of taking the two steps.
Tensor log_softmax(const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});
Tensor& log_softmax_out(Tensor& out, const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});

namespace ops {
// `dim` is not negative here.
extern StructuredOp<Tensor(Tensor, std::int64_t)> softmax, log_softmax;
/// The gradient of x from that of the result, and the result.
extern StructuredOp<Tensor(Tensor, Tensor, std::int64_t)> softmax_backward, log_softmax_backward;
}  // namespace ops

}  // namespace taper
