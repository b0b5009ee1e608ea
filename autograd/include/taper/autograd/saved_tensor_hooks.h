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

namespace detail {
/// Whether a value that a pack hook returned shows which tensors it keeps.
template <class V>
inline constexpr bool shows_tensors = requires(const V& v, const Callback<void(const Tensor&)>& f) {
  v.visit_tensors(f);
};
template <>
inline constexpr bool shows_tensors<Tensor> = true;
template <>
inline constexpr bool shows_tensors<TensorList> = true;
template <class T>
inline constexpr bool shows_tensors<std::optional<T>> = shows_tensors<T>;
template <class T>
inline constexpr bool owns_nothing = std::is_trivially_copyable_v<T>;
template <class A, class B>
inline constexpr bool shows_tensors<std::pair<A, B>> = (shows_tensors<A> && (shows_tensors<B> || owns_nothing<B>)) ||
                                                       (owns_nothing<A> && shows_tensors<B>);

template <class V>
void visit_tensors(const V& v, const Callback<void(const Tensor&)>& f) {
  if constexpr (shows_tensors<V>) v.visit_tensors(f);
}
inline void visit_tensors(const Tensor& t, const Callback<void(const Tensor&)>& f) { f(t); }
inline void visit_tensors(const TensorList& ts, const Callback<void(const Tensor&)>& f) {
  for (const Tensor& t : ts) f(t);
}
template <class T>
void visit_tensors(const std::optional<T>& v, const Callback<void(const Tensor&)>& f) {
  if (v) visit_tensors(*v, f);
}
template <class A, class B>
void visit_tensors(const std::pair<A, B>& v, const Callback<void(const Tensor&)>& f) {
  visit_tensors(v.first, f);
  visit_tensors(v.second, f);
}
}  // namespace detail

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
///
/// GraphBudget and graph_stats() count the memory of what is kept if `pack` returns tensors: a Tensor, a TensorList, an
/// optional of them, a pair with plain data, or a type with `void visit_tensors(const Callback<void(const Tensor&)>& f)
/// const` that calls f for each. What any other value keeps they cannot know, and say so.
class SavedTensorHooks {
 public:
  template <class Pack, class Unpack>
  SavedTensorHooks(Pack pack, Unpack unpack) : before_(innermost_) {
    using Value = std::invoke_result_t<Pack&, const Tensor&>;
    pack_ = [pack = std::move(pack)](const Tensor& t) mutable { return std::make_shared<Value>(pack(t)); };
    unpack_ = [unpack = std::move(unpack)](const std::shared_ptr<void>& p) mutable {
      return Unpacked{unpack(*static_cast<const Value*>(p.get()))};
    };
    if constexpr (detail::shows_tensors<Value>)
      visit_ = [](const void* value, const Callback<void(const Tensor&)>& f) {
        detail::visit_tensors(*static_cast<const Value*>(value), f);
      };
    active_ = innermost_ = this;
  }
  ~SavedTensorHooks();
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;

  /// The innermost of this thread; null if there is none, and within hooks.
  static const SavedTensorHooks* active() noexcept { return active_; }

 private:
  friend class PackedTensor;  // packed_tensor.h
  struct Suspended;
  Callback<std::shared_ptr<void>(const Tensor&)> pack_;
  Callback<Unpacked(const std::shared_ptr<void>&)> unpack_;
  void (*visit_)(const void* value, const Callback<void(const Tensor&)>& f) = nullptr;
  SavedTensorHooks* before_;
  static inline constinit thread_local SavedTensorHooks* innermost_ = nullptr;
  static inline constinit thread_local const SavedTensorHooks* active_ = nullptr;  // innermost_ but within hooks
};

/// Within it tensors that live on an accelerator are kept in the computer's memory until the backward pass.
struct SaveOnCpu : SavedTensorHooks {
  SaveOnCpu();
};

}  // namespace taper::autograd
