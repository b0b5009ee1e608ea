#pragma once
// Recorded numbers, and tensors made of them or compared with them. Elements are read and written here by hand, so
// that a wrong copy or conversion in the library cannot hide itself.
#include <string>
#include <vector>

#include "value.h"

namespace oracle {

/// A recorded tensor: its elements in row-major order, as numbers of the widest type of their kind.
struct Array {
  std::string dtype;
  IntVec shape = {};
  bool floating = false;
  std::vector<double> reals = {};           // if floating
  std::vector<std::int64_t> integers = {};  // if not; bool as 0 and 1
};

struct Tolerance {
  double rtol = 0, atol = 0;
};

/// The dtype of that name. Throws Skip if the library lacks it.
DType dtype_named(const std::string& name);

/// A new contiguous tensor at version 0, on the default device.
Tensor make_tensor(const Array& a);
/// A tensor's elements and what it is.
Array read(const Tensor& t);

/// What differs, or nothing: |got - want| <= atol + rtol * |want| for floating elements, equality for the others.
std::string difference(const Array& got, const Array& want, Tolerance tol);
std::string difference(const Tensor& got, const Array& want, Tolerance tol);

std::string to_text(taper::IntSpan v);

/// All of a tensor that a call might change.
class Snapshot {
 public:
  explicit Snapshot(const Tensor& t);
  /// What has changed since, or nothing. A write of the same elements is a change too, unless the tensor may be
  /// written.
  std::string change(bool may_be_written = false) const;

 private:
  Tensor t_;
  IntVec sizes_, strides_;
  std::int64_t offset_;
  std::uint32_t version_;
  std::uint64_t storage_;
  std::string bytes_;  // of the whole storage
};

}  // namespace oracle
