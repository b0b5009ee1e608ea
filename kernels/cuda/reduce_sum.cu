// sum and mean, var and std, norm, prod.
#include "reduce.cuh"
#include "reduce_ops.h"

namespace taper::cuda_kernels {

template void reduce_loop(const Queue&, const Reduction&, const Sum<bool, std::int64_t>&);
template void reduce_loop(const Queue&, const Reduction&, const Sum<std::uint8_t, std::int64_t>&);
template void reduce_loop(const Queue&, const Reduction&, const Sum<std::int32_t, std::int64_t>&);
template void reduce_loop(const Queue&, const Reduction&, const Sum<std::int64_t, std::int64_t>&);
template void reduce_loop(const Queue&, const Reduction&, const Sum<float, float>&);
template void reduce_loop(const Queue&, const Reduction&, const Sum<double, double>&);
template void reduce_loop(const Queue&, const Reduction&, const Sum<float, double>&);
template void reduce_loop(const Queue&, const Reduction&, const SumOfSquares<float>&);
template void reduce_loop(const Queue&, const Reduction&, const SumOfSquares<double>&);
template void reduce_loop(const Queue&, const Reduction&, const Norm<float>&);
template void reduce_loop(const Queue&, const Reduction&, const Norm<double>&);
template void reduce_loop(const Queue&, const Reduction&, const Product<bool>&);
template void reduce_loop(const Queue&, const Reduction&, const Product<std::uint8_t>&);
template void reduce_loop(const Queue&, const Reduction&, const Product<std::int32_t>&);
template void reduce_loop(const Queue&, const Reduction&, const Product<std::int64_t>&);
template void reduce_loop(const Queue&, const Reduction&, const Product<float>&);
template void reduce_loop(const Queue&, const Reduction&, const Product<double>&);

}  // namespace taper::cuda_kernels
