#pragma once
// What the direct kernels share: images with their padding written out, and loops over tiles.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "conv2d.h"
#include "scratch.h"
#include "transpose.h"
#include "vec.h"

namespace taper::cpu_kernels {

/// Calls f(std::integral_constant<int, n>) for 1 <= n <= Max.
template <int Max, class F>
[[gnu::always_inline]] inline void with_constant(int n, const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    static_cast<void>(((n == I + 1 ? (f(std::integral_constant<int, I + 1>{}), true) : false) || ...));
  }
  (std::make_integer_sequence<int, Max>{});
}

/// Calls f(begin, size) for parts of nearly equal size, none above `most`, that make up [0, count).
template <class F>
[[gnu::always_inline]] inline void for_even_parts(std::int64_t count, int most, const F& f) {
  const std::int64_t parts = (count + most - 1) / most;
  for (std::int64_t k = 0, begin = 0; k < parts; ++k) {
    const std::int64_t size = (count - begin + parts - k - 1) / (parts - k);
    f(begin, static_cast<int>(size));
    begin += size;
  }
}

inline void copy_row(const float* from, std::int64_t count, float* to) {
  constexpr int L = kLanes<float>;
  std::int64_t i = 0;
  for (; i + L <= count; i += L) store(to + i, load(from + i));
  if (i < count) store_first(to + i, load_first(from + i, static_cast<int>(count - i)), static_cast<int>(count - i));
}

/// One image of one group as a direct kernel reads it: element (c, y, x) of the padded image is at
/// data[c * c_step + y * y_step + x * x_step]. Padding may be negative, which leaves out a border.
class PaddedImage {
 public:
  enum class Order { planes, like_input };

  PaddedImage(const Conv2dShape& s, Order order) : s_(s), to_planes_(order == Order::planes || !s.channels_last) {
    height_ = (s.out_h - 1) * s.stride_h + (s.kh - 1) * s.dilation_h + 1;
    width_ = (s.out_w - 1) * s.stride_w + (s.kw - 1) * s.dilation_w + 1;
    // Positions are read in whole vectors, so planes need a copy with room behind it.
    copies_ = order == Order::planes || s.pad_h != 0 || s.pad_w != 0;
    if (copies_ && to_planes_)
      x_step = 1, y_step = width_, c_step = height_ * width_;
    else if (copies_)
      c_step = 1, x_step = s.group_c(), y_step = width_ * x_step;
    else if (s.channels_last)
      c_step = 1, x_step = s.c, y_step = s.w * s.c;
    else
      x_step = 1, y_step = s.w, c_step = s.h * s.w;
  }

  std::int64_t c_step, y_step, x_step;

  /// Elements of the memory that fill() needs; 0 if the image can be read where it is.
  std::int64_t scratch_size() const { return copies_ ? s_.group_c() * height_ * width_ + 2 * kLanes<float> : 0; }

  /// The place of each of the taps [group_c, kh, kw] relative to a position's first.
  void tap_offsets(std::int64_t* offsets) const {
    for (std::int64_t c = 0; c < s_.group_c(); ++c)
      for (std::int64_t ky = 0; ky < s_.kh; ++ky)
        for (std::int64_t kx = 0; kx < s_.kw; ++kx)
          *offsets++ = c * c_step + ky * s_.dilation_h * y_step + kx * s_.dilation_w * x_step;
  }

  /// Once for a scratch: zeros, of which fill() leaves the padding.
  void clear(float* scratch) const { std::fill_n(scratch, scratch_size(), 0.f); }

  /// The image of group g that starts at x, with padding: in scratch, or x itself.
  const float* fill(const float* x, std::int64_t g, float* scratch) const {
    const std::int64_t gc = s_.group_c();
    x += s_.channels_last ? g * gc : g * gc * s_.h * s_.w;
    if (!copies_) return x;
    const std::int64_t top = std::max<std::int64_t>(0, -s_.pad_h), left = std::max<std::int64_t>(0, -s_.pad_w);
    const std::int64_t bottom = std::min(s_.h, height_ - s_.pad_h), right = std::min(s_.w, width_ - s_.pad_w);
    const std::int64_t count = right - left;
    if (count <= 0) return scratch;
    if (!s_.channels_last) {
      for (std::int64_t c = 0; c < gc; ++c)
        for (std::int64_t y = top; y < bottom; ++y)
          copy_row(x + (c * s_.h + y) * s_.w + left, count, scratch + c * c_step + place(y, left));
    } else if (to_planes_) {
      for (std::int64_t y = top; y < bottom; ++y)
        transpose(count, gc, x + (y * s_.w + left) * s_.c, s_.c, scratch + place(y, left), c_step);
    } else {
      for (std::int64_t y = top; y < bottom; ++y) {
        const float* from = x + (y * s_.w + left) * s_.c;
        float* to = scratch + place(y, left);
        if (s_.groups == 1)
          copy_row(from, count * gc, to);
        else
          for (std::int64_t i = 0; i < count; ++i) copy_row(from + i * s_.c, gc, to + i * gc);
      }
    }
    return scratch;
  }

 private:
  std::int64_t place(std::int64_t y, std::int64_t x) const { return (y + s_.pad_h) * y_step + (x + s_.pad_w) * x_step; }

  Conv2dShape s_;
  bool to_planes_, copies_;
  std::int64_t height_, width_;
};

}  // namespace taper::cpu_kernels
