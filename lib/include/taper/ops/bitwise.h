#pragma once
// The bits of integers and bool, elementwise with broadcasting. No derivatives. Floating operands throw DTypeError.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

/// Every bit turned over; for bool, "not".
Tensor bitwise_not(const Tensor& self);
Tensor& bitwise_not_out(Tensor& out, const Tensor& self);
/// The bits that both have; for bool, "and".
Tensor bitwise_and(const Tensor& self, const Tensor& other);
Tensor bitwise_and(const Tensor& self, Scalar other);
Tensor& bitwise_and_out(Tensor& out, const Tensor& self, const Tensor& other);
/// The bits that either has.
Tensor bitwise_or(const Tensor& self, const Tensor& other);
Tensor bitwise_or(const Tensor& self, Scalar other);
Tensor& bitwise_or_out(Tensor& out, const Tensor& self, const Tensor& other);
/// The bits that one of them has.
Tensor bitwise_xor(const Tensor& self, const Tensor& other);
Tensor bitwise_xor(const Tensor& self, Scalar other);
Tensor& bitwise_xor_out(Tensor& out, const Tensor& self, const Tensor& other);
/// self * 2^other, bits past the end being lost. Not for bool.
Tensor bitwise_left_shift(const Tensor& self, const Tensor& other);
Tensor bitwise_left_shift(const Tensor& self, Scalar other);
Tensor& bitwise_left_shift_out(Tensor& out, const Tensor& self, const Tensor& other);
/// self / 2^other, rounded down. Not for bool.
Tensor bitwise_right_shift(const Tensor& self, const Tensor& other);
Tensor bitwise_right_shift(const Tensor& self, Scalar other);
Tensor& bitwise_right_shift_out(Tensor& out, const Tensor& self, const Tensor& other);

namespace ops {
extern StructuredOp<Tensor(Tensor)> bitwise_not;
extern StructuredOp<Tensor(Tensor, Tensor)> bitwise_and, bitwise_or, bitwise_xor, bitwise_left_shift,
    bitwise_right_shift;
}  // namespace ops

}  // namespace taper
