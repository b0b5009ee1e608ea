#include <taper/cuda.h>
#include <taper/grad_mode.h>
#include <taper/storage.h>

#include <algorithm>
#include <cstring>

namespace taper {
namespace {

constinit Allocator* outside_allocators[kNumBackends] = {};

Allocator* allocator_of(Device device) {
  if (device.is_cpu()) return &cpu_allocator();
  if (device.is_meta()) return nullptr;
  Allocator* a = outside_allocators[unsigned(device.type)];
  if (a == nullptr && device.is_cuda()) return &cuda::detail::allocator(device.index);
  check<DeviceError>(a != nullptr, "cannot allocate memory on ", device, ": this build has no backend for it");
  return a;
}

/// Ids come in blocks per thread, so that the shared counter is touched once in a thousand storages.
std::uint64_t next_id() {
  constexpr std::uint64_t kBlock = 1024;
  static constinit std::atomic<std::uint64_t> blocks{0};
  static constinit thread_local std::uint64_t next = 0;
  if (next % kBlock == 0) next = blocks.fetch_add(1, std::memory_order_relaxed) * kBlock + 1;
  return next++;
}

}  // namespace

void set_allocator(DeviceType type, Allocator* allocator) {
  check<ValueError>(type == DeviceType::CUDA || type == DeviceType::Extension,
                    "set_allocator: only for cuda and extension; use set_cpu_allocator for cpu");
  outside_allocators[unsigned(type)] = allocator;
}

StorageImpl::StorageImpl(std::size_t bytes, Device device)
    : bytes_(bytes),
      allocator_(allocator_of(device)),
      id_(next_id()),
      device_(device),
      resizable_(true),
      inference_(InferenceMode::is_enabled()) {
  if (allocator_) data_ = allocator_->allocate(bytes);
}

StorageImpl::StorageImpl(DataPtr data, std::size_t bytes, Device device)
    : data_(std::move(data)),
      bytes_(bytes),
      id_(next_id()),
      device_(device),
      resizable_(false),
      inference_(InferenceMode::is_enabled()) {}

StorageImpl::~StorageImpl() = default;

void StorageImpl::resize(std::size_t bytes) {
  check<ValueError>(resizable_, "resize: this memory (", bytes_, " bytes) came from outside and cannot become ", bytes,
                    " bytes; clone() the tensor first");
  if (allocator_) {
    DataPtr bigger = allocator_->allocate(bytes);
    const std::size_t kept = std::min(bytes, bytes_);
    if (device_.is_cpu() && data_) std::memcpy(bigger.get(), data_.get(), kept);
    if (device_.is_cuda() && kept > 0) cuda::detail::copy_on_device(device_.index, bigger.get(), data_.get(), kept);
    data_ = std::move(bigger);
  }
  bytes_ = bytes;
}

}  // namespace taper
