#include "conv.h"
#include "images.cuh"
#include "team.cuh"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;

struct ColumnPlace {
  std::uint32_t image, group, tap, position;
};
__device__ __forceinline__ ColumnPlace place_of(const Conv& s, const Columns& k, std::uint32_t i) {
  ColumnPlace p;
  const auto digit = [&](const FastDiv& size) {  // the last one of what is left of i
    const std::uint32_t outer = size.divide(i), value = i - outer * size.divisor;
    i = outer;
    return value;
  };
  switch (k.order) {
    case Columns::Order::images:
      p.position = digit(k.positions), p.tap = digit(k.taps), p.group = digit(s.groups), p.image = i;
      break;
    case Columns::Order::taps:
      p.position = digit(k.positions), p.image = digit(k.images), p.tap = digit(k.taps), p.group = i;
      break;
    default:
      p.tap = digit(k.taps), p.position = digit(k.positions), p.image = digit(k.images), p.group = i;
  }
  return p;
}
__device__ __forceinline__ std::uint32_t index_of(const Conv& s, const Columns& k, const ColumnPlace& p) {
  const std::uint32_t taps = k.taps.divisor, positions = k.positions.divisor;
  switch (k.order) {
    case Columns::Order::images:
      return ((p.image * s.groups.divisor + p.group) * taps + p.tap) * positions + p.position;
    case Columns::Order::taps:
      return ((p.group * taps + p.tap) * k.images.divisor + p.image) * positions + p.position;
    default:
      return ((p.group * k.images.divisor + p.image) * positions + p.position) * taps + p.tap;
  }
}

template <class T>
__global__ void elements_under_windows(const Conv s, const Columns k, std::uint32_t count, const T* x, T* columns) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const ColumnPlace p = place_of(s, k, i);
    const std::uint32_t channel = s.window.divide(p.tap), tap = p.tap - channel * s.window.divisor;
    const std::uint32_t ky = s.kernel_w.divide(tap), kx = tap - ky * s.kernel_w.divisor;
    const std::uint32_t oy = s.y.w.divide(p.position), ox = p.position - oy * s.y.w.divisor;
    const std::int32_t row = std::int32_t(oy * s.stride_h.divisor + ky * std::uint32_t(s.dilation_h)) - s.pad_h;
    const std::int32_t column = std::int32_t(ox * s.stride_w.divisor + kx * std::uint32_t(s.dilation_w)) - s.pad_w;
    const bool is_inside =
        row >= 0 && row < std::int32_t(s.x.h.divisor) && column >= 0 && column < std::int32_t(s.x.w.divisor);
    const Pixel from{k.first_image + p.image, p.group * s.group_c.divisor + channel, 0, 0};
    columns[i] = is_inside ? x[plane_of(s.x, from).at(row, column)] : T(0);
  }
}

/// Along one dimension: calls f(tap, position) for the windows that have element `at` under them.
template <class F>
__device__ __forceinline__ void for_taps(std::int32_t at, std::uint32_t taps, std::uint32_t positions,
                                         const FastDiv& stride, std::int32_t pad, std::int32_t dilation, const F& f) {
  for (std::uint32_t tap = 0; tap < taps; ++tap) {
    const std::int32_t reach = at + pad - std::int32_t(tap) * dilation;
    if (reach < 0) break;
    const std::uint32_t position = stride.divide(std::uint32_t(reach));
    if (position < positions && position * stride.divisor == std::uint32_t(reach)) f(tap, position);
  }
}

template <class T>
__global__ void sums_over_windows(const Conv s, const Columns k, std::uint32_t count, const T* columns, T* dx) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const Pixel at = pixel_of(s.x, i);
    ColumnPlace p;
    p.image = at.n;
    p.group = s.group_c.divide(at.c);
    const std::uint32_t channel = at.c - p.group * s.group_c.divisor;
    const std::uint32_t kernel_h = s.kernel_w.divide(s.window.divisor);
    T sum = 0;
    for_taps(at.y, kernel_h, s.y.h.divisor, s.stride_h, s.pad_h, s.dilation_h, [&](std::uint32_t ky, std::uint32_t oy) {
      for_taps(at.x, s.kernel_w.divisor, s.y.w.divisor, s.stride_w, s.pad_w, s.dilation_w,
               [&](std::uint32_t kx, std::uint32_t ox) {
                 p.tap = channel * s.window.divisor + ky * s.kernel_w.divisor + kx;
                 p.position = oy * s.y.w.divisor + ox;
                 sum += columns[index_of(s, k, p)];
               });
    });
    dx[i] = sum;
  }
}

