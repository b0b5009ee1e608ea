#pragma once
#include <taper/tensor.h>

namespace taper {

/// The index of dimension `dim` of a tensor of `rank` dims. Negative counts from the end; rank 0 takes 0 and -1, as if
/// it had one dim. Throws IndexError naming op and what is indexed.
template <class Subject>
std::int64_t wrap_dim(const char* op, std::int64_t dim, std::int64_t rank, const Subject& subject) {
  const std::int64_t n = rank > 0 ? rank : 1;
  check<IndexError>(dim >= -n && dim < n, op, ": dim ", dim, " is out of range for ", subject, ", which takes ", -n,
                    " to ", n - 1);
  return dim < 0 ? dim + n : dim;
}
inline std::int64_t wrap_dim(const char* op, std::int64_t dim, const Tensor& t) {
  return wrap_dim(op, dim, t.dim(), t);
}

/// Throws ShapeError if a tensor of these sizes has more elements than an int64 counts.
inline void check_numel(const char* op, IntSpan sizes) {
  std::int64_t n = 1;
  bool overflow = false, is_empty = false;
  for (const std::int64_t s : sizes) {
    is_empty |= s == 0;
    overflow |= __builtin_mul_overflow(n, s, &n);
  }
  check<ShapeError>(!overflow || is_empty, op, ": sizes ", sizes, " have more elements than an int64 counts");
}

}  // namespace taper
