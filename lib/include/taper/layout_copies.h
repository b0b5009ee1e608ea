#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace taper {

class Tensor;

/// Copies that were made only because of how a tensor lies in memory, and their bytes.
struct LayoutCopies {
  std::uint64_t count = 0;
  std::size_t bytes = 0;
};
/// All of them on this thread so far: by contiguous(), by reshape() and what is built on it, and by operators whose
/// kernels cannot read an operand as it lies. Take the difference around a piece of code to find its copies.
LayoutCopies layout_copies() noexcept;

/// The copies of one operator.
struct CopyStats : LayoutCopies {
  const char* op = "";
};
/// The same by operator, the most bytes first, since this thread started or reset_copy_stats().
std::vector<CopyStats> copy_stats();
void reset_copy_stats() noexcept;

/// While one exists, a copy on this thread that nobody asked for is a ValueError that names operator and tensor, thrown
/// before anything is computed. contiguous(), clone() and to() are asked for.
class ForbidImplicitCopies {
 public:
  ForbidImplicitCopies() noexcept;
  ~ForbidImplicitCopies();
  ForbidImplicitCopies(const ForbidImplicitCopies&) = delete;
  ForbidImplicitCopies& operator=(const ForbidImplicitCopies&) = delete;
};

namespace detail {
/// `op`, a literal, copies t because of its strides.
void count_layout_copy(const char* op, const Tensor& t);
/// As count_layout_copy, and nobody asked for it. Throws inside ForbidImplicitCopies.
void count_implicit_copy(const char* op, const Tensor& t);
}  // namespace detail

}  // namespace taper
