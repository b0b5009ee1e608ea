#include "positions.cuh"
#include "values.h"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;

template <class T>
__global__ void find_outside_kernel(const Watch watch, std::uint32_t n, const T* x, double low, double high) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const double v = x[i];
    if (!(v >= low && v <= high)) tell(watch, 0, v, 0);
  }
}

}  // namespace

template <class T>
void find_outside(const Queue& queue, const Watch& watch, std::uint32_t n, const T* x, double low, double high) {
  launch(queue, "expect_between", blocks_for(queue, n, kThreads), kThreads, 0, find_outside_kernel<T>, watch, n, x, low,
         high);
}

template void find_outside(const Queue&, const Watch&, std::uint32_t, const float*, double, double);
template void find_outside(const Queue&, const Watch&, std::uint32_t, const double*, double, double);

}  // namespace taper::cuda_kernels
