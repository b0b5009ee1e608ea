#pragma once
#include "operand_order.h"
#include "widen.h"

namespace taper::kernels {

/// Memory that a kernel updates beside its results: the tensor's own where that is dense and of a dtype to compute in,
/// or a copy that goes back when all is done. Counts as a write of the tensor.
class Updated {
 public:
  Updated(const std::optional<Tensor>& t, const char* writer) {
    if (!t) return;
    target_ = *t;
    dense_ = in_order(widened(*t), MemoryFormat::contiguous);
    target_.impl()->count_write(writer);
  }
  template <class T>
  T* place() const {
    return dense_.defined() ? place_of<T>(dense_) : nullptr;
  }
  void finish() const {
    if (target_.defined()) narrow_into(target_, dense_);
  }

 private:
  Tensor target_, dense_;
};

}  // namespace taper::kernels
