#pragma once
// Two-dimensional convolution (cross-correlation, as everybody's conv2d) and its gradients on raw memory.
#include <cstdint>

namespace taper::cpu_kernels {

/// What a convolution works on. Activations are contiguous in one of two orders, the same for x, y and their
/// gradients; weights are always [out_c, c / groups, kh, kw].
struct Conv2dShape {
  std::int64_t n = 0, c = 0, h = 0, w = 0;       // x [n, c, h, w]
  std::int64_t out_c = 0, out_h = 0, out_w = 0;  // y [n, out_c, out_h, out_w]
  std::int64_t kh = 1, kw = 1;                   // window
  std::int64_t stride_h = 1, stride_w = 1;       // at least 1
  std::int64_t pad_h = 0, pad_w = 0;             // zeros added at both ends, at least 0
  std::int64_t dilation_h = 1, dilation_w = 1;   // at least 1
  std::int64_t groups = 1;                       // divides c and out_c
  bool channels_last = false;                    // memory order [n, h, w, c] instead of [n, c, h, w]

  std::int64_t group_c() const { return c / groups; }
  std::int64_t group_out_c() const { return out_c / groups; }
  /// Length of one sum: a filter's taps over its channels.
  std::int64_t taps() const { return group_c() * kh * kw; }
  std::int64_t weight_count() const { return out_c * taps(); }
  std::int64_t positions() const { return out_h * out_w; }
  /// Multiply-adds for one image.
  std::int64_t image_work() const { return weight_count() * positions(); }
};

/// y = x * weight + bias; bias [out_c] may be null. T is float or double.
template <class T>
void conv2d_forward(const Conv2dShape& s, const T* x, const T* weight, const T* bias, T* y);

/// dx from dy: the adjoint of conv2d_forward in x. Writes every element of dx.
template <class T>
void conv2d_input_grad(const Conv2dShape& s, const T* dy, const T* weight, T* dx);

/// dweight and, if dbias [out_c] is not null, the sums of dy. Writes every element of both.
template <class T>
void conv2d_weight_grad(const Conv2dShape& s, const T* x, const T* dy, T* dweight, T* dbias);

}  // namespace taper::cpu_kernels
