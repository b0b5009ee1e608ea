#pragma once
// Numbers that a captured graph reads and the host writes between its replays.
#include <cstdint>

#include "cuda/queue.h"

namespace taper::cuda_kernels {

/// Writes `count` words of the host to the device, in stream order, without waiting: they travel as arguments.
void write_words(const Queue& queue, std::uint32_t* to, const std::uint32_t* words, std::uint32_t count);

}  // namespace taper::cuda_kernels
