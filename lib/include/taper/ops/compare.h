#pragma once
// Comparison and logic. The elementwise operators broadcast and promote as those of <taper/ops/pointwise.h> do, give
// bool, and have no derivative: their results have no history.
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

namespace ops {
extern StructuredOp<Tensor(Tensor, Tensor)> eq, ne, lt, le, gt, ge, logical_and, logical_or, logical_xor;
extern StructuredOp<Tensor(Tensor, Scalar)> eq_scalar, ne_scalar, lt_scalar, le_scalar, gt_scalar, ge_scalar;
extern StructuredOp<Tensor(Tensor)> logical_not, isnan, isfinite, isinf;
}  // namespace ops

// NaN is unequal to everything, itself included, and neither less nor greater.
Tensor eq(const Tensor& self, const Tensor& other);
Tensor eq(const Tensor& self, Scalar other);
Tensor ne(const Tensor& self, const Tensor& other);
Tensor ne(const Tensor& self, Scalar other);
Tensor lt(const Tensor& self, const Tensor& other);
Tensor lt(const Tensor& self, Scalar other);
Tensor le(const Tensor& self, const Tensor& other);
Tensor le(const Tensor& self, Scalar other);
Tensor gt(const Tensor& self, const Tensor& other);
Tensor gt(const Tensor& self, Scalar other);
Tensor ge(const Tensor& self, const Tensor& other);
Tensor ge(const Tensor& self, Scalar other);

// For any dtype: what is not 0 counts as true.
Tensor logical_and(const Tensor& self, const Tensor& other);
Tensor logical_or(const Tensor& self, const Tensor& other);
Tensor logical_xor(const Tensor& self, const Tensor& other);
Tensor logical_not(const Tensor& self);

Tensor isnan(const Tensor& self);
Tensor& isnan_out(Tensor& out, const Tensor& self);
Tensor isinf(const Tensor& self);
Tensor& isinf_out(Tensor& out, const Tensor& self);
/// Neither infinite nor NaN.
Tensor isfinite(const Tensor& self);

Tensor& eq_out(Tensor& out, const Tensor& self, const Tensor& other);
Tensor& ne_out(Tensor& out, const Tensor& self, const Tensor& other);
Tensor& lt_out(Tensor& out, const Tensor& self, const Tensor& other);
Tensor& le_out(Tensor& out, const Tensor& self, const Tensor& other);
Tensor& gt_out(Tensor& out, const Tensor& self, const Tensor& other);
Tensor& ge_out(Tensor& out, const Tensor& self, const Tensor& other);
Tensor& logical_and_out(Tensor& out, const Tensor& self, const Tensor& other);
Tensor& logical_or_out(Tensor& out, const Tensor& self, const Tensor& other);
Tensor& logical_xor_out(Tensor& out, const Tensor& self, const Tensor& other);
Tensor& logical_not_out(Tensor& out, const Tensor& self);

/// Whether two tensors have the same shape and equal elements (NaN equals nothing). The dtypes must be the same.
bool equal(const Tensor& self, const Tensor& other);
/// Whether |self - other| <= atol + rtol |other| everywhere, after broadcasting; equal infinities are close.
/// The dtypes must be the same. Throws ValueError if a tolerance is negative.
bool allclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);

/// For each pair of elements whether allclose would take them as close. Throws as allclose.
Tensor isclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);

// Elementwise, as PyTorch's: `(a == b).all()` or equal(a, b) asks about whole tensors.
inline Tensor operator==(const Tensor& a, const Tensor& b) { return eq(a, b); }
inline Tensor operator==(const Tensor& a, Scalar b) { return eq(a, b); }
inline Tensor operator==(Scalar a, const Tensor& b) { return eq(b, a); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return ne(a, b); }
inline Tensor operator!=(const Tensor& a, Scalar b) { return ne(a, b); }
inline Tensor operator!=(Scalar a, const Tensor& b) { return ne(b, a); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return lt(a, b); }
inline Tensor operator<(const Tensor& a, Scalar b) { return lt(a, b); }
inline Tensor operator<(Scalar a, const Tensor& b) { return gt(b, a); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return le(a, b); }
inline Tensor operator<=(const Tensor& a, Scalar b) { return le(a, b); }
inline Tensor operator<=(Scalar a, const Tensor& b) { return ge(b, a); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return gt(a, b); }
inline Tensor operator>(const Tensor& a, Scalar b) { return gt(a, b); }
inline Tensor operator>(Scalar a, const Tensor& b) { return lt(b, a); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return ge(a, b); }
inline Tensor operator>=(const Tensor& a, Scalar b) { return ge(a, b); }
inline Tensor operator>=(Scalar a, const Tensor& b) { return le(b, a); }
inline Tensor operator!(const Tensor& self) { return logical_not(self); }

}  // namespace taper
