#pragma once
// Pooling of images [n, c, h, w], contiguous in that order or with the channels last.
#include <cstdint>

#include "cuda/images.h"
#include "cuda/queue.h"

namespace taper::cuda_kernels {

struct Pool {
  Images in, out;  // of one order
  std::int32_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  // Of averages: by what a sum is divided if not 0, else by how many elements the window has, with or without padding.
  std::int64_t divisor;
  bool counts_padding;
};

/// The largest element under each window, and where it is: std::int64_t for row * w + column of the image, std::uint8_t
/// for row * kernel_w + column of the window.
template <class T, class Index>
void max_pool(const Queue& queue, const Pool& pool, const T* x, T* y, Index* index);
template <class T, class Index>
void max_pool_backward(const Queue& queue, const Pool& pool, const T* dy, const Index* index, T* dx);
/// y = x at the places.
template <class T, class Index>
void max_pool_at(const Queue& queue, const Pool& pool, const T* x, const Index* index, T* y);
template <class T>
void average_pool(const Queue& queue, const Pool& pool, const T* x, T* y);
template <class T>
void average_pool_backward(const Queue& queue, const Pool& pool, const T* dy, T* dx);

}  // namespace taper::cuda_kernels
