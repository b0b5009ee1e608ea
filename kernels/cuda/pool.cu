#include <limits>
#include <type_traits>

#include "images.cuh"
#include "pool.h"
#include "team.cuh"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = kTeamThreads;
constexpr std::int64_t kLargeWindow = 128;  // worth a warp
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T, class Index>
__global__ void largest_of_windows(const Pool s, const T* x, T* y, Index* index) {
  const std::int32_t h = std::int32_t(s.in.h.divisor), w = std::int32_t(s.in.w.divisor);
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < s.out.count; i += gridDim.x * blockDim.x) {
    const Pixel p = pixel_of(s.out, i);
    const Plane image = plane_of(s.in, p);
    const std::int32_t top = p.y * s.stride_h - s.pad_h, left = p.x * s.stride_w - s.pad_w;
    constexpr bool in_window = std::is_same_v<Index, std::uint8_t>;
    T best = T(-kInfinity);
    std::int64_t where = in_window ? 0 : -1;
    bool is_first = true;
    for (std::int32_t ky = 0; ky < s.kernel_h; ++ky) {
      const std::int32_t row = top + ky * s.dilation_h;
      if (row < 0 || row >= h) continue;
      for (std::int32_t kx = 0; kx < s.kernel_w; ++kx) {
        const std::int32_t column = left + kx * s.dilation_w;
        if (column < 0 || column >= w) continue;
        const T value = x[image.at(row, column)];
        if (is_first || value > best || value != value) {
          best = value;
          where = in_window ? ky * s.kernel_w + kx : std::int64_t(row) * w + column;
          is_first = false;
        }
      }
    }
    y[i] = best;
    index[i] = Index(where);
  }
}

/// Calls f(window, tap) for the windows along one dimension that have element `at` under them.
template <class F>
__device__ __forceinline__ void for_windows(std::int32_t at, std::int32_t windows, std::int32_t kernel,
                                            std::int32_t stride, std::int32_t pad, std::int32_t dilation, const F& f) {
  const std::int32_t place = at + pad, reach = place - (kernel - 1) * dilation;
  const std::int32_t first = reach > 0 ? (reach + stride - 1) / stride : 0;
  for (std::int32_t i = first; i < windows && i * stride <= place; ++i) {
    const std::int32_t offset = place - i * stride;
    if (dilation == 1)
      f(i, offset);
    else if (offset % dilation == 0)
      f(i, offset / dilation);
  }
}

/// Each element looks which windows have chosen it: in a fixed order, without atomics.
template <class T, class Index>
__global__ void spread_to_largest(const Pool s, const T* dy, const Index* index, T* dx) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < s.in.count; i += gridDim.x * blockDim.x) {
    const Pixel p = pixel_of(s.in, i);
    const Plane result = plane_of(s.out, p);
    const std::int64_t place = std::int64_t(p.y) * s.in.w.divisor + p.x;
    T sum = 0;
    for_windows(p.y, std::int32_t(s.out.h.divisor), s.kernel_h, s.stride_h, s.pad_h, s.dilation_h,
                [&](std::int32_t row, std::int32_t ky) {
                  for_windows(p.x, std::int32_t(s.out.w.divisor), s.kernel_w, s.stride_w, s.pad_w, s.dilation_w,
                              [&](std::int32_t column, std::int32_t kx) {
                                const std::uint32_t at = result.at(row, column);
                                const std::int64_t mine =
                                    std::is_same_v<Index, std::uint8_t> ? ky * s.kernel_w + kx : place;
                                if (std::int64_t(index[at]) == mine) sum += dy[at];
                              });
                });
    dx[i] = sum;
  }
}

template <class T, class Index>
__global__ void elements_at(const Pool s, const T* x, const Index* index, T* y) {
  const std::int32_t h = std::int32_t(s.in.h.divisor), w = std::int32_t(s.in.w.divisor);
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < s.out.count; i += gridDim.x * blockDim.x) {
    const Pixel p = pixel_of(s.out, i);
    const std::int64_t place = std::int64_t(index[i]);
    std::int32_t row, column;
    if (std::is_same_v<Index, std::uint8_t>) {
      const std::int32_t tap = std::int32_t(place), ky = tap / s.kernel_w;
      row = p.y * s.stride_h - s.pad_h + ky * s.dilation_h;
      column = p.x * s.stride_w - s.pad_w + (tap - ky * s.kernel_w) * s.dilation_w;
    } else {
      row = place < 0 ? -1 : std::int32_t(place / w);
      column = std::int32_t(place - std::int64_t(row) * w);
    }
    // A window that saw only padding has chosen nothing.
    y[i] = row >= 0 && row < h && column >= 0 && column < w ? x[plane_of(s.in, p).at(row, column)] : T(0);
  }
}

/// The part of the image under one window, and what its sum is divided by. There is always one: padding is at most half
/// a window, and no window begins behind the image.
template <class T>
struct Window {
  std::int32_t top, bottom, left, right;
  T divisor;

