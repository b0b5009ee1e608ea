#pragma once
#include <taper/allocator.h>

#include <cstddef>
#include <cstdint>

namespace taper::cpu_kernels {

/// Uninitialized memory for the duration of one call, 64-byte aligned. It comes from the caching allocator,
/// so a steady program asks the system for nothing. A count of 0 allocates nothing.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t count) {
    if (count > 0) memory_ = cpu_allocator().allocate(static_cast<std::size_t>(count) * sizeof(T));
  }
  T* data() const noexcept { return static_cast<T*>(memory_.get()); }
  operator T*() const noexcept { return data(); }

 private:
  DataPtr memory_;
};

}  // namespace taper::cpu_kernels
