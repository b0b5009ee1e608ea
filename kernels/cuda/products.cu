#include "launch.cuh"
#include "products.h"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;

// Products from the left and from the right meet at each element: no division, so zeros are no special case. Element i
// of result r is at i * results + r, so that neighbouring threads read neighbours.
template <class T>
__global__ void others(const Others o, const T* x, T* out) {
  for (std::uint32_t r = blockIdx.x * blockDim.x + threadIdx.x; r < o.results; r += gridDim.x * blockDim.x) {
    double product = 1;
    for (std::uint32_t i = 0; i < o.n; ++i) {
      const std::int64_t at = std::int64_t(i) * o.results + r;
      o.left[at] = product;
      product *= double(x[at]);
    }
    product = 1;
    for (std::uint32_t i = o.n; i-- > 0;) {
      const std::int64_t at = std::int64_t(i) * o.results + r;
      out[at] = T(o.left[at] * product);
      product *= double(x[at]);
    }
  }
}

}  // namespace

template <class T>
void products_of_others(const Queue& queue, const Others& o, const T* x, T* out) {
  launch(queue, "prod_of_others", blocks_for(queue, o.results, kThreads), kThreads, 0, others<T>, o, x, out);
}

template void products_of_others(const Queue&, const Others&, const float*, float*);
template void products_of_others(const Queue&, const Others&, const double*, double*);

}  // namespace taper::cuda_kernels
