// max, min, argmax, argmin. bool is ordered as its bytes are.
#include "reduce.cuh"
#include "reduce_ops.h"

namespace taper::cuda_kernels {

template void reduce_loop(const Queue&, const Reduction&, const Extreme<std::uint8_t, true>&);
template void reduce_loop(const Queue&, const Reduction&, const Extreme<std::int32_t, true>&);
template void reduce_loop(const Queue&, const Reduction&, const Extreme<std::int64_t, true>&);
template void reduce_loop(const Queue&, const Reduction&, const Extreme<float, true>&);
template void reduce_loop(const Queue&, const Reduction&, const Extreme<double, true>&);
template void reduce_loop(const Queue&, const Reduction&, const Extreme<std::uint8_t, false>&);
template void reduce_loop(const Queue&, const Reduction&, const Extreme<std::int32_t, false>&);
template void reduce_loop(const Queue&, const Reduction&, const Extreme<std::int64_t, false>&);
template void reduce_loop(const Queue&, const Reduction&, const Extreme<float, false>&);
template void reduce_loop(const Queue&, const Reduction&, const Extreme<double, false>&);

}  // namespace taper::cuda_kernels
