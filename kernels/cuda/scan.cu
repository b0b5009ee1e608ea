#include "scan.cuh"
#include "scan_ops.h"

namespace taper::cuda_kernels {

template void scan_loop(const Queue&, const Scan&, const RunningSum<std::int32_t>&);
template void scan_loop(const Queue&, const Scan&, const RunningSum<std::int64_t>&);
template void scan_loop(const Queue&, const Scan&, const RunningSum<float>&);
template void scan_loop(const Queue&, const Scan&, const RunningSum<double>&);
template void scan_loop(const Queue&, const Scan&, const RunningProduct<std::int32_t>&);
template void scan_loop(const Queue&, const Scan&, const RunningProduct<std::int64_t>&);
template void scan_loop(const Queue&, const Scan&, const RunningProduct<float>&);
template void scan_loop(const Queue&, const Scan&, const RunningProduct<double>&);
template void scan_loop(const Queue&, const Scan&, const RunningLogSumExp<float>&);
template void scan_loop(const Queue&, const Scan&, const RunningLogSumExp<double>&);
template void scan_loop(const Queue&, const Scan&, const RunningExtreme<std::int32_t, true>&);
template void scan_loop(const Queue&, const Scan&, const RunningExtreme<std::int64_t, true>&);
template void scan_loop(const Queue&, const Scan&, const RunningExtreme<float, true>&);
template void scan_loop(const Queue&, const Scan&, const RunningExtreme<double, true>&);
template void scan_loop(const Queue&, const Scan&, const RunningExtreme<std::int32_t, false>&);
template void scan_loop(const Queue&, const Scan&, const RunningExtreme<std::int64_t, false>&);
template void scan_loop(const Queue&, const Scan&, const RunningExtreme<float, false>&);
template void scan_loop(const Queue&, const Scan&, const RunningExtreme<double, false>&);
template void scan_loop(const Queue&, const Scan&, const RunningRecurrence<float>&);
template void scan_loop(const Queue&, const Scan&, const RunningRecurrence<double>&);

}  // namespace taper::cuda_kernels
