#pragma once
#include <taper/tensor.h>

namespace taper {

/// The dtype in which an operation of these operands computes, as torch.result_type: among operands with dimensions,
/// then 0-dim tensors, then numbers; a later group counts only if it is of a higher kind (bool < integer < floating).
DType result_type(const Tensor& a, const Tensor& b);
DType result_type(const Tensor& a, Scalar b);
DType result_type(Scalar a, Scalar b);
DType result_type(const TensorList& operands);
/// Integers and bool become float32, as for exp, mean, div.
constexpr DType floating_of(DType d) { return is_floating(d) ? d : float32; }

/// The shape two shapes broadcast to: aligned at the right, equal or 1 or missing. Throws ShapeError naming `op`.
IntVec broadcast_sizes(const char* op, IntSpan a, IntSpan b);
/// The device operands work on: the first that is not a 0-dim cpu tensor's.
Device common_device(const Tensor& a, const Tensor& b);

}  // namespace taper
