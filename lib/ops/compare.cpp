#include <taper/operator.h>
#include <taper/ops/compare.h>

#include <algorithm>

#include "elementwise.h"
#include "op_names.h"

namespace taper {
namespace {

template <OpName op>
TensorSpec infer_mask(const Tensor& self) {
  return elementwise_spec(op.text, bool_, self);
}
template <OpName op>
TensorSpec infer_mask_scalar(const Tensor& self, const Scalar&) {
  return elementwise_spec(op.text, bool_, self);
}
template <OpName op>
TensorSpec infer_mask_pair(const Tensor& self, const Tensor& other) {
  return elementwise_spec(op.text, bool_, self, other);
}

bool all_true(const Tensor& mask) {
  const Tensor m = mask.to(cpu).contiguous();
  const bool* p = m.data<bool>();
  return std::all_of(p, p + m.numel(), [](bool b) { return b; });
}
void check_comparable(const char* op, const Tensor& self, const Tensor& other) {
  check<DTypeError>(self.dtype() == other.dtype(), op, ": self is ", self, " but other is ", other,
                    "; convert one of them with to()");
}
/// For an answer that is one bool.
void check_has_values(const char* op, const Tensor& self) {
  check<DeviceError>(!self.device().is_meta(), op, ": self is ", self, ", which has no values to compare");
}

}  // namespace

namespace ops {
// clang-format off
constinit StructuredOp<Tensor(Tensor, Tensor)> eq{"eq", "self, other", infer_mask_pair<"eq">, "eq_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> ne{"ne", "self, other", infer_mask_pair<"ne">, "ne_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> lt{"lt", "self, other", infer_mask_pair<"lt">, "lt_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> le{"le", "self, other", infer_mask_pair<"le">, "le_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> gt{"gt", "self, other", infer_mask_pair<"gt">, "gt_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> ge{"ge", "self, other", infer_mask_pair<"ge">, "ge_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> logical_and{"logical_and", "self, other", infer_mask_pair<"logical_and">, "logical_and_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> logical_or{"logical_or", "self, other", infer_mask_pair<"logical_or">, "logical_or_"};
constinit StructuredOp<Tensor(Tensor, Tensor)> logical_xor{"logical_xor", "self, other", infer_mask_pair<"logical_xor">, "logical_xor_"};
constinit StructuredOp<Tensor(Tensor, Scalar)> eq_scalar{"eq", "self, other", infer_mask_scalar<"eq">, "eq_"};
constinit StructuredOp<Tensor(Tensor, Scalar)> ne_scalar{"ne", "self, other", infer_mask_scalar<"ne">, "ne_"};
constinit StructuredOp<Tensor(Tensor, Scalar)> lt_scalar{"lt", "self, other", infer_mask_scalar<"lt">, "lt_"};
constinit StructuredOp<Tensor(Tensor, Scalar)> le_scalar{"le", "self, other", infer_mask_scalar<"le">, "le_"};
constinit StructuredOp<Tensor(Tensor, Scalar)> gt_scalar{"gt", "self, other", infer_mask_scalar<"gt">, "gt_"};
constinit StructuredOp<Tensor(Tensor, Scalar)> ge_scalar{"ge", "self, other", infer_mask_scalar<"ge">, "ge_"};
constinit StructuredOp<Tensor(Tensor)> logical_not{"logical_not", "self", infer_mask<"logical_not">, "logical_not_"};
constinit StructuredOp<Tensor(Tensor)> isinf{"isinf", "self", infer_mask<"isinf">};
constinit StructuredOp<Tensor(Tensor)> isnan{"isnan", "self", infer_mask<"isnan">};
constinit StructuredOp<Tensor(Tensor)> isfinite{"isfinite", "self", infer_mask<"isfinite">};
// clang-format on
}  // namespace ops

// clang-format off
Tensor eq(const Tensor& self, const Tensor& other) { return ops::eq(self, other); }
Tensor eq(const Tensor& self, Scalar other) { return ops::eq_scalar(self, other); }
Tensor& eq_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::eq.out(out, self, other); }
Tensor Tensor::eq(const Tensor& other) const { return ops::eq(*this, other); }
Tensor Tensor::eq(Scalar other) const { return ops::eq_scalar(*this, other); }
Tensor& Tensor::eq_(const Tensor& other) { return ops::eq.inplace(*this, *this, other); }
Tensor& Tensor::eq_(Scalar other) { return ops::eq_scalar.inplace(*this, *this, other); }
Tensor ne(const Tensor& self, const Tensor& other) { return ops::ne(self, other); }
Tensor ne(const Tensor& self, Scalar other) { return ops::ne_scalar(self, other); }
Tensor& ne_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::ne.out(out, self, other); }
Tensor Tensor::ne(const Tensor& other) const { return ops::ne(*this, other); }
Tensor Tensor::ne(Scalar other) const { return ops::ne_scalar(*this, other); }
Tensor& Tensor::ne_(const Tensor& other) { return ops::ne.inplace(*this, *this, other); }
Tensor& Tensor::ne_(Scalar other) { return ops::ne_scalar.inplace(*this, *this, other); }
Tensor lt(const Tensor& self, const Tensor& other) { return ops::lt(self, other); }
Tensor lt(const Tensor& self, Scalar other) { return ops::lt_scalar(self, other); }
Tensor& lt_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::lt.out(out, self, other); }
Tensor Tensor::lt(const Tensor& other) const { return ops::lt(*this, other); }
Tensor Tensor::lt(Scalar other) const { return ops::lt_scalar(*this, other); }
Tensor& Tensor::lt_(const Tensor& other) { return ops::lt.inplace(*this, *this, other); }
Tensor& Tensor::lt_(Scalar other) { return ops::lt_scalar.inplace(*this, *this, other); }
Tensor le(const Tensor& self, const Tensor& other) { return ops::le(self, other); }
Tensor le(const Tensor& self, Scalar other) { return ops::le_scalar(self, other); }
Tensor& le_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::le.out(out, self, other); }
Tensor Tensor::le(const Tensor& other) const { return ops::le(*this, other); }
Tensor Tensor::le(Scalar other) const { return ops::le_scalar(*this, other); }
Tensor& Tensor::le_(const Tensor& other) { return ops::le.inplace(*this, *this, other); }
Tensor& Tensor::le_(Scalar other) { return ops::le_scalar.inplace(*this, *this, other); }
Tensor gt(const Tensor& self, const Tensor& other) { return ops::gt(self, other); }
Tensor gt(const Tensor& self, Scalar other) { return ops::gt_scalar(self, other); }
Tensor& gt_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::gt.out(out, self, other); }
Tensor Tensor::gt(const Tensor& other) const { return ops::gt(*this, other); }
Tensor Tensor::gt(Scalar other) const { return ops::gt_scalar(*this, other); }
Tensor& Tensor::gt_(const Tensor& other) { return ops::gt.inplace(*this, *this, other); }
Tensor& Tensor::gt_(Scalar other) { return ops::gt_scalar.inplace(*this, *this, other); }
Tensor ge(const Tensor& self, const Tensor& other) { return ops::ge(self, other); }
Tensor ge(const Tensor& self, Scalar other) { return ops::ge_scalar(self, other); }
Tensor& ge_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::ge.out(out, self, other); }
Tensor Tensor::ge(const Tensor& other) const { return ops::ge(*this, other); }
Tensor Tensor::ge(Scalar other) const { return ops::ge_scalar(*this, other); }
Tensor& Tensor::ge_(const Tensor& other) { return ops::ge.inplace(*this, *this, other); }
Tensor& Tensor::ge_(Scalar other) { return ops::ge_scalar.inplace(*this, *this, other); }
Tensor logical_and(const Tensor& self, const Tensor& other) { return ops::logical_and(self, other); }
Tensor& logical_and_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::logical_and.out(out, self, other); }
Tensor Tensor::logical_and(const Tensor& other) const { return ops::logical_and(*this, other); }
Tensor& Tensor::logical_and_(const Tensor& other) { return ops::logical_and.inplace(*this, *this, other); }
Tensor logical_or(const Tensor& self, const Tensor& other) { return ops::logical_or(self, other); }
Tensor& logical_or_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::logical_or.out(out, self, other); }
Tensor Tensor::logical_or(const Tensor& other) const { return ops::logical_or(*this, other); }
Tensor& Tensor::logical_or_(const Tensor& other) { return ops::logical_or.inplace(*this, *this, other); }
Tensor logical_xor(const Tensor& self, const Tensor& other) { return ops::logical_xor(self, other); }
Tensor& logical_xor_out(Tensor& out, const Tensor& self, const Tensor& other) { return ops::logical_xor.out(out, self, other); }
Tensor Tensor::logical_xor(const Tensor& other) const { return ops::logical_xor(*this, other); }
Tensor& Tensor::logical_xor_(const Tensor& other) { return ops::logical_xor.inplace(*this, *this, other); }
// clang-format on
Tensor logical_not(const Tensor& self) { return ops::logical_not(self); }
Tensor& logical_not_out(Tensor& out, const Tensor& self) { return ops::logical_not.out(out, self); }
Tensor isnan(const Tensor& self) { return ops::isnan(self); }
Tensor& isnan_out(Tensor& out, const Tensor& self) { return ops::isnan.out(out, self); }
Tensor isfinite(const Tensor& self) { return ops::isfinite(self); }
Tensor Tensor::logical_not() const { return ops::logical_not(*this); }
Tensor& Tensor::logical_not_() { return ops::logical_not.inplace(*this, *this); }
Tensor isinf(const Tensor& self) { return ops::isinf(self); }
Tensor& isinf_out(Tensor& out, const Tensor& self) { return ops::isinf.out(out, self); }
Tensor Tensor::isinf() const { return ops::isinf(*this); }
Tensor Tensor::isnan() const { return ops::isnan(*this); }
Tensor Tensor::isfinite() const { return ops::isfinite(*this); }

