#pragma once
// The kernels behind every running result; see scan.h. A line that is cut into chunks is walked twice: for what each
// chunk comes to, and again from what all chunks before it came to.
#include "launch.cuh"
#include "scan.h"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kScanThreads = 256;

struct ScanPart {
  std::int64_t at[3];
  std::uint32_t begin, end;
  __device__ ScanPart(const Scan& s, std::uint32_t i) {
    const std::uint32_t chunk = s.line_count.divide(i);
    s.lines.find(i - chunk * s.line_count.divisor, at);
    begin = chunk * s.chunk_length;
    end = min(begin + s.chunk_length, s.n);
  }
};

template <class Op>
__global__ void scan_totals(const Scan s, const Op op) {
  const std::uint32_t parts = s.line_count.divisor * s.chunks;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < parts; i += gridDim.x * blockDim.x) {
    const ScanPart part(s, i);
    typename Op::Acc acc = op.start();
    for (std::uint32_t k = part.begin; k < part.end; ++k) acc = op.both(acc, op.entry(part.at, k));
    static_cast<typename Op::Acc*>(s.partials)[i] = acc;
  }
}
/// Each total becomes what came before it.
template <class Op>
__global__ void scan_starts(const Scan s, const Op op) {
  const std::uint32_t lines = s.line_count.divisor;
  auto* const partials = static_cast<typename Op::Acc*>(s.partials);
  for (std::uint32_t line = blockIdx.x * blockDim.x + threadIdx.x; line < lines; line += gridDim.x * blockDim.x) {
    typename Op::Acc before = op.start();
    for (std::uint32_t c = 0; c < s.chunks; ++c) {
      const typename Op::Acc here = partials[c * lines + line];
      partials[c * lines + line] = before;
      before = op.both(before, here);
    }
  }
}
template <class Op>
__global__ void scan_lines(const Scan s, const Op op) {
  const std::uint32_t parts = s.line_count.divisor * s.chunks;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < parts; i += gridDim.x * blockDim.x) {
    const ScanPart part(s, i);
    typename Op::Acc acc = s.chunks > 1 ? static_cast<const typename Op::Acc*>(s.partials)[i] : op.start();
    for (std::uint32_t k = part.begin; k < part.end; ++k) {
      acc = op.both(acc, op.entry(part.at, k));
      op.store(part.at, k, acc);
    }
  }
}

}  // namespace

template <class Op>
void scan_loop(const Queue& queue, const Scan& s, const Op& op) {
  const unsigned blocks = blocks_for(queue, std::uint64_t(s.line_count.divisor) * s.chunks, kScanThreads);
  if (s.chunks > 1) {
    launch(queue, "a running result", blocks, kScanThreads, 0, scan_totals<Op>, s, op);
    launch(queue, "a running result", blocks_for(queue, s.line_count.divisor, kScanThreads), kScanThreads, 0,
           scan_starts<Op>, s, op);
  }
  launch(queue, "a running result", blocks, kScanThreads, 0, scan_lines<Op>, s, op);
}

}  // namespace taper::cuda_kernels
