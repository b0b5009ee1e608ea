#include <taper/operator.h>
#include <taper/ops/blend.h>
#include <taper/promotion.h>

#include "elementwise.h"

namespace taper {
namespace {

void check_lerp(const Tensor& self, const char* name, const Tensor& other) {
  check<DTypeError>(other.dtype() == self.dtype(), "lerp: self is ", self.dtype(), " but ", name, " is ", other.dtype(),
                    "; convert one of them with to()");
}
void check_floating(const Tensor& self) {
  check<DTypeError>(self.is_floating_point(), "lerp: needs a floating dtype, got ", self,
                    "; convert with x.to(taper::float32) first");
}
TensorSpec infer_lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  check_floating(self);
  check_lerp(self, "end", end);
  check_lerp(self, "weight", weight);
  return elementwise_spec("lerp", self.dtype(), self, end, weight);
}
TensorSpec infer_lerp_scalar(const Tensor& self, const Tensor& end, const Scalar&) {
  check_floating(self);
  check_lerp(self, "end", end);
  return elementwise_spec("lerp", self.dtype(), self, end);
}

DType type_of(const Tensor& self, const Tensor& a, const Tensor& b) { return result_type({self, a, b}); }

TensorSpec infer_addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  const DType d = type_of(self, tensor1, tensor2);
  check<DTypeError>(d != bool_, "addcmul: is not defined for bool; convert with x.to(taper::int64) first");
  check<DTypeError>(!value.is_floating() || is_floating(d), "addcmul: value is ", value, " but the result is ", d,
                    "; an integer result needs an integer value");
  return elementwise_spec("addcmul", d, self, tensor1, tensor2);
}
TensorSpec infer_addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar&) {
  check<DTypeError>(tensor1.is_floating_point() || tensor2.is_floating_point(), "addcdiv: tensor1 is ", tensor1.dtype(),
                    " and tensor2 is ", tensor2.dtype(),
                    ", whose quotient is no integer; convert one of them with x.to(taper::float32)");
  return elementwise_spec("addcdiv", type_of(self, tensor1, tensor2), self, tensor1, tensor2);
}

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor, Tensor, Tensor)> lerp{"lerp", "self, end, weight", infer_lerp, "lerp_"};
constinit StructuredOp<Tensor(Tensor, Tensor, Scalar)> lerp_scalar{"lerp", "self, end, weight", infer_lerp_scalar,
                                                                   "lerp_"};
constinit StructuredOp<Tensor(Tensor, Tensor, Tensor, Scalar)> addcmul{"addcmul", "self, tensor1, tensor2, value",
                                                                       infer_addcmul, "addcmul_"};
constinit StructuredOp<Tensor(Tensor, Tensor, Tensor, Scalar)> addcdiv{"addcdiv", "self, tensor1, tensor2, value",
                                                                       infer_addcdiv, "addcdiv_"};
}  // namespace ops

Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) { return ops::lerp(self, end, weight); }
Tensor lerp(const Tensor& self, const Tensor& end, Scalar weight) { return ops::lerp_scalar(self, end, weight); }
Tensor& lerp_out(Tensor& out, const Tensor& self, const Tensor& end, const Tensor& weight) {
  return ops::lerp.out(out, self, end, weight);
}
Tensor& lerp_out(Tensor& out, const Tensor& self, const Tensor& end, Scalar weight) {
  return ops::lerp_scalar.out(out, self, end, weight);
}
Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value) {
  return ops::addcmul(self, tensor1, tensor2, value);
}
Tensor& addcmul_out(Tensor& out, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value) {
  return ops::addcmul.out(out, self, tensor1, tensor2, value);
}
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value) {
  return ops::addcdiv(self, tensor1, tensor2, value);
}
Tensor& addcdiv_out(Tensor& out, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value) {
  return ops::addcdiv.out(out, self, tensor1, tensor2, value);
}

Tensor Tensor::lerp(const Tensor& end, const Tensor& weight) const { return ops::lerp(*this, end, weight); }
Tensor Tensor::lerp(const Tensor& end, Scalar weight) const { return ops::lerp_scalar(*this, end, weight); }
Tensor& Tensor::lerp_(const Tensor& end, const Tensor& weight) { return ops::lerp.inplace(*this, *this, end, weight); }
Tensor& Tensor::lerp_(const Tensor& end, Scalar weight) { return ops::lerp_scalar.inplace(*this, *this, end, weight); }
Tensor Tensor::addcmul(const Tensor& tensor1, const Tensor& tensor2, Scalar value) const {
  return ops::addcmul(*this, tensor1, tensor2, value);
}
Tensor& Tensor::addcmul_(const Tensor& tensor1, const Tensor& tensor2, Scalar value) {
  return ops::addcmul.inplace(*this, *this, tensor1, tensor2, value);
}
Tensor Tensor::addcdiv(const Tensor& tensor1, const Tensor& tensor2, Scalar value) const {
  return ops::addcdiv(*this, tensor1, tensor2, value);
}
Tensor& Tensor::addcdiv_(const Tensor& tensor1, const Tensor& tensor2, Scalar value) {
  return ops::addcdiv.inplace(*this, *this, tensor1, tensor2, value);
}

}  // namespace taper
