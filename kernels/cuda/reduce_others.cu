// all, any, count_nonzero, logsumexp.
#include "reduce.cuh"
#include "reduce_ops.h"

namespace taper::cuda_kernels {

template void reduce_loop(const Queue&, const Reduction&, const Truth<bool>&);
template void reduce_loop(const Queue&, const Reduction&, const Truth<std::uint8_t>&);
template void reduce_loop(const Queue&, const Reduction&, const Truth<std::int32_t>&);
template void reduce_loop(const Queue&, const Reduction&, const Truth<std::int64_t>&);
template void reduce_loop(const Queue&, const Reduction&, const Truth<float>&);
template void reduce_loop(const Queue&, const Reduction&, const Truth<double>&);
template void reduce_loop(const Queue&, const Reduction&, const Count<bool>&);
template void reduce_loop(const Queue&, const Reduction&, const Count<std::uint8_t>&);
template void reduce_loop(const Queue&, const Reduction&, const Count<std::int32_t>&);
template void reduce_loop(const Queue&, const Reduction&, const Count<std::int64_t>&);
template void reduce_loop(const Queue&, const Reduction&, const Count<float>&);
template void reduce_loop(const Queue&, const Reduction&, const Count<double>&);
template void reduce_loop(const Queue&, const Reduction&, const LogSumExp<float>&);
template void reduce_loop(const Queue&, const Reduction&, const LogSumExp<double>&);

}  // namespace taper::cuda_kernels
