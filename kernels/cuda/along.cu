#include "along.h"
#include "launch.cuh"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;

template <class T, bool place>
__global__ void move_along(const Along a, T* to, const std::int64_t* index, const T* from) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < a.count; i += gridDim.x * blockDim.x) {
    std::int64_t moved = 0, at = 0, fixed = 0;
    std::uint32_t rest = i;
    for (int d = 0; d < a.rank; ++d) {
      const std::uint32_t outer = a.dim[d].size.divide(rest);
      const std::int64_t place_in_dim = rest - outer * a.dim[d].size.divisor;
      moved += place_in_dim * a.dim[d].moved;
      at += place_in_dim * a.dim[d].index;
      fixed += place_in_dim * a.dim[d].fixed;
      rest = outer;
    }
    moved += index[at] * a.step;
    if constexpr (place)
      to[moved] = from[fixed];
    else
      to[fixed] = from[moved];
  }
}

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
void place_elements(const Queue& queue, const Along& along, T* placed, const std::int64_t* index, const T* from) {
  launch(queue, "place_along", blocks_for(queue, along.count, kThreads), kThreads, 0, move_along<T, true>, along,
         placed, index, from);
}
template <class T>
void take_elements(const Queue& queue, const Along& along, T* to, const std::int64_t* index, const T* x) {
  launch(queue, "take_along", blocks_for(queue, along.count, kThreads), kThreads, 0, move_along<T, false>, along, to,
         index, x);
}
template <class T>
void products_of_others(const Queue& queue, const Others& o, const T* x, T* out) {
  launch(queue, "prod_of_others", blocks_for(queue, o.results, kThreads), kThreads, 0, others<T>, o, x, out);
}

// Elements are moved by size.
template void place_elements(const Queue&, const Along&, std::uint8_t*, const std::int64_t*, const std::uint8_t*);
template void place_elements(const Queue&, const Along&, std::uint16_t*, const std::int64_t*, const std::uint16_t*);
template void place_elements(const Queue&, const Along&, std::int32_t*, const std::int64_t*, const std::int32_t*);
template void place_elements(const Queue&, const Along&, std::int64_t*, const std::int64_t*, const std::int64_t*);
template void take_elements(const Queue&, const Along&, std::uint8_t*, const std::int64_t*, const std::uint8_t*);
template void take_elements(const Queue&, const Along&, std::uint16_t*, const std::int64_t*, const std::uint16_t*);
template void take_elements(const Queue&, const Along&, std::int32_t*, const std::int64_t*, const std::int32_t*);
template void take_elements(const Queue&, const Along&, std::int64_t*, const std::int64_t*, const std::int64_t*);
template void products_of_others(const Queue&, const Others&, const float*, float*);
template void products_of_others(const Queue&, const Others&, const double*, double*);

}  // namespace taper::cuda_kernels
