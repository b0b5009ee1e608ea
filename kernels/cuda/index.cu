#include "index.h"
#include "positions.cuh"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;

template <class T>
__global__ void take_kernel(const Walk<3> walk, const Positions positions, const std::int64_t step, T* to,
                            const T* from) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < walk.count; i += gridDim.x * blockDim.x) {
    std::int64_t at[3];
    walk.find(i, at);
    const std::int64_t position = position_at(positions, at[2]);
    to[at[0]] = position < 0 ? T{} : from[at[1] + position * step];
  }
}

__global__ void claim_kernel(const Walk<2> walk, const Positions positions, const Owners owners) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < walk.count; i += gridDim.x * blockDim.x) {
    std::int64_t at[2];
    walk.find(i, at);
    const std::int64_t position = position_at(positions, at[1]);
    if (position < 0) continue;
    const std::int64_t target = owners.targets ? owners.targets[at[1]] : at[0] + position * owners.step;
    atomicMax(owners.owner + target, std::int32_t(i) + 1);
  }
}

template <class T>
__global__ void replace_kernel(const Walk<5> walk, const Positions positions, const std::int64_t step,
                               const Owners owners, T* to, const T* from) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < walk.count; i += gridDim.x * blockDim.x) {
    std::int64_t at[5];
    walk.find(i, at);
    const std::int64_t position = position_at(positions, at[2]);
    if (position < 0) continue;
    if (owners.owner != nullptr) {
      const std::int64_t target = owners.targets ? owners.targets[at[2]] : at[3] + position * owners.step;
      if (owners.owner[target] != std::int32_t(at[4]) + 1) continue;
    }
    to[at[0] + position * step] = from[at[1]];
  }
}

__global__ void add_positions_kernel(const Walk<1> walk, const Positions positions, const bool first,
                                     const std::int64_t step, std::int64_t* places, std::int64_t* targets) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < walk.count; i += gridDim.x * blockDim.x) {
    std::int64_t at[1];
    walk.find(i, at);
    const std::int64_t position = position_at(positions, at[0]);
    const std::int64_t place = first ? 0 : places[i], target = first ? 0 : targets[i];
    const bool wrong = position < 0 || place < 0;
    places[i] = wrong ? -1 : place + position * step;
    targets[i] = wrong ? -1 : target * positions.size + position;
  }
}

__global__ void list_true_kernel(const Coordinates shape, const bool* mask, const std::int64_t* ends,
                                 std::int64_t* out) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < shape.count; i += gridDim.x * blockDim.x) {
    if (!mask[i]) continue;
    std::int64_t* const row = out + (ends[i] - 1) * shape.rank;
    std::uint32_t rest = i;
    for (int d = 0; d < shape.rank; ++d) {
      const std::uint32_t outer = shape.size[d].divide(rest);
      row[shape.rank - 1 - d] = rest - outer * shape.size[d].divisor;
      rest = outer;
    }
  }
}

template <class T>
__global__ void triangle_kernel(const Walk<1> walk, const Triangle shape, const T* x, T* out) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < walk.count; i += gridDim.x * blockDim.x) {
    std::int64_t at[1];
    walk.find(i, at);
    const std::uint32_t above = shape.columns.divide(i), column = i - above * shape.columns.divisor;
    const std::uint32_t row = above - shape.rows.divide(above) * shape.rows.divisor;
    const std::int64_t over = std::int64_t(column) - row;  // the diagonal that the element is on
    out[i] = (shape.lower ? over <= shape.diagonal : over >= shape.diagonal) ? x[at[0]] : T(0);
  }
}

unsigned blocks(const Queue& queue, std::uint32_t count) { return blocks_for(queue, count, kThreads); }

}  // namespace

template <class T>
void take(const Queue& queue, const Walk<3>& walk, const Positions& positions, std::int64_t step, T* to,
          const T* from) {
  launch(queue, "reading at positions", blocks(queue, walk.count), kThreads, 0, take_kernel<T>, walk, positions, step,
         to, from);
}
void claim(const Queue& queue, const Walk<2>& walk, const Positions& positions, const Owners& owners) {
  launch(queue, "writing at positions", blocks(queue, walk.count), kThreads, 0, claim_kernel, walk, positions, owners);
}
template <class T>
void replace(const Queue& queue, const Walk<5>& walk, const Positions& positions, std::int64_t step,
             const Owners& owners, T* to, const T* from) {
  launch(queue, "writing at positions", blocks(queue, walk.count), kThreads, 0, replace_kernel<T>, walk, positions,
         step, owners, to, from);
}
void add_positions(const Queue& queue, const Walk<1>& walk, const Positions& positions, bool first, std::int64_t step,
                   std::int64_t* places, std::int64_t* targets) {
  launch(queue, "positions of several dims", blocks(queue, walk.count), kThreads, 0, add_positions_kernel, walk,
         positions, first, step, places, targets);
}
void list_true(const Queue& queue, const Coordinates& shape, const bool* mask, const std::int64_t* ends,
               std::int64_t* out) {
  launch(queue, "nonzero", blocks(queue, shape.count), kThreads, 0, list_true_kernel, shape, mask, ends, out);
}
template <class T>
void triangle(const Queue& queue, const Walk<1>& walk, const Triangle& shape, const T* x, T* out) {
  launch(queue, "a triangle of a matrix", blocks(queue, walk.count), kThreads, 0, triangle_kernel<T>, walk, shape, x,
         out);
}

template void take(const Queue&, const Walk<3>&, const Positions&, std::int64_t, std::uint8_t*, const std::uint8_t*);
template void take(const Queue&, const Walk<3>&, const Positions&, std::int64_t, std::uint16_t*, const std::uint16_t*);
template void take(const Queue&, const Walk<3>&, const Positions&, std::int64_t, std::uint32_t*, const std::uint32_t*);
template void take(const Queue&, const Walk<3>&, const Positions&, std::int64_t, std::uint64_t*, const std::uint64_t*);
template void take(const Queue&, const Walk<3>&, const Positions&, std::int64_t, Sixteen*, const Sixteen*);
template void replace(const Queue&, const Walk<5>&, const Positions&, std::int64_t, const Owners&, Sixteen*,
                      const Sixteen*);
template void replace(const Queue&, const Walk<5>&, const Positions&, std::int64_t, const Owners&, std::uint8_t*,
                      const std::uint8_t*);
template void replace(const Queue&, const Walk<5>&, const Positions&, std::int64_t, const Owners&, std::uint16_t*,
                      const std::uint16_t*);
template void replace(const Queue&, const Walk<5>&, const Positions&, std::int64_t, const Owners&, std::uint32_t*,
                      const std::uint32_t*);
template void replace(const Queue&, const Walk<5>&, const Positions&, std::int64_t, const Owners&, std::uint64_t*,
                      const std::uint64_t*);
template void triangle(const Queue&, const Walk<1>&, const Triangle&, const std::uint8_t*, std::uint8_t*);
template void triangle(const Queue&, const Walk<1>&, const Triangle&, const std::uint16_t*, std::uint16_t*);
template void triangle(const Queue&, const Walk<1>&, const Triangle&, const std::uint32_t*, std::uint32_t*);
template void triangle(const Queue&, const Walk<1>&, const Triangle&, const std::uint64_t*, std::uint64_t*);

}  // namespace taper::cuda_kernels
