#pragma once
// Convolutions, by one kernel for small ones and for groups of few channels, or as matrix products by way of columns.
//
// A column of the matrix of an image holds the taps of one window: the elements under it, of the channels of one group.
#include <cstdint>

#include "cuda/images.h"
#include "cuda/queue.h"

namespace taper::cuda_kernels {

struct Conv {
  Images x, y;  // of one order
  FastDiv groups, group_c, group_out_c, window, kernel_w, stride_h, stride_w;
  std::int32_t pad_h, pad_w, dilation_h, dilation_w;

  TAPER_HD std::uint32_t taps() const { return group_c.divisor * window.divisor; }
  std::uint32_t positions() const { return y.h.divisor * y.w.divisor; }
};

/// The matrices of some images one after the other, less than 2^31 elements.
struct Columns {
  enum class Order : std::uint32_t {
    images,     // [n, group, tap, position]
    taps,       // [group, tap, n, position]
    positions,  // [group, n, position, tap]
  };
  Order order;
  FastDiv images, taps, positions;
  std::uint32_t first_image;

  std::uint32_t count(const Conv& s) const {
    return images.divisor * s.groups.divisor * taps.divisor * positions.divisor;
  }
};
/// columns = the elements of x under the windows, zeros in the padding.
template <class T>
void gather_columns(const Queue& queue, const Conv& conv, const Columns& c, const T* x, T* columns);
/// dx = the sums of what the windows have for each element, of the images that the columns belong to.
template <class T>
void sum_columns(const Queue& queue, const Conv& conv, const Columns& c, const T* columns, T* dx);

// Weights are [out_c, group_c, kernel_h, kernel_w]; bias may be null.
template <class T>
void convolve(const Queue& queue, const Conv& conv, const T* x, const T* w, const T* bias, T* y);
template <class T>
void convolve_input_grad(const Queue& queue, const Conv& conv, const T* dy, const T* w, T* dx);
template <class T>
void convolve_weight_grad(const Queue& queue, const Conv& conv, std::uint32_t images, const T* x, const T* dy, T* dw);

}  // namespace taper::cuda_kernels