  __device__ __forceinline__ Window(const Pool& s, std::int32_t y, std::int32_t x) {
    const std::int32_t h = std::int32_t(s.in.h.divisor), w = std::int32_t(s.in.w.divisor);
    top = y * s.stride_h - s.pad_h, left = x * s.stride_w - s.pad_w;
    bottom = min(top + s.kernel_h, h + s.pad_h), right = min(left + s.kernel_w, w + s.pad_w);
    const std::int64_t with_padding = std::int64_t(bottom - top) * (right - left);
    top = max(top, 0), left = max(left, 0), bottom = min(bottom, h), right = min(right, w);
    const std::int64_t inside = std::int64_t(bottom - top) * (right - left);
    divisor = T(s.divisor != 0 ? s.divisor : s.counts_padding ? with_padding : inside);
  }
};

template <class T, class Windows>
__global__ void averages(const Pool s, const T* x, T* y) {
  for (std::int64_t i = Windows::first(); i < s.out.count; i += Windows::step()) {
    const Pixel p = pixel_of(s.out, std::uint32_t(i));
    const Plane image = plane_of(s.in, p);
    const Window<T> w(s, p.y, p.x);
    T sum = 0;
    if (Windows::size == 1) {
      for (std::int32_t row = w.top; row < w.bottom; ++row)
        for (std::int32_t column = w.left; column < w.right; ++column) sum += x[image.at(row, column)];
    } else {
      const std::int32_t width = w.right - w.left, count = (w.bottom - w.top) * width;
      for (std::int32_t k = std::int32_t(Windows::rank()); k < count; k += std::int32_t(Windows::size))
        sum += x[image.at(w.top + k / width, w.left + k % width)];
    }
    sum = Windows::combine(sum, static_cast<T*>(nullptr), [](T a, T b) { return a + b; });
    if (Windows::rank() == 0) y[i] = sum / w.divisor;
  }
}

template <class T>
__global__ void spread_averages(const Pool s, const T* dy, T* dx) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < s.in.count; i += gridDim.x * blockDim.x) {
    const Pixel p = pixel_of(s.in, i);
    const Plane result = plane_of(s.out, p);
    T sum = 0;
    for_windows(p.y, std::int32_t(s.out.h.divisor), s.kernel_h, s.stride_h, s.pad_h, 1,
                [&](std::int32_t row, std::int32_t) {
                  for_windows(p.x, std::int32_t(s.out.w.divisor), s.kernel_w, s.stride_w, s.pad_w, 1,
                              [&](std::int32_t column, std::int32_t) {
                                sum += dy[result.at(row, column)] / Window<T>(s, row, column).divisor;
                              });
                });
    dx[i] = sum;
  }
}

}  // namespace

template <class T, class Index>
void max_pool(const Queue& queue, const Pool& s, const T* x, T* y, Index* index) {
  launch(queue, "max_pool2d", blocks_for(queue, s.out.count, kThreads), kThreads, 0, largest_of_windows<T, Index>, s, x,
         y, index);
}
template <class T, class Index>
void max_pool_backward(const Queue& queue, const Pool& s, const T* dy, const Index* index, T* dx) {
  launch(queue, "max_pool2d_backward", blocks_for(queue, s.in.count, kThreads), kThreads, 0,
         spread_to_largest<T, Index>, s, dy, index, dx);
}
template <class T, class Index>
void max_pool_at(const Queue& queue, const Pool& s, const T* x, const Index* index, T* y) {
  launch(queue, "max_pool2d_at", blocks_for(queue, s.out.count, kThreads), kThreads, 0, elements_at<T, Index>, s, x,
         index, y);
}
template <class T>
void average_pool(const Queue& queue, const Pool& s, const T* x, T* y) {
  const auto with = [&](auto team) {
    launch(queue, "avg_pool2d", blocks_for_team(queue, s.out.count, team), kThreads, 0, averages<T, decltype(team)>, s,
           x, y);
  };
  if (std::int64_t(s.kernel_h) * s.kernel_w >= kLargeWindow)
    with(Team<kWarp>{});
  else
    with(Team<1>{});
}
template <class T>
void average_pool_backward(const Queue& queue, const Pool& s, const T* dy, T* dx) {
  launch(queue, "avg_pool2d_backward", blocks_for(queue, s.in.count, kThreads), kThreads, 0, spread_averages<T>, s, dy,
         dx);
}

#define TAPER_MAX_POOL(T, I)                                                          \
  template void max_pool(const Queue&, const Pool&, const T*, T*, I*);                \
  template void max_pool_backward(const Queue&, const Pool&, const T*, const I*, T*); \
  template void max_pool_at(const Queue&, const Pool&, const T*, const I*, T*);
TAPER_MAX_POOL(float, std::uint8_t)
TAPER_MAX_POOL(float, std::int64_t)
TAPER_MAX_POOL(double, std::uint8_t)
TAPER_MAX_POOL(double, std::int64_t)
template void average_pool(const Queue&, const Pool&, const float*, float*);
template void average_pool(const Queue&, const Pool&, const double*, double*);
template void average_pool_backward(const Queue&, const Pool&, const float*, float*);
template void average_pool_backward(const Queue&, const Pool&, const double*, double*);

}  // namespace taper::cuda_kernels
