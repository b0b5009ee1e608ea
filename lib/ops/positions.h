#pragma once
#include <taper/tensor.h>

namespace taper {

/// Whether negative positions count from the end or are out of range.
enum class Negative : bool { refused, from_end };

/// Throws DTypeError unless index is int64 or int32.
void check_position_dtype(const char* op, const Tensor& index);
/// Throws IndexError naming the first position in index that is outside a dim of this size. `dim` and `self` are only
/// for the message. On cuda only where checks are immediate, see <taper/cuda.h>: else the kernel looks.
void check_positions(const char* op, const Tensor& index, std::int64_t size, std::int64_t dim, const Tensor& self,
                     Negative negative);

/// The shape that operands with these dims replaced by positions of shape `broadcast` give: in place of the dims if
/// they are neighbours, else in front.
IntVec indexed_sizes(const Tensor& self, IntSpan dims, IntSpan broadcast);

/// A bool mask as one position tensor for each of its dims.
TensorList positions_of(const Tensor& mask);

/// A tensor's positions along dims, in the form ops::index takes them.
struct Positions {
  TensorList indices;
  IntVec dims;
  void add(const Tensor& index, std::int64_t dim);
  /// One position tensor for each dim of the mask, from `dim` on. Throws IndexError if self's sizes there differ.
  void add_mask(const char* op, const Tensor& mask, const Tensor& self, std::int64_t dim);
};

/// value made fit to be written over a result of `sizes`: without dims of size 1 in front that sizes lacks, and a 0-dim
/// value in self's dtype.
Tensor prepared_values(const Tensor& self, const Tensor& value, std::size_t result_dims);

}  // namespace taper
