#pragma once
// Functions of [n, c, ...] that keep the order of their operand in memory.
#include <taper/memory_format.h>
#include <taper/ops/view.h>

namespace taper {

/// x with its dims in the order of its memory, and how to get back. Of channels_last x [n, c, ...], that is
/// [n, ..., c]: row-major, so what is made of it is, and, put back, has x's order.
class ImageOrder {
 public:
  explicit ImageOrder(const Tensor& x) : rank_(x.dim()) {
    is_last_ = rank_ >= 3 && suggested_memory_format(x) == MemoryFormat::channels_last;
  }
  bool is_channels_last() const { return is_last_; }
  /// The dim of in_memory(x) that is dim d of x, which is not negative.
  std::int64_t dim(std::int64_t d) const { return !is_last_ || d == 0 ? d : d == 1 ? rank_ - 1 : d - 1; }
  Tensor in_memory(const Tensor& x) const { return is_last_ ? movedim(x, 1, -1) : x; }
  Tensor back(const Tensor& y) const { return is_last_ ? movedim(y, -1, 1) : y; }

 private:
  std::int64_t rank_;
  bool is_last_;
};

}  // namespace taper
