#include <taper/ops/fn.h>

#include <type_traits>

#include "combine.h"
#include "positions.cuh"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;

__global__ void position_keys_kernel(const Walk<1> walk, const Positions positions, std::uint32_t* keys) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < walk.count; i += gridDim.x * blockDim.x) {
    std::int64_t at[1];
    walk.find(i, at);
    const std::int64_t position = position_at(positions, at[0]);
    keys[i] = position < 0 ? kNowhere : std::uint32_t(position);
  }
}

template <class T>
__device__ __forceinline__ T combined(Combining kind, T a, T b) {
  switch (kind) {
    case Combining::multiply:
      return fn::Mul{}(a, b);
    case Combining::largest:
      return fn::Maximum{}(a, b);
    case Combining::smallest:
      return fn::Minimum{}(a, b);
    default:
      return fn::Add{}(a, b);
  }
}
/// Rounded down for whole numbers.
template <class T>
__device__ __forceinline__ T share_of(T sum, std::uint32_t n) {
  if constexpr (std::is_floating_point_v<T>)
    return sum / T(n);
  else if constexpr (std::is_signed_v<T>)
    return T(std::int64_t(sum) / n - (std::int64_t(sum) % n < 0));
  else
    return T(std::uint64_t(sum) / n);
}

template <class T>
__global__ void combine_kernel(const Walk<3> walk, const Combine c, T* to, const T* from) {
  const std::uint32_t count = walk.count * c.n;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const std::uint32_t entry = c.elements.divide(i);
    std::int64_t at[3];
    walk.find(i - entry * c.elements.divisor, at);
    const std::uint32_t* const keys = c.keys + at[2];
    const std::uint32_t* const order = c.order + at[2];
    const std::uint32_t key = keys[entry];
    if (key == kNowhere || (entry > 0 && keys[entry - 1] == key))
      continue;  // nowhere, or not the first that goes there
    T* const target = to + at[0] + (c.places ? c.places[order[entry]] : key * c.to_step);
    T result = from[at[1] + order[entry] * c.from_step];
    if (c.include_self) result = combined(c.kind, *target, result);
    std::uint32_t end = entry + 1;
    for (; end < c.n && keys[end] == key; ++end)
      result = combined(c.kind, result, from[at[1] + order[end] * c.from_step]);
    const std::uint32_t met = end - entry + (c.include_self ? 1 : 0);
    *target = c.mean && met > 1 ? share_of(result, met) : result;
  }
}

}  // namespace

void position_keys(const Queue& queue, const Walk<1>& walk, const Positions& positions, std::uint32_t* keys) {
  launch(queue, "positions to sort", blocks_for(queue, walk.count, kThreads), kThreads, 0, position_keys_kernel, walk,
         positions, keys);
}
template <class T>
void combine(const Queue& queue, const Walk<3>& walk, const Combine& c, T* to, const T* from) {
  launch(queue, "adding at positions", blocks_for(queue, std::uint64_t(walk.count) * c.n, kThreads), kThreads, 0,
         combine_kernel<T>, walk, c, to, from);
}

template void combine(const Queue&, const Walk<3>&, const Combine&, bool*, const bool*);
template void combine(const Queue&, const Walk<3>&, const Combine&, std::uint8_t*, const std::uint8_t*);
template void combine(const Queue&, const Walk<3>&, const Combine&, std::int32_t*, const std::int32_t*);
template void combine(const Queue&, const Walk<3>&, const Combine&, std::int64_t*, const std::int64_t*);
template void combine(const Queue&, const Walk<3>&, const Combine&, float*, const float*);
template void combine(const Queue&, const Walk<3>&, const Combine&, double*, const double*);

}  // namespace taper::cuda_kernels
