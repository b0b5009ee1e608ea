#pragma once
// What becomes of the tensors that operations keep for the backward pass: packed when they are saved, unpacked when
// the backward pass reads them.
#include <taper/autograd/callback.h>
#include <taper/autograd/node.h>

namespace taper::autograd {

/// What unpack gives back; `version`: which the memory must still have, if the hooks know.
struct Unpacked {
  Tensor value;
  std::optional<std::uint32_t> version = {};
};

/// While one exists, every tensor that an operation recorded by this thread saves goes through `pack`, and what that
/// returned, of any type, is kept instead. When the backward pass needs the tensor, it gets what `unpack` makes of it.
///
///   SavedTensorHooks hooks([](const Tensor& t) { return t.to(float16); },
///                          [](const Tensor& half) { return half.to(float32); });
///
/// Both run with recording off, on detached tensors, `unpack` on the thread of the backward pass and each time the
/// tensor is read. They must not write to their argument; `unpack` must return the shape, dtype and device that were
/// saved. If it returns the memory that was saved, a write to it since is an error as without hooks.
/// Of nested scopes the innermost counts.
class SavedTensorHooks {
 public:
  template <class Pack, class Unpack>
  SavedTensorHooks(Pack pack, Unpack unpack) : before_(active_) {
    using Value = std::invoke_result_t<Pack&, const Tensor&>;
    pack_ = [pack = std::move(pack)](const Tensor& t) mutable { return std::make_shared<Value>(pack(t)); };
    unpack_ = [unpack = std::move(unpack)](const std::shared_ptr<void>& p) mutable {
      return Unpacked{unpack(*static_cast<const Value*>(p.get()))};
    };
    active_ = this;
  }
  ~SavedTensorHooks() { active_ = before_; }
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;

  /// The innermost of this thread; null if there is none, and within hooks.
  static const SavedTensorHooks* active() noexcept { return active_; }

 private:
  friend class PackedTensor;  // packed_tensor.h
  struct Suspended;
  Callback<std::shared_ptr<void>(const Tensor&)> pack_;
  Callback<Unpacked(const std::shared_ptr<void>&)> unpack_;
  const SavedTensorHooks* before_;
  static inline constinit thread_local const SavedTensorHooks* active_ = nullptr;
};

/// Within it tensors that live on an accelerator are kept in the computer's memory until the backward pass.
struct SaveOnCpu : SavedTensorHooks {
  SaveOnCpu();
};

}  // namespace taper::autograd
