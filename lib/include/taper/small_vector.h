#pragma once
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>

namespace taper {

/// A vector whose first N elements need no heap memory: edges of a node, gradients of a call, specs of its outputs.
template <class T, std::size_t N>
class SmallVector {
 public:
  SmallVector() = default;
  explicit SmallVector(std::size_t n) { resize(n); }
  SmallVector(std::initializer_list<T> l) {
    reserve(l.size());
    for (const T& v : l) push_back(v);
  }
  SmallVector(const SmallVector& o) {
    reserve(o.size_);
    for (const T& v : o) push_back(v);
  }
  SmallVector(SmallVector&& o) noexcept { steal(o); }
  SmallVector& operator=(SmallVector o) noexcept {
    release();
    steal(o);
    return *this;
  }
  ~SmallVector() { release(); }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return heap_ ? heap_ : inline_data(); }
  const T* data() const noexcept { return heap_ ? heap_ : inline_data(); }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  T& back() noexcept { return data()[size_ - 1]; }

  void reserve(std::size_t n) {
    if (n > capacity_) grow(n);
  }
  void push_back(T v) {
    if (size_ == capacity_) grow(2 * capacity_);
    ::new (static_cast<void*>(data() + size_)) T(std::move(v));
    ++size_;
  }
  void resize(std::size_t n) {
    reserve(n);
    while (size_ < n) ::new (static_cast<void*>(data() + size_++)) T();
    while (size_ > n) data()[--size_].~T();
  }
  void clear() noexcept {
    while (size_ > 0) data()[--size_].~T();
  }

 private:
  T* inline_data() noexcept { return reinterpret_cast<T*>(inline_); }
  const T* inline_data() const noexcept { return reinterpret_cast<const T*>(inline_); }
  // Out of line: the rare case, and inlined it makes GCC 12 warn of an overflow that cannot happen.
  [[gnu::noinline]] void grow(std::size_t n) {
    T* bigger = std::allocator<T>().allocate(n);
    T* from = data();
    for (std::size_t i = 0; i < size_; ++i) {
      ::new (static_cast<void*>(bigger + i)) T(std::move(from[i]));
      from[i].~T();
    }
    if (heap_) std::allocator<T>().deallocate(heap_, capacity_);
    heap_ = bigger, capacity_ = n;
  }
  void release() noexcept {
    clear();
    if (heap_) std::allocator<T>().deallocate(heap_, capacity_);
    heap_ = nullptr, capacity_ = N;
  }
  /// Takes o's elements; this one must be empty and without heap memory.
  void steal(SmallVector& o) noexcept {
    if (o.heap_) {
      heap_ = std::exchange(o.heap_, nullptr);
      size_ = std::exchange(o.size_, 0);
      capacity_ = std::exchange(o.capacity_, N);
      return;
    }
    for (; size_ < o.size_; ++size_) ::new (static_cast<void*>(inline_data() + size_)) T(std::move(o[size_]));
    o.clear();
  }

  T* heap_ = nullptr;
  std::size_t size_ = 0, capacity_ = N;
  alignas(T) unsigned char inline_[N * sizeof(T)];
};

}  // namespace taper
