#pragma once
#include <cstddef>
#include <cstdint>

namespace taper {

/// Copies that were made only because no view could give the result, and their bytes.
struct LayoutCopies {
  std::uint64_t count = 0;
  std::size_t bytes = 0;
};
/// All of them on this thread so far: by reshape() and what is built on it, and by contiguous(). Take the difference
/// around a piece of code to find the copies that it did not mean to make.
LayoutCopies layout_copies() noexcept;

namespace detail {
void count_layout_copy(std::size_t bytes) noexcept;
}  // namespace detail

}  // namespace taper
