#pragma once
#include <taper/allocator.h>
#include <taper/device.h>
#include <taper/intrusive_ptr.h>
#include <taper/view_path.h>

#include <atomic>
#include <cstdint>

namespace taper {

/// One block of memory. The version counts writes to the block, so every tensor that can see the memory
/// sees the same version: views, detached tensors and saved tensors share it by construction.
class StorageImpl final : public RefCounted, public Pooled<StorageImpl>, private live::Counted<live::Kind::storage> {
 public:
  /// New memory from the device's allocator; resizable. The meta device gets a size and no memory.
  StorageImpl(std::size_t bytes, Device device);
  /// Memory that came from elsewhere; released through its own deleter, not resizable.
  StorageImpl(DataPtr data, std::size_t bytes, Device device);
  ~StorageImpl() override;

  /// The block itself, for kernels; null on the meta device. Writing through it does not count as a write.
  void* data() const noexcept { return data_.get(); }
  std::size_t bytes() const noexcept { return bytes_; }
  Device device() const noexcept { return device_; }
  /// Who made the memory; null for memory that came from elsewhere and on meta.
  Allocator* allocator() const noexcept { return allocator_; }
  bool is_resizable() const noexcept { return resizable_; }
  /// Whether it was made in InferenceMode.
  bool is_inference() const noexcept { return inference_; }
  /// Never given to another storage again.
  std::uint64_t id() const noexcept { return id_; }

  /// Grows or shrinks the block, keeping what fits. Throws if the memory came from elsewhere.
  void resize(std::size_t bytes);

  std::uint32_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  /// Name of the operator behind the last write; only for messages.
  const char* last_writer() const noexcept { return last_writer_.load(std::memory_order_relaxed); }
  /// The view it wrote through; null if it wrote through a tensor that owns the memory.
  const ViewPath* last_writer_path() const noexcept { return last_writer_path_.load(std::memory_order_relaxed); }
  /// Counts a write; `writer` must outlive the program's last message (a literal). TensorImpl::count_write() is what
  /// whoever writes to a tensor calls.
  void bump_version(const char* writer, const ViewPath* through = nullptr) noexcept {
    last_writer_.store(writer, std::memory_order_relaxed);
    last_writer_path_.store(through, std::memory_order_relaxed);
    version_.fetch_add(1, std::memory_order_release);
  }

 private:
  void release_resources() noexcept override { data_.reset(); }

  DataPtr data_;
  std::size_t bytes_;
  Allocator* allocator_ = nullptr;
  std::uint64_t id_;
  std::atomic<const char*> last_writer_{nullptr};
  std::atomic<const ViewPath*> last_writer_path_{nullptr};
  std::atomic<std::uint32_t> version_{0};
  Device device_;
  bool resizable_;
  bool inference_;
};
static_assert(sizeof(StorageImpl) <= 96, "StorageImpl grew: every block of memory pays for this");
using Storage = IntrusivePtr<StorageImpl>;

/// Makes `allocator` serve a device type in place of the backend's own (CUDA), or of none (Extension); null ends it.
void set_allocator(DeviceType type, Allocator* allocator);

}  // namespace taper
