#include <taper/grad_mode.h>

#include "packed_tensor.h"

namespace taper::autograd {

/// No hooks within hooks: what a hook saves is its own business.
struct SavedTensorHooks::Suspended {
  Suspended() { active_ = nullptr; }
  ~Suspended() { active_ = innermost_; }
};

SavedTensorHooks::~SavedTensorHooks() {  // also of a scope that ends before one within it
  for (SavedTensorHooks** at = &innermost_; *at; at = &(*at)->before_)
    if (*at == this) {
      *at = before_;
      break;
    }
  if (active_ == this) active_ = innermost_;
}

PackedTensor::PackedTensor(const Saved* saved, const Tensor& t)
    : saved_(saved),
      spec_(t.spec()),
      storage_id_(t.storage()->id()),
      unpack_(SavedTensorHooks::active()->unpack_),
      visit_(SavedTensorHooks::active()->visit_) {
  const auto pack = SavedTensorHooks::active()->pack_;
  const SavedTensorHooks::Suspended suspended;
  const NoGradGuard no_grad;
  value_ = pack(t);
}

Unpacked PackedTensor::unpack(const char* op) const {
  const SavedTensorHooks::Suspended suspended;
  const NoGradGuard no_grad;
  Unpacked got = unpack_(value_);
  const Tensor& t = got.value;
  check<AutogradError>(
      t.defined() && t.sizes() == spec_.sizes() && t.dtype() == spec_.dtype && t.device() == spec_.device,
      "saved tensor hooks of ", op, ": the unpack hook returned ", t, " for a tensor of ", spec_,
      "; it must return the same shape, dtype and device");
  return got;
}

SaveOnCpu::SaveOnCpu()
    : SavedTensorHooks([](const Tensor& t) { return std::pair(t.device().is_meta() ? t : t.to(cpu), t.device()); },
                       [](const auto& moved) { return moved.first.to(moved.second); }) {}

}  // namespace taper::autograd
