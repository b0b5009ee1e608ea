#pragma once
// Elementwise functions of three tensors that broadcast: a value between two, a sum with a product or a quotient.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

/// self + weight * (end - self), exact at weight 0 and 1. All of one floating dtype. Differentiable in all three.
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight);
Tensor lerp(const Tensor& self, const Tensor& end, Scalar weight);
Tensor& lerp_out(Tensor& out, const Tensor& self, const Tensor& end, const Tensor& weight);
Tensor& lerp_out(Tensor& out, const Tensor& self, const Tensor& end, Scalar weight);
/// self + value * tensor1 * tensor2. Any number dtype; value must be an integer if the result is one.
Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1);
Tensor& addcmul_out(Tensor& out, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1);
/// self + value * tensor1 / tensor2. Throws DTypeError where tensor1 and tensor2 are both integers: convert one of
/// them.
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1);
Tensor& addcdiv_out(Tensor& out, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1);

namespace ops {
extern StructuredOp<Tensor(Tensor, Tensor, Tensor)> lerp;
extern StructuredOp<Tensor(Tensor, Tensor, Scalar)> lerp_scalar;
extern StructuredOp<Tensor(Tensor, Tensor, Tensor, Scalar)> addcmul, addcdiv;
}  // namespace ops

}  // namespace taper
