#pragma once
// How a kernel tells that a value it was given is wrong, without making the host wait: the first finding of a device is
// kept, and thrown the next time that the host waits for the device. See host/findings.h.
#include <cstdint>

namespace taper::cuda_kernels {

/// Who looks. In the order of kWatchers in host/findings.cpp.
enum class Watcher : std::int32_t {
  index,
  index_put,
  index_select,  // from here on negative positions are out of range
  index_add,
  index_add_,
  index_copy,
  index_copy_,
  gather,
  scatter,
  scatter_add,
  scatter_reduce,
  embedding,
  bernoulli,
  cross_entropy,
  nll_loss,
  values,  // of what, says the text of that number
};

struct Finding {
  std::int64_t position;
  double number;
  std::int64_t size;  // of the dim
  std::int32_t dim;   // or the number of a text
  Watcher watcher;
  std::int32_t there;  // 1: this is a finding
};

/// Where a kernel puts what it finds.
struct Watch {
  unsigned* taken;   // of the device: 1 when something has been found
  Finding* finding;  // of the host
  Watcher watcher;
  std::int32_t dim;
};

}  // namespace taper::cuda_kernels
