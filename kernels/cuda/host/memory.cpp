// The part of <taper/cuda.h> that is about memory.
#include <taper/cuda.h>
#include <taper/tensor.h>

#include <cstdio>

#include "blas.h"
#include "caching_allocator.h"
#include "device.h"
#include "pinned_allocator.h"

namespace taper::cuda {
namespace {

cuda_kernels::CachingAllocator& allocator_of(int device) {
  return cuda_kernels::device_state(device < 0 ? current_device() : device).allocator();
}

std::string row(const char* what, double value, const char* unit) {
  char text[80];
  std::snprintf(text, sizeof text, "%-28s %14.1f %s\n", what, value, unit);
  return text;
}

}  // namespace

MemoryStats memory_stats(int device) { return is_available() ? allocator_of(device).stats() : MemoryStats{}; }
std::size_t memory_allocated(int device) { return memory_stats(device).allocated; }
std::size_t memory_reserved(int device) { return memory_stats(device).reserved; }
std::size_t max_memory_allocated(int device) { return memory_stats(device).max_allocated; }
std::size_t max_memory_reserved(int device) { return memory_stats(device).max_reserved; }
void reset_peak_memory_stats(int device) {
  if (is_available()) allocator_of(device).reset_peak();
}

std::string memory_summary(int device) {
  if (!is_available()) return why_unavailable();
  using cuda_kernels::kWorkspaceBytes;
  const MemoryStats s = memory_stats(device);
  constexpr double kMiB = 1 << 20;
  std::string text = "memory of " + std::string(allocator_of(device).name()) + '\n';
  text += row("allocated", double(s.allocated) / kMiB, "MiB");
  text += row("allocated, highest", double(s.max_allocated) / kMiB, "MiB");
  text += row("reserved", double(s.reserved) / kMiB, "MiB");
  text += row("reserved, highest", double(s.max_reserved) / kMiB, "MiB");
  text += row("cached", double(s.reserved - s.allocated) / kMiB, "MiB");
  text += row("blocks in use", double(s.active_blocks), "");
  text += row("segments", double(s.segments), "");
  text += row("blocks handed out", double(s.allocations), "");
  text += row("segments from the driver", double(s.driver_allocations), "");
  text += row("segments given back", double(s.driver_frees), "");
  text += row("cache emptied for memory", double(s.retries), "");
  text += "not counted here: what CUDA's context and libraries take for themselves, and workspaces of cuBLAS, ";
  text += std::to_string(kWorkspaceBytes >> 20) + " MiB for each stream that multiplies matrices\n";
  return text;
}

void empty_cache() {
  for (int device = 0; device < device_count(); ++device) allocator_of(device).empty_cache();
  if (is_available()) cuda_kernels::PinnedAllocator::instance().empty_cache();
}

void record_stream(const Tensor& t, const Stream& stream) {
  check<DeviceError>(t.device().is_cuda(), "record_stream: the tensor is on ", t.device(), "; expected one on cuda");
  if (t.storage()->data() != nullptr)
    allocator_of(t.device().index).record_stream(t.storage()->data(), stream.state()->handle);
}

namespace detail {

Allocator& pinned_allocator() {
  check_usable("pin_memory", Device(DeviceType::CUDA, 0));
  return cuda_kernels::PinnedAllocator::instance();
}
bool is_pinned(const void* memory) noexcept {
  return is_available() && cuda_kernels::PinnedAllocator::instance().owns(memory);
}

}  // namespace detail
}  // namespace taper::cuda
