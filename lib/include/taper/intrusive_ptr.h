#pragma once
#include <taper/error.h>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace taper {

/// Base of every reference-counted object. The counts live in the object, so a handle is one pointer wide
/// and a raw `this` can be turned back into a handle. Both counts are 0 until the first handle adopts the object.
///
/// All strong handles together hold one weak count: the object's resources go with the last strong handle,
/// its memory with the last weak one.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  std::uint32_t use_count() const noexcept { return strong_.load(std::memory_order_relaxed); }
  std::uint32_t weak_use_count() const noexcept { return weak_.load(std::memory_order_relaxed); }

  void retain() const noexcept { strong_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    if (strong_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (weak_.load(std::memory_order_acquire) == 1) return destroy();
    const_cast<RefCounted*>(this)->release_resources();
    release_weak();
  }
  void retain_weak() const noexcept { weak_.fetch_add(1, std::memory_order_relaxed); }
  void release_weak() const noexcept {
    if (weak_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }
  /// First handle: the object has never been owned before.
  void adopt() const {
    // A handle made inside the constructor would have died with it and taken the object along.
    check(strong_.load(std::memory_order_relaxed) == 0 && weak_.load(std::memory_order_relaxed) == 0,
          "make_intrusive: the object already has owners (", use_count(), " strong, ", weak_use_count(),
          " weak); do not make a handle to `this` inside a constructor");
    strong_.store(1, std::memory_order_relaxed);
    weak_.store(1, std::memory_order_relaxed);
  }
  /// Takes a strong reference if one is still there.
  bool try_retain() const noexcept {
    std::uint32_t n = strong_.load(std::memory_order_relaxed);
    while (n != 0)
      if (strong_.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) return true;
    return false;
  }

 protected:
  virtual ~RefCounted() = default;
  /// Lets go of what the object owns while weak handles still hold its memory.
  virtual void release_resources() noexcept {}
  /// Node overrides this to free long chains without recursion.
  virtual void destroy() const noexcept { delete this; }

 private:
  mutable std::atomic<std::uint32_t> strong_{0};
  mutable std::atomic<std::uint32_t> weak_{0};
};

template <class T>
class IntrusivePtr {
 public:
  constexpr IntrusivePtr() noexcept = default;
  constexpr IntrusivePtr(std::nullptr_t) noexcept {}
  /// One more owner of an object that already has one.
  explicit IntrusivePtr(T* p) noexcept : p_(p) {
    if (p_) p_->retain();
  }
  IntrusivePtr(const IntrusivePtr& o) noexcept : IntrusivePtr(o.p_) {}
  IntrusivePtr(IntrusivePtr&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <class U>
  requires std::convertible_to<U*, T*> IntrusivePtr(const IntrusivePtr<U>& o)
  noexcept : IntrusivePtr(static_cast<T*>(o.get())) {}
  template <class U>
  requires std::convertible_to<U*, T*> IntrusivePtr(IntrusivePtr<U>&& o)
  noexcept : p_(o.detach()) {}
  ~IntrusivePtr() {
    if (p_) p_->release();
  }
  IntrusivePtr& operator=(IntrusivePtr o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }

  /// A handle that takes over a reference already counted.
  static IntrusivePtr take(T* p) noexcept {
    IntrusivePtr r;
    r.p_ = p;
    return r;
  }
  /// Gives the reference away without counting down.
  T* detach() noexcept { return std::exchange(p_, nullptr); }

  T* get() const noexcept { return p_; }
  T* operator->() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  friend bool operator==(const IntrusivePtr&, const IntrusivePtr&) = default;

 private:
  T* p_ = nullptr;
};

/// Watches an object without keeping its resources alive.
template <class T>
class WeakPtr {
 public:
  constexpr WeakPtr() noexcept = default;
  WeakPtr(const IntrusivePtr<T>& strong) noexcept : p_(strong.get()) {
    if (p_) p_->retain_weak();
  }
  WeakPtr(const WeakPtr& o) noexcept : p_(o.p_) {
    if (p_) p_->retain_weak();
  }
  WeakPtr(WeakPtr&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  ~WeakPtr() {
    if (p_) p_->release_weak();
  }
  WeakPtr& operator=(WeakPtr o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  /// The object, or null once its last strong handle is gone.
  IntrusivePtr<T> lock() const noexcept { return p_ && p_->try_retain() ? IntrusivePtr<T>::take(p_) : nullptr; }

 private:
  T* p_ = nullptr;
};

/// Makes a T with one `new`; the handle is its only owner.
template <class T, class... A>
IntrusivePtr<T> make_intrusive(A&&... a) {
  T* p = new T(std::forward<A>(a)...);
  p->adopt();
  return IntrusivePtr<T>::take(p);
}

}  // namespace taper
