#pragma once
// What kernels have found wrong in the values that they were given; see cuda/finding.h.
#include "cuda/finding.h"
#include "device.h"

namespace taper::cuda_kernels {

/// For a kernel that runs on this device.
Watch watch(const OnDevice& on, Watcher watcher, std::int64_t dim = 0);
/// After waiting: throws what has been found on the device that is current, if anything has; each finding once.
void throw_findings(DeviceState& device);

}  // namespace taper::cuda_kernels