// ---- Without matrices
// ------------------------------------------------------------------------------------------------

/// A thread for each element of y.
template <class T>
__global__ void sums_of_products(const Conv s, const T* x, const T* w, const T* bias, T* y) {
  const std::int32_t h = std::int32_t(s.x.h.divisor), width = std::int32_t(s.x.w.divisor);
  const std::uint32_t kernel_h = s.kernel_w.divide(s.window.divisor);
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < s.y.count; i += gridDim.x * blockDim.x) {
    const Pixel at = pixel_of(s.y, i);
    const std::uint32_t first = s.group_out_c.divide(at.c) * s.group_c.divisor;
    const std::int32_t top = at.y * std::int32_t(s.stride_h.divisor) - s.pad_h;
    const std::int32_t left = at.x * std::int32_t(s.stride_w.divisor) - s.pad_w;
    const T* taps = w + std::int64_t(at.c) * s.taps();
    T sum = bias == nullptr ? T(0) : bias[at.c];
    for (std::uint32_t c = 0; c < s.group_c.divisor; ++c) {
      const Plane image = plane_of(s.x, {at.n, first + c, 0, 0});
      for (std::uint32_t ky = 0; ky < kernel_h; ++ky) {
        const std::int32_t row = top + std::int32_t(ky) * s.dilation_h;
        for (std::uint32_t kx = 0; kx < s.kernel_w.divisor; ++kx, ++taps) {
          const std::int32_t column = left + std::int32_t(kx) * s.dilation_w;
          if (row >= 0 && row < h && column >= 0 && column < width) sum += x[image.at(row, column)] * *taps;
        }
      }
    }
    y[i] = sum;
  }
}

/// A thread for each element of dx.
template <class T>
__global__ void input_gradients(const Conv s, const T* dy, const T* w, T* dx) {
  const std::uint32_t kernel_h = s.kernel_w.divide(s.window.divisor);
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < s.x.count; i += gridDim.x * blockDim.x) {
    const Pixel at = pixel_of(s.x, i);
    const std::uint32_t group = s.group_c.divide(at.c), channel = at.c - group * s.group_c.divisor;
    T sum = 0;
    for (std::uint32_t o = group * s.group_out_c.divisor; o < (group + 1) * s.group_out_c.divisor; ++o) {
      const Plane result = plane_of(s.y, {at.n, o, 0, 0});
      const T* taps = w + (std::int64_t(o) * s.group_c.divisor + channel) * s.window.divisor;
      for_taps(
          at.y, kernel_h, s.y.h.divisor, s.stride_h, s.pad_h, s.dilation_h, [&](std::uint32_t ky, std::uint32_t row) {
            for_taps(at.x, s.kernel_w.divisor, s.y.w.divisor, s.stride_w, s.pad_w, s.dilation_w,
                     [&](std::uint32_t kx, std::uint32_t column) {
                       sum +=
                           dy[result.at(std::int32_t(row), std::int32_t(column))] * taps[ky * s.kernel_w.divisor + kx];
                     });
          });
    }
    dx[i] = sum;
  }
}

