#pragma once
#include <taper/int_span.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

namespace taper {

/// Shape and strides of one tensor, kept together because they always change together.
/// Ranks up to kInline need no heap memory. Strides are in elements.
class SizesAndStrides {
 public:
  static constexpr int kInline = 5;

  SizesAndStrides() = default;
  SizesAndStrides(IntSpan sizes, IntSpan strides) {
    resize(sizes.size());
    for (int d = 0; d < rank_; ++d) data()[d] = sizes[std::size_t(d)], data()[rank_ + d] = strides[std::size_t(d)];
  }
  /// Row-major strides.
  static SizesAndStrides contiguous(IntSpan sizes) {
    SizesAndStrides s;
    s.resize(sizes.size());
    std::int64_t step = 1;
    for (int d = s.rank_ - 1; d >= 0; --d) {
      const std::int64_t n = sizes[std::size_t(d)];
      s.data()[d] = n;
      s.data()[s.rank_ + d] = step;
      step = product(step, n > 1 ? n : 1);
    }
    return s;
  }
  /// A shape of `rank` dims of size 0 and stride 0, to be filled in through set().
  static SizesAndStrides of_rank(int rank) {
    SizesAndStrides s;
    s.resize(std::size_t(rank));
    return s;
  }

  SizesAndStrides(const SizesAndStrides& o) : inline_(o.inline_) {
    resize(std::size_t(o.rank_));
    if (heap_)
      for (int i = 0; i < 2 * rank_; ++i) heap_[std::size_t(i)] = o.heap_[std::size_t(i)];
  }
  SizesAndStrides(SizesAndStrides&& o) noexcept
      : heap_(std::move(o.heap_)), inline_(o.inline_), rank_(std::exchange(o.rank_, 0)) {}
  SizesAndStrides& operator=(SizesAndStrides o) noexcept {
    rank_ = o.rank_;
    inline_ = o.inline_;
    heap_ = std::move(o.heap_);
    return *this;
  }

  int rank() const noexcept { return rank_; }
  IntSpan sizes() const noexcept { return {data(), std::size_t(rank_)}; }
  IntSpan strides() const noexcept { return {data() + rank_, std::size_t(rank_)}; }
  void set(int d, std::int64_t size, std::int64_t stride) noexcept {
    data()[d] = size;
    data()[rank_ + d] = stride;
  }
  /// Product of the sizes; 1 for rank 0.
  std::int64_t numel() const noexcept {
    std::int64_t n = 1;
    for (int d = 0; d < rank_; ++d) n = product(n, data()[d]);
    return n;
  }

  friend bool operator==(const SizesAndStrides& a, const SizesAndStrides& b) {
    return a.sizes() == b.sizes() && a.strides() == b.strides();
  }

 private:
  // Sizes beside a 0 may be as large as they like: the product of the others wraps, and nobody uses it.
  static std::int64_t product(std::int64_t a, std::int64_t b) {
    return std::int64_t(std::uint64_t(a) * std::uint64_t(b));
  }
  void resize(std::size_t rank) {
    rank_ = int(rank);
    if (rank_ > kInline) heap_ = std::make_unique<std::int64_t[]>(2 * rank);
  }
  std::int64_t* data() noexcept { return heap_ ? heap_.get() : inline_.data(); }
  const std::int64_t* data() const noexcept { return heap_ ? heap_.get() : inline_.data(); }

  std::unique_ptr<std::int64_t[]> heap_;            // sizes then strides, rank > kInline only
  std::array<std::int64_t, 2 * kInline> inline_{};  // sizes then strides
  int rank_ = 0;
};

}  // namespace taper
