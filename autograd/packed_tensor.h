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
  /// What was saved.
  const TensorSpec& spec() const { return spec_; }
  /// Calls f for each tensor that is kept instead; false if it cannot be told.
  bool visit_tensors(const Callback<void(const Tensor&)>& f) const {
    if (visit_) visit_(value_.get(), f);
    return visit_ != nullptr;
  }
  /// Calls the unpack hook and checks what it returns. `op`: for messages.
  Unpacked unpack(const char* op) const;

 private:
  const Saved* saved_;
  TensorSpec spec_;
  std::uint64_t storage_id_;
  std::shared_ptr<void> value_;
  Callback<Unpacked(const std::shared_ptr<void>&)> unpack_;
  void (*visit_)(const void* value, const Callback<void(const Tensor&)>& f);
};

}  // namespace taper::autograd