/// A team for each weight: the sum over images and positions.
template <class T, class Weights>
__global__ void weight_gradients(const Conv s, const FastDiv positions, std::uint32_t images, const T* x, const T* dy,
                                 T* dw) {
  TAPER_SHARED(double, scratch, [kWarp]);
  const std::int32_t h = std::int32_t(s.x.h.divisor), width = std::int32_t(s.x.w.divisor);
  const std::uint32_t weights = s.y.c.divisor * s.taps(), all = images * positions.divisor;
  for (std::int64_t i = Weights::first(); i < weights; i += Weights::step()) {
    const std::uint32_t filter = s.window.divide(std::uint32_t(i)), tap = std::uint32_t(i) - filter * s.window.divisor;
    const std::uint32_t o = s.group_c.divide(filter), channel = filter - o * s.group_c.divisor;
    const std::uint32_t c = s.group_out_c.divide(o) * s.group_c.divisor + channel;
    const std::int32_t ky = std::int32_t(s.kernel_w.divide(tap)),
                       kx = std::int32_t(tap) - ky * std::int32_t(s.kernel_w.divisor);
    const std::int32_t top = ky * s.dilation_h - s.pad_h, left = kx * s.dilation_w - s.pad_w;
    double part = 0;
    for (std::uint32_t k = Weights::rank(); k < all; k += Weights::size) {
      const std::uint32_t n = positions.divide(k), position = k - n * positions.divisor;
      const std::uint32_t oy = s.y.w.divide(position), ox = position - oy * s.y.w.divisor;
      const std::int32_t row = top + std::int32_t(oy * s.stride_h.divisor);
      const std::int32_t column = left + std::int32_t(ox * s.stride_w.divisor);
      if (row < 0 || row >= h || column < 0 || column >= width) continue;
      part += double(x[plane_of(s.x, {n, c, 0, 0}).at(row, column)] *
                     dy[plane_of(s.y, {n, o, 0, 0}).at(std::int32_t(oy), std::int32_t(ox))]);
    }
    const double sum = Weights::sum(part, scratch);
    if (Weights::rank() == 0) dw[i] = T(sum);
  }
}

std::uint32_t elements_per_image(const Images& t) { return t.c.divisor * t.h.divisor * t.w.divisor; }

}  // namespace

template <class T>
void gather_columns(const Queue& queue, const Conv& s, const Columns& k, const T* x, T* columns) {
  const std::uint32_t count = k.count(s);
  launch(queue, "a convolution's columns", blocks_for(queue, count, kThreads), kThreads, 0, elements_under_windows<T>,
         s, k, count, x, columns);
}
template <class T>
void sum_columns(const Queue& queue, const Conv& s, const Columns& k, const T* columns, T* dx) {
  const std::uint32_t image = elements_per_image(s.x), count = k.images.divisor * image;
  launch(queue, "a convolution's columns", blocks_for(queue, count, kThreads), kThreads, 0, sums_over_windows<T>, s, k,
         count, columns, dx + std::int64_t(k.first_image) * image);
}

template <class T>
void convolve(const Queue& queue, const Conv& s, const T* x, const T* w, const T* bias, T* y) {
  launch(queue, "conv2d", blocks_for(queue, s.y.count, kThreads), kThreads, 0, sums_of_products<T>, s, x, w, bias, y);
}
template <class T>
void convolve_input_grad(const Queue& queue, const Conv& s, const T* dy, const T* w, T* dx) {
  launch(queue, "the gradient of conv2d", blocks_for(queue, s.x.count, kThreads), kThreads, 0, input_gradients<T>, s,
         dy, w, dx);
}
template <class T>
void convolve_weight_grad(const Queue& queue, const Conv& s, std::uint32_t images, const T* x, const T* dy, T* dw) {
  const std::int64_t weights = std::int64_t(s.y.c.divisor) * s.taps(), all = std::int64_t(images) * s.positions();
  const auto start = [&](auto team) {
    launch(queue, "the gradient of conv2d", blocks_for_team(queue, weights, team), kTeamThreads, 0,
           weight_gradients<T, decltype(team)>, s, FastDiv::by(s.positions()), images, x, dy, dw);
  };
  constexpr std::int64_t kMany = 2048, kLong = 4096;  // a warp for each weight fills a device
  if (weights >= kMany && all <= kLong)
    start(Team<kWarp>{});
  else
    with_team(weights, all, 1, start);
}

#define TAPER_CONVOLVE(T)                                                               \
  template void convolve(const Queue&, const Conv&, const T*, const T*, const T*, T*);  \
  template void convolve_input_grad(const Queue&, const Conv&, const T*, const T*, T*); \
  template void convolve_weight_grad(const Queue&, const Conv&, std::uint32_t, const T*, const T*, T*);
TAPER_CONVOLVE(float)
TAPER_CONVOLVE(double)
template void gather_columns(const Queue&, const Conv&, const Columns&, const float*, float*);
template void gather_columns(const Queue&, const Conv&, const Columns&, const double*, double*);
template void sum_columns(const Queue&, const Conv&, const Columns&, const float*, float*);
template void sum_columns(const Queue&, const Conv&, const Columns&, const double*, double*);

}  // namespace taper::cuda_kernels
