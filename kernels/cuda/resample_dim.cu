#include "launch.cuh"
#include "resample_dim.h"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;

template <class T>
__global__ void resample_kernel(const ResampleShape s, const std::int64_t* begins, const std::int64_t* places,
                                const T* weights, const T* x, T* y) {
  for (std::uint32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < s.count; k += gridDim.x * blockDim.x) {
    const std::uint32_t row = s.inner.divide(k), column = k - row * s.inner.divisor;
    const std::uint32_t outer = s.out.divide(row), i = row - outer * s.out.divisor;
    const T* const from = x + std::int64_t(outer) * s.in * s.inner.divisor + column;
    T sum = 0;
    for (std::int64_t t = begins[i]; t < begins[i + 1]; ++t) sum += weights[t] * from[places[t] * s.inner.divisor];
    y[k] = sum;
  }
}

}  // namespace

template <class T>
void resample_dim(const Queue& queue, const ResampleShape& s, const std::int64_t* begins, const std::int64_t* places,
                  const T* weights, const T* x, T* y) {
  launch(queue, "interpolate", blocks_for(queue, s.count, kThreads), kThreads, 0, resample_kernel<T>, s, begins, places,
         weights, x, y);
}

template void resample_dim(const Queue&, const ResampleShape&, const std::int64_t*, const std::int64_t*, const float*,
                           const float*, float*);
template void resample_dim(const Queue&, const ResampleShape&, const std::int64_t*, const std::int64_t*, const double*,
                           const double*, double*);

}  // namespace taper::cuda_kernels
