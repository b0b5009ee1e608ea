#pragma once
// Two-dimensional pooling and its gradients on raw memory.
#include <cstdint>

namespace taper::cpu_kernels {

/// What a pooling works on: x [n, c, h, w] to y [n, c, out_h, out_w], contiguous in one of two orders.
/// The output size is the caller's (ceil mode changes nothing else); padding is below half the window.
struct Pool2dShape {
  std::int64_t n = 0, c = 0, h = 0, w = 0;
  std::int64_t out_h = 0, out_w = 0;
  std::int64_t kh = 1, kw = 1;
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t pad_h = 0, pad_w = 0;
  std::int64_t dilation_h = 1, dilation_w = 1;  // max pooling only
  bool channels_last = false;                   // memory order [n, h, w, c]
};

/// y and where each maximum stands. Padding never wins; of equal values the first does; NaN wins over numbers.
///
/// Index is std::int64_t: row * w + column within the image, as PyTorch counts; or std::uint8_t: the place within the
/// window, row * kw + column, for windows of at most 256. T is float or double.
template <class T, class Index>
void max_pool2d_forward(const Pool2dShape& s, const T* x, T* y, Index* index);

/// dx = the sums of dy at the places in `index`, zero elsewhere.
template <class T, class Index>
void max_pool2d_backward(const Pool2dShape& s, const T* dy, const Index* index, T* dx);

/// How a sum over a window becomes an average: by divisor_override if it is not 0, else by the number of elements
/// under the window, with or without those of the padding.
struct AvgPool2dDivisor {
  bool count_include_pad = true;
  std::int64_t divisor_override = 0;
};

template <class T>
void avg_pool2d_forward(const Pool2dShape& s, const AvgPool2dDivisor& divisor, const T* x, T* y);

template <class T>
void avg_pool2d_backward(const Pool2dShape& s, const AvgPool2dDivisor& divisor, const T* dy, T* dx);

}  // namespace taper::cpu_kernels