namespace {
void check_tolerances(const char* op, const Tensor& self, const Tensor& other, double rtol, double atol) {
  check_comparable(op, self, other);
  check<ValueError>(rtol >= 0 && atol >= 0, op, ": rtol is ", rtol, " and atol is ", atol, "; neither may be negative");
}
Tensor close_elements(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  const NoGradGuard no_grad;
  Tensor close = eq(self, other);  // equal infinities among them
  if (self.dtype() == bool_) return close;
  if (equal_nan) close = close.logical_or(isnan(self).logical_and(isnan(other)));
  const Tensor difference = self.sub(other).abs();
  const Tensor allowed = other.mul(rtol).abs().add(atol);
  return close.logical_or(difference.isfinite().logical_and(difference.le(allowed)));
}
}  // namespace

bool equal(const Tensor& self, const Tensor& other) {
  check_comparable("equal", self, other);
  check_has_values("equal", self);
  return self.sizes() == other.sizes() && all_true(eq(self, other));
}
Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  check_tolerances("isclose", self, other, rtol, atol);
  return close_elements(self, other, rtol, atol, equal_nan);
}
bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  check_tolerances("allclose", self, other, rtol, atol);
  check_has_values("allclose", self);
  return all_true(close_elements(self, other, rtol, atol, equal_nan));
}
Tensor Tensor::isclose(const Tensor& other, double rtol, double atol, bool equal_nan) const {
  return taper::isclose(*this, other, rtol, atol, equal_nan);
}
bool Tensor::equal(const Tensor& other) const { return taper::equal(*this, other); }
bool Tensor::allclose(const Tensor& other, double rtol, double atol, bool equal_nan) const {
  return taper::allclose(*this, other, rtol, atol, equal_nan);
}

}  // namespace taper
