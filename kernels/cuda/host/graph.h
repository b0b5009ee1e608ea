#pragma once
// What a captured graph keeps: its memory, and the numbers that the host writes before each replay.
#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "device.h"

namespace taper::cuda_kernels {

/// Memory of the device that belongs to no stream and no pool: what the host writes there, replays read.
class ReplayMemory {
 public:
  explicit ReplayMemory(std::size_t bytes);
  ReplayMemory(ReplayMemory&& other) noexcept;
  ReplayMemory& operator=(ReplayMemory&&) = delete;
  ~ReplayMemory();

  void* data() const noexcept { return data_; }
  /// For the work that the queue is given from now on.
  void write(const Queue& queue, const void* bytes, std::size_t count) const;

 private:
  void* data_ = nullptr;
};

/// The launches of optimizers' steps in a graph. Each reads the factors of its tensors from memory that the host fills
/// before every replay, by making the same steps again: instead of being launched they are then compared with those of
/// the capture.
class CapturedSteps {
 public:
  /// What a launch is made of: a kernel for one type of tensors, and the addresses of these.
  struct Launch {
    void (*start)() = nullptr;
    std::vector<const void*> tensors;
    friend bool operator==(const Launch&, const Launch&) = default;
  };

  /// Those of this thread to which launches are added, and those that are made again; null if none.
  static inline constinit thread_local CapturedSteps* recording = nullptr;
  static inline constinit thread_local CapturedSteps* renewing = nullptr;

  /// Adds a launch; returns where the device will find its factors.
  const void* record(const Launch& launch, std::size_t factor_bytes);
  void begin_renewal() noexcept { next_ = 0; }
  /// Throws ValueError unless the launch is the next of the capture.
  void renew(const Queue& queue, const Launch& launch, const std::vector<unsigned char>& factors);
  /// Throws ValueError unless there has been a renewal of all.
  void end_renewal() const;

 private:
  struct Entry {
    Launch launch;
    ReplayMemory factors;
  };
  std::vector<Entry> entries_;
  std::size_t next_ = 0;
};

}  // namespace taper::cuda_kernels
