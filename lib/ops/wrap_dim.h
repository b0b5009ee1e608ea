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

}  // namespace taper
