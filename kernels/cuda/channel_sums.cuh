#pragma once
// Sums over channels, in parts that do not depend on the device's timing. `Op` says what is added, and what becomes of
// the sums:
//   ChannelSums of(c, i, start) const     for element i of a channel that begins at `start`
//   void finish(c, sums) const
#include "batch_norm.h"
#include "launch.cuh"

namespace taper::cuda_kernels {

inline constexpr unsigned kSumThreads = 256, kSumWarps = kSumThreads / kWarp;

__device__ __forceinline__ ChannelSums both(ChannelSums a, ChannelSums b) {
  return {a.first + b.first, a.second + b.second};
}

template <class Op>
__device__ __forceinline__ void keep(const Op& op, std::uint32_t channels, std::uint32_t c, ChannelSums all,
                                     ChannelSums* sums) {
  if (gridDim.y == 1)
    op.finish(c, all);
  else
    sums[blockIdx.y * channels + c] = all;
}

/// Channels that are planes, a block for each part of one.
template <class Op>
__global__ void sums_of_planes(const BatchNormShape s, std::uint32_t part, const Op op, ChannelSums* sums) {
  TAPER_SHARED(ChannelSums, scratch, [kWarp]);
  const std::uint32_t c = blockIdx.x, n = s.n * s.l.divisor;
  const std::uint32_t end = min(n, (blockIdx.y + 1) * part);
  ChannelSums mine{0, 0};
  for (std::uint32_t k = blockIdx.y * part + threadIdx.x; k < end; k += blockDim.x) {
    const std::uint32_t image = s.l.divide(k);
    mine = both(mine, op.of(c, (image * s.c.divisor + c) * s.l.divisor + k - image * s.l.divisor, c * s.l.divisor));
  }
  const ChannelSums all = block_combine(mine, scratch, both);
  if (threadIdx.x == 0) keep(op, s.c.divisor, c, all, sums);
}

/// Channels that are columns: a warp reads a row of 32 of them.
template <class Op>
__global__ void sums_of_columns(const BatchNormShape s, std::uint32_t part, const Op op, ChannelSums* sums) {
  TAPER_SHARED(ChannelSums, scratch, [kSumWarps][kWarp]);
  const std::uint32_t lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, n = s.n * s.l.divisor;
  const std::uint32_t c = blockIdx.x * kWarp + lane, end = min(n, (blockIdx.y + 1) * part);
  ChannelSums mine{0, 0};
  if (c < s.c.divisor)
    for (std::uint32_t k = blockIdx.y * part + warp; k < end; k += kSumWarps)
      mine = both(mine, op.of(c, k * s.c.divisor + c, c));
  scratch[warp][lane] = mine;
  __syncthreads();
  if (warp != 0 || c >= s.c.divisor) return;
  for (unsigned w = 1; w < kSumWarps; ++w) mine = both(mine, scratch[w][lane]);
  keep(op, s.c.divisor, c, mine, sums);
}

template <class Op>
__global__ void finish_channels(std::uint32_t channels, std::uint32_t parts, const Op op, const ChannelSums* sums) {
  const std::uint32_t c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= channels) return;
  ChannelSums all = sums[c];
  for (std::uint32_t p = 1; p < parts; ++p) all = both(all, sums[p * channels + c]);
  op.finish(c, all);
}

inline bool are_columns(const BatchNormShape& s) { return s.channels_last || s.l.divisor == 1; }

inline unsigned blocks_for_channels(const BatchNormShape& s) {
  return are_columns(s) ? (s.c.divisor + kWarp - 1) / kWarp : s.c.divisor;
}

template <class Op>
void sum_channels(const Queue& queue, const BatchNormShape& s, const Op& op, ChannelSums* sums) {
  const std::uint32_t n = s.per_channel(), wanted = batch_norm_parts(queue, s), part = (n + wanted - 1) / wanted;
  const std::uint32_t parts = (n + part - 1) / part;
  launch(queue, "batch_norm", dim3(blocks_for_channels(s), parts), kSumThreads, 0,
         are_columns(s) ? sums_of_columns<Op> : sums_of_planes<Op>, s, part, op, sums);
  if (parts > 1)
    launch(queue, "batch_norm", (s.c.divisor + kSumThreads - 1) / kSumThreads, kSumThreads, 0, finish_channels<Op>,
           s.c.divisor, parts, op, sums);
}

}  // namespace taper::cuda_kernels
