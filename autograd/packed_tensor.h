#pragma once
#include <taper/autograd/saved_tensor_hooks.h>

namespace taper::autograd {

/// What a Saved keeps while hooks were active. Hangs on the node, so that nodes without hooks pay nothing.
class PackedTensor {
 public:
  /// Calls the active pack hook.
  PackedTensor(const Saved* saved, const Tensor& t);
  const Saved* saved() const { return saved_; }
  std::uint64_t storage_id() const { return storage_id_; }
  /// Calls the unpack hook and checks what it returns. `op`: for messages.
  Unpacked unpack(const char* op) const;

 private:
  const Saved* saved_;
  TensorSpec spec_;
  std::uint64_t storage_id_;
  std::shared_ptr<void> value_;
  Callback<Unpacked(const std::shared_ptr<void>&)> unpack_;
};

}  // namespace taper::autograd
