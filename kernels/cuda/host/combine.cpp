#include "combine.h"

#include <taper/operator.h>

#include <bit>

#include "elementwise.h"

namespace taper::cuda_kernels {

SortedLines sort_positions(const OnDevice& on, const char* op, const Positions& positions, IntSpan sizes,
                           const IntVec& strides, std::int64_t lines, std::int64_t n, std::int64_t size) {
  check<NotImplementedError>(size < kMostCounted, op, ": positions among ", size,
                             " are more than kernels of cuda tell apart; work on parts");
  const Tensor keys = empty(TensorSpec::contiguous({lines, n}, int32, Device(DeviceType::CUDA, on.state().index())));
  position_keys(on.queue(), walk_over<1>(op, sizes, {strides}), positions, elements<std::uint32_t>(keys));
  // One bit more than positions need, for the key of what is nowhere.
  return sort_lines(on, keys, lines, n, std::bit_width(std::uint64_t(size)));
}

void combine_in_order(const OnDevice& on, const char* op, const Tensor& out, const Tensor& values, IntSpan sizes,
                      std::array<IntVec, 3> strides, const SortedLines& lines, const CombineOptions& o) {
  for (std::int64_t& s : strides[2]) s *= lines.n;
  const Walk<3> walk = walk_over<3>(op, sizes, strides);
  check<NotImplementedError>(std::int64_t(walk.count) * lines.n <= kMostCounted, op, ": ", walk.count, " lines of ",
                             lines.n, " elements are more than kernels of cuda count; work on parts");
  const Combine c{elements<const std::uint32_t>(lines.keys),
                  elements<const std::uint32_t>(lines.order),
                  o.places,
                  FastDiv::by(walk.count),
                  std::uint32_t(lines.n),
                  o.to_step,
                  o.from_step,
                  o.kind,
                  o.include_self,
                  o.mean};
  dispatch_served(out.dtype(), op,
                  [&]<class T>(Type<T>) { combine(on.queue(), walk, c, elements<T>(out), elements<const T>(values)); });
}

}  // namespace taper::cuda_kernels
