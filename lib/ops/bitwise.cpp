#include <taper/operator.h>
#include <taper/ops/bitwise.h>
#include <taper/promotion.h>

#include "elementwise.h"
#include "op_names.h"

namespace taper {
namespace {

void check_integers(const char* op, const Tensor& t) {
  check<DTypeError>(!t.is_floating_point(), op, ": needs integers or bool, got ", t,
                    "; convert with x.to(taper::int64) first");
}
TensorSpec infer_not(const Tensor& self) {
  check_integers("bitwise_not", self);
  return elementwise_spec("bitwise_not", self.dtype(), self);
}
template <OpName op>
TensorSpec infer_bits(const Tensor& self, const Tensor& other) {
  check_integers(op.text, self);
  check_integers(op.text, other);
  return elementwise_spec(op.text, result_type(self, other), self, other);
}
template <OpName op>
TensorSpec infer_shift(const Tensor& self, const Tensor& other) {
  const DType d = result_type(self, other);
  check<DTypeError>(d != bool_, op.text, ": is not defined for bool; convert with x.to(taper::int64) first");
  return infer_bits<op>(self, other);
}

}  // namespace

namespace ops {
// clang-format off
constinit StructuredOp<Tensor(Tensor)> bitwise_not{"bitwise_not", "self", infer_not, "bitwise_not_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> bitwise_and{"bitwise_and", "self, other", infer_bits<"bitwise_and">, "bitwise_and_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> bitwise_or{"bitwise_or", "self, other", infer_bits<"bitwise_or">, "bitwise_or_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> bitwise_xor{"bitwise_xor", "self, other", infer_bits<"bitwise_xor">, "bitwise_xor_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> bitwise_left_shift{"bitwise_left_shift", "self, other", infer_shift<"bitwise_left_shift">, "bitwise_left_shift_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> bitwise_right_shift{"bitwise_right_shift", "self, other", infer_shift<"bitwise_right_shift">, "bitwise_right_shift_"};
// clang-format on
}  // namespace ops

// clang-format off
Tensor bitwise_not(const Tensor& self) { return ops::bitwise_not(self); }
Tensor& bitwise_not_out(Tensor& out, const Tensor& self) { return ops::bitwise_not.out(out, self); }
Tensor Tensor::bitwise_not() const { return ops::bitwise_not(*this); }
Tensor& Tensor::bitwise_not_() { return ops::bitwise_not.inplace(*this, *this); }
Tensor bitwise_and(const Tensor& self, const Tensor& other) { return ops::bitwise_and(self, other); }
Tensor bitwise_and(const Tensor& self, Scalar other) { return ops::bitwise_and(self, wrapped_number(other)); }
Tensor& bitwise_and_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::bitwise_and.out(out, self, other); }
Tensor Tensor::bitwise_and(const Tensor& other) const { return ops::bitwise_and(*this, other); }
Tensor Tensor::bitwise_and(Scalar other) const { return ops::bitwise_and(*this, wrapped_number(other)); }
Tensor& Tensor::bitwise_and_(const Tensor& other) { return ops::bitwise_and.inplace(*this, *this, other); }
Tensor& Tensor::bitwise_and_(Scalar other) { return ops::bitwise_and.inplace(*this, *this, wrapped_number(other)); }
Tensor bitwise_or(const Tensor& self, const Tensor& other) { return ops::bitwise_or(self, other); }
Tensor bitwise_or(const Tensor& self, Scalar other) { return ops::bitwise_or(self, wrapped_number(other)); }
Tensor& bitwise_or_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::bitwise_or.out(out, self, other); }
Tensor Tensor::bitwise_or(const Tensor& other) const { return ops::bitwise_or(*this, other); }
Tensor Tensor::bitwise_or(Scalar other) const { return ops::bitwise_or(*this, wrapped_number(other)); }
Tensor& Tensor::bitwise_or_(const Tensor& other) { return ops::bitwise_or.inplace(*this, *this, other); }
Tensor& Tensor::bitwise_or_(Scalar other) { return ops::bitwise_or.inplace(*this, *this, wrapped_number(other)); }
Tensor bitwise_xor(const Tensor& self, const Tensor& other) { return ops::bitwise_xor(self, other); }
Tensor bitwise_xor(const Tensor& self, Scalar other) { return ops::bitwise_xor(self, wrapped_number(other)); }
Tensor& bitwise_xor_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::bitwise_xor.out(out, self, other); }
Tensor Tensor::bitwise_xor(const Tensor& other) const { return ops::bitwise_xor(*this, other); }
Tensor Tensor::bitwise_xor(Scalar other) const { return ops::bitwise_xor(*this, wrapped_number(other)); }
Tensor& Tensor::bitwise_xor_(const Tensor& other) { return ops::bitwise_xor.inplace(*this, *this, other); }
Tensor& Tensor::bitwise_xor_(Scalar other) { return ops::bitwise_xor.inplace(*this, *this, wrapped_number(other)); }
Tensor bitwise_left_shift(const Tensor& self, const Tensor& other) { return ops::bitwise_left_shift(self, other); }
Tensor bitwise_left_shift(const Tensor& self, Scalar other) { return ops::bitwise_left_shift(self, wrapped_number(other)); }
Tensor& bitwise_left_shift_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::bitwise_left_shift.out(out, self, other); }
Tensor Tensor::bitwise_left_shift(const Tensor& other) const { return ops::bitwise_left_shift(*this, other); }
Tensor Tensor::bitwise_left_shift(Scalar other) const { return ops::bitwise_left_shift(*this, wrapped_number(other)); }
Tensor& Tensor::bitwise_left_shift_(const Tensor& other) { return ops::bitwise_left_shift.inplace(*this, *this, other); }
Tensor& Tensor::bitwise_left_shift_(Scalar other) { return ops::bitwise_left_shift.inplace(*this, *this, wrapped_number(other)); }
Tensor bitwise_right_shift(const Tensor& self, const Tensor& other) { return ops::bitwise_right_shift(self, other); }
Tensor bitwise_right_shift(const Tensor& self, Scalar other) { return ops::bitwise_right_shift(self, wrapped_number(other)); }
Tensor& bitwise_right_shift_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::bitwise_right_shift.out(out, self, other); }
Tensor Tensor::bitwise_right_shift(const Tensor& other) const { return ops::bitwise_right_shift(*this, other); }
Tensor Tensor::bitwise_right_shift(Scalar other) const { return ops::bitwise_right_shift(*this, wrapped_number(other)); }
Tensor& Tensor::bitwise_right_shift_(const Tensor& other) { return ops::bitwise_right_shift.inplace(*this, *this, other); }
Tensor& Tensor::bitwise_right_shift_(Scalar other) { return ops::bitwise_right_shift.inplace(*this, *this, wrapped_number(other)); }
// clang-format on

}  // namespace taper
