#pragma once
// What kernels have found wrong in the values that they were given; see cuda/finding.h.
#include <string_view>

#include "cuda/finding.h"
#include "device.h"

namespace taper::cuda_kernels {

/// An operator of the list, by its name.
Watcher watcher_named(std::string_view op);
/// For a kernel that runs on this device.
Watch watch(const OnDevice& on, Watcher watcher, std::int64_t dim = 0);
/// After waiting: throws what has been found on the device that is current, if anything has; each finding once.
void throw_findings(DeviceState& device);

}  // namespace taper::cuda_kernels
