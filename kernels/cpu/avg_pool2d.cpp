#include <algorithm>

#include "parallel.h"
#include "pool2d.h"
#include "pool2d_pairs.h"
#include "scratch.h"
#include "vec.h"

namespace taper::cpu_kernels {
namespace {

/// The part of the image under one window, and the number its sum is divided by.
template <class T>
struct Window {
  std::int64_t top, bottom, left, right;
  T divisor;

  Window(const Pool2dShape& s, const AvgPool2dDivisor& d, std::int64_t i, std::int64_t j) {
    top = i * s.stride_h - s.pad_h, left = j * s.stride_w - s.pad_w;
    bottom = std::min(top + s.kh, s.h + s.pad_h), right = std::min(left + s.kw, s.w + s.pad_w);
    const std::int64_t with_padding = (bottom - top) * (right - left);
    top = std::max<std::int64_t>(top, 0), left = std::max<std::int64_t>(left, 0);
    bottom = std::min(bottom, s.h), right = std::min(right, s.w);
    const std::int64_t inside = (bottom - top) * (right - left);
    divisor = static_cast<T>(d.divisor_override != 0 ? d.divisor_override
                             : d.count_include_pad   ? with_padding
                                                     : inside);
  }
  bool is_empty() const { return top >= bottom || left >= right; }
};

/// Sums of more elements than this are sums in double of such sums, for the rounding's sake.
constexpr std::int64_t kBlock = 64;

template <class T>
T sum_of(const Window<T>& w, const T* x, std::int64_t step) {
  const auto sum = [x, step](std::int64_t row, std::int64_t begin, std::int64_t end, T start) {
    for (std::int64_t col = begin; col < end; ++col) start += x[row * step + col];
    return start;
  };
  if ((w.bottom - w.top) * (w.right - w.left) <= kBlock) {
    T total = 0;
    for (std::int64_t row = w.top; row < w.bottom; ++row) total = sum(row, w.left, w.right, total);
    return total;
  }
  double total = 0;
  for (std::int64_t row = w.top; row < w.bottom; ++row)
    for (std::int64_t begin = w.left; begin < w.right; begin += kBlock)
      total += sum(row, begin, std::min(begin + kBlock, w.right), T(0));
  return T(total);
}

template <class T>
void forward_plane(const Pool2dShape& s, const AvgPool2dDivisor& d, const T* x, T* y) {
  for (std::int64_t i = 0; i < s.out_h; ++i)
    for (std::int64_t j = 0; j < s.out_w; ++j) {
      const Window<T> w(s, d, i, j);
      *y++ = w.is_empty() ? T(0) : sum_of(w, x, s.w) / w.divisor;
    }
}

template <class T>
void backward_plane(const Pool2dShape& s, const AvgPool2dDivisor& d, const T* dy, T* dx) {
  std::fill_n(dx, s.h * s.w, T(0));
  for (std::int64_t i = 0; i < s.out_h; ++i)
    for (std::int64_t j = 0; j < s.out_w; ++j, ++dy) {
      const Window<T> w(s, d, i, j);
      if (w.is_empty()) continue;
      const T share = *dy / w.divisor;
      for (std::int64_t row = w.top; row < w.bottom; ++row)
        for (std::int64_t col = w.left; col < w.right; ++col) dx[row * s.w + col] += share;
    }
}

template <class T>
void forward_two_by_two(const Pool2dShape& s, const AvgPool2dDivisor& d, const T* x, T* y) {
  constexpr int L = kLanes<T>;
  constexpr auto lanes = std::make_index_sequence<L>{};
  const T divisor = static_cast<T>(d.divisor_override != 0 ? d.divisor_override : 4);
  for (std::int64_t i = 0; i < s.out_h; ++i, y += s.out_w)
    for (std::int64_t j = 0; j < s.out_w; j += L) {
      const int count = static_cast<int>(std::min<std::int64_t>(L, s.out_w - j));
      const T* upper = x + 2 * i * s.w + 2 * j;
      Vec<T> a, b, c, e;
      load_pairs(upper, count, a, b);
      load_pairs(upper + s.w, count, c, e);
      // In the order of the plain loops, so that both give the same bits.
      const Vec<T> sum = every_second<0>(a, b, lanes) + every_second<1>(a, b, lanes) + every_second<0>(c, e, lanes) +
                         every_second<1>(c, e, lanes);
      if (count == L)
        store(y + j, sum / divisor);
      else
        store_first(y + j, sum / divisor, count);
    }
}

template <class T>
void backward_two_by_two(const Pool2dShape& s, const AvgPool2dDivisor& d, const T* dy, T* dx) {
  constexpr int L = kLanes<T>;
  constexpr auto lanes = std::make_index_sequence<L>{};
  const T divisor = static_cast<T>(d.divisor_override != 0 ? d.divisor_override : 4);
  for (std::int64_t i = 0; i < s.out_h; ++i, dy += s.out_w) {
    T* upper = dx + 2 * i * s.w;
    T* lower = upper + s.w;
    for (std::int64_t j = 0; j < s.out_w; j += L) {
      const int count = static_cast<int>(std::min<std::int64_t>(L, s.out_w - j));
      const Vec<T> share = (count == L ? load(dy + j) : load_first(dy + j, count)) / divisor;
      const Vec<T> left = in_turn<0>(share, share, lanes), right = in_turn<L / 2>(share, share, lanes);
      store_pairs(upper + 2 * j, count, left, right);
      store_pairs(lower + 2 * j, count, left, right);
    }
    std::fill(upper + 2 * s.out_w, lower, T(0));
    std::fill(lower + 2 * s.out_w, lower + s.w, T(0));
  }
  std::fill(dx + 2 * s.out_h * s.w, dx + s.h * s.w, T(0));
}

template <class T>
void forward_channels(const Pool2dShape& s, const Window<T>& w, const T* x, T* y) {
  std::fill_n(y, s.c, T(0));
  if (w.is_empty()) return;
  const auto add = [c = s.c](auto* to, const T* from) {
    for (std::int64_t i = 0; i < c; ++i) to[i] += from[i];
  };
  if ((w.bottom - w.top) * (w.right - w.left) <= kBlock) {
    for (std::int64_t row = w.top; row < w.bottom; ++row)
      for (std::int64_t col = w.left; col < w.right; ++col) add(y, x + (row * s.w + col) * s.c);
  } else {  // in the order of sum_of()
    const Scratch<double> total(s.c);
    std::fill_n(total.data(), s.c, 0.);
    for (std::int64_t row = w.top; row < w.bottom; ++row)
      for (std::int64_t begin = w.left; begin < w.right; begin += kBlock) {
        std::fill_n(y, s.c, T(0));
        for (std::int64_t col = begin; col < std::min(begin + kBlock, w.right); ++col)
          add(y, x + (row * s.w + col) * s.c);
        add(total.data(), y);
      }
    for (std::int64_t c = 0; c < s.c; ++c) y[c] = T(total[c]);
  }
  for (std::int64_t c = 0; c < s.c; ++c) y[c] /= w.divisor;
}

template <class T>
void backward_image_channels(const Pool2dShape& s, const AvgPool2dDivisor& d, const T* dy, T* dx) {
  std::fill_n(dx, s.h * s.w * s.c, T(0));
  for (std::int64_t i = 0; i < s.out_h; ++i)
    for (std::int64_t j = 0; j < s.out_w; ++j, dy += s.c) {
      const Window<T> w(s, d, i, j);
      if (w.is_empty()) continue;
      for (std::int64_t row = w.top; row < w.bottom; ++row)
        for (std::int64_t col = w.left; col < w.right; ++col) {
          T* to = dx + (row * s.w + col) * s.c;
          for (std::int64_t c = 0; c < s.c; ++c) to[c] += dy[c] / w.divisor;
        }
    }
}

}  // namespace

template <class T>
void avg_pool2d_forward(const Pool2dShape& s, const AvgPool2dDivisor& divisor, const T* x, T* y) {
  const std::int64_t in = s.h * s.w, out = s.out_h * s.out_w;
  if (s.channels_last) {
    parallel_for(0, s.n * s.out_h, grain_for(s.out_w * s.c * s.kh * s.kw), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t j = 0; j < s.out_w; ++j)
          forward_channels(s, Window<T>(s, divisor, row % s.out_h, j), x + row / s.out_h * in * s.c,
                           y + (row * s.out_w + j) * s.c);
    });
    return;
  }
  const auto plane = is_two_by_two(s) ? forward_two_by_two<T> : forward_plane<T>;
  parallel_for(0, s.n * s.c, grain_for(out * s.kh * s.kw), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) plane(s, divisor, x + p * in, y + p * out);
  });
}

template <class T>
void avg_pool2d_backward(const Pool2dShape& s, const AvgPool2dDivisor& divisor, const T* dy, T* dx) {
  const std::int64_t in = s.h * s.w, out = s.out_h * s.out_w;
  const auto plane = s.channels_last    ? backward_image_channels<T>
                     : is_two_by_two(s) ? backward_two_by_two<T>
                                        : backward_plane<T>;
  const std::int64_t width = s.channels_last ? s.c : 1;  // planes that are handled together
  parallel_for(0, s.n * s.c / std::max<std::int64_t>(width, 1), grain_for(out * s.kh * s.kw * width),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t p = begin; p < end; ++p)
                   plane(s, divisor, dy + p * out * width, dx + p * in * width);
               });
}

template void avg_pool2d_forward<float>(const Pool2dShape&, const AvgPool2dDivisor&, const float*, float*);
template void avg_pool2d_forward<double>(const Pool2dShape&, const AvgPool2dDivisor&, const double*, double*);
template void avg_pool2d_backward<float>(const Pool2dShape&, const AvgPool2dDivisor&, const float*, float*);
template void avg_pool2d_backward<double>(const Pool2dShape&, const AvgPool2dDivisor&, const double*, double*);

}  // namespace taper::cpu_kernels
