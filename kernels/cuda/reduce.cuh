#pragma once
// The kernels behind every reduction; see reduce.h. A .cu file lists operations,
// `template void reduce_loop(const Queue&, const Reduction&, const Sum<float, float>&);`, and with that has their
// kernels.
#include "launch.cuh"
#include "reduce.h"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kReduceThreads = 256;

/// What one result's elements and its place start from.
struct ReducePlace {
  std::int64_t in = 0, out = 0;
};
__device__ __forceinline__ ReducePlace place_of(const Reduction& r, std::uint32_t result) {
  ReducePlace place;
  for (int d = 0; d < r.kept_rank; ++d) {
    const std::uint32_t outer = r.kept[d].size.divide(result);
    const std::int64_t at = result - outer * r.kept[d].size.divisor;
    place.in += at * r.kept[d].stride;
    place.out += at * r.kept[d].out_stride;
    result = outer;
  }
  return place;
}
__device__ __forceinline__ std::int64_t offset_of(const Reduction& r, std::uint32_t position) {
  if (r.reduced_rank == 1) return position * r.reduced[0].stride;
  std::int64_t offset = 0;
  for (int d = 0; d < r.reduced_rank; ++d) {
    const std::uint32_t outer = r.reduced[d].size.divide(position);
    offset += std::int64_t(position - outer * r.reduced[d].size.divisor) * r.reduced[d].stride;
    position = outer;
  }
  return offset;
}
template <class Op>
__device__ __forceinline__ typename Op::Acc reduce_range(const Reduction& r, const Op& op, const ReducePlace& place,
                                                         std::uint32_t begin, std::uint32_t end, std::uint32_t step) {
  const typename Op::In* in = static_cast<const typename Op::In*>(r.in) + place.in;
  typename Op::Acc acc = op.start();
  for (std::uint32_t i = begin; i < end; i += step) acc = op.add(acc, in[offset_of(r, i)], place.out, i);
  return acc;
}

/// A thread for each chunk of each result; neighbours work on neighbouring results.
template <class Op>
__global__ void reduce_by_threads(const Reduction r, const Op op) {
  const std::uint32_t work = r.results * r.chunks.divisor;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < work; i += gridDim.x * blockDim.x) {
    const std::uint32_t chunk = i / r.results, result = i - chunk * r.results;
    const std::uint32_t begin = chunk * r.chunk_length, end = min(begin + r.chunk_length, r.per_result);
    const ReducePlace place = place_of(r, result);
    const typename Op::Acc acc = reduce_range(r, op, place, begin, end, 1);
    if (r.chunks.divisor == 1)
      op.finish(place.out, acc);
    else
      static_cast<typename Op::Acc*>(r.partials)[i] = acc;
  }
}

/// A block for each chunk of each result.
template <class Op>
__global__ void reduce_by_blocks(const Reduction r, const Op op) {
  using Acc = typename Op::Acc;
  TAPER_SHARED(Acc, scratch, [kWarp]);
  const std::uint32_t work = r.results * r.chunks.divisor;
  for (std::uint32_t i = blockIdx.x; i < work; i += gridDim.x) {
    const std::uint32_t chunk = i / r.results, result = i - chunk * r.results;
    const std::uint32_t begin = chunk * r.chunk_length, end = min(begin + r.chunk_length, r.per_result);
    const ReducePlace place = place_of(r, result);
    const Acc mine = reduce_range(r, op, place, begin + threadIdx.x, end, blockDim.x);
    const Acc acc = block_combine(mine, scratch, [&op](Acc a, Acc b) { return op.combine(a, b); });
    if (threadIdx.x == 0) {
      if (r.chunks.divisor == 1)
        op.finish(place.out, acc);
      else
        static_cast<Acc*>(r.partials)[i] = acc;
    }
  }
}

template <class Op>
__global__ void finish_chunks(const Reduction r, const Op op) {
  const auto* partials = static_cast<const typename Op::Acc*>(r.partials);
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < r.results; i += gridDim.x * blockDim.x) {
    typename Op::Acc acc = partials[i];
    for (std::uint32_t c = 1; c < r.chunks.divisor; ++c) acc = op.combine(acc, partials[c * r.results + i]);
    op.finish(place_of(r, i).out, acc);
  }
}

}  // namespace

template <class Op>
void reduce_loop(const Queue& queue, const Reduction& r, const Op& op) {
  const std::uint32_t work = r.results * r.chunks.divisor;
  if (r.by_blocks)
    launch(queue, "a reduction", blocks_for(queue, work, 1), r.block_threads, 0, reduce_by_blocks<Op>, r, op);
  else
    launch(queue, "a reduction", blocks_for(queue, work, kReduceThreads), kReduceThreads, 0, reduce_by_threads<Op>, r,
           op);
  if (r.chunks.divisor > 1)
    launch(queue, "a reduction", blocks_for(queue, r.results, kReduceThreads), kReduceThreads, 0, finish_chunks<Op>, r,
           op);
}

}  // namespace taper::cuda_kernels
