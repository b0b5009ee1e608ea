#pragma once
// One CUDA device: its streams, its memory, its cuBLAS handles.
#include <cuda_runtime.h>
#include <taper/cuda.h>
#include <taper/random_stream.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/finding.h"
#include "cuda/queue.h"

namespace taper::cuda::detail {

/// Streams go back to their device and are used again: what is keyed by a stream never meets a new one of its name.
struct StreamState {
  StreamState(int on, cudaStream_t stream) : device(on), handle(stream) {}
  ~StreamState();
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;

  const int device;
  const cudaStream_t handle;
};
struct EventState {
  EventState(int on, cudaEvent_t event, bool with_timing) : device(on), handle(event), timing(with_timing) {}
  ~EventState();
  EventState(const EventState&) = delete;
  EventState& operator=(const EventState&) = delete;

  const int device;
  const cudaEvent_t handle;
  const bool timing;
  bool recorded = false;
};

}  // namespace taper::cuda::detail

namespace taper::cuda_kernels {

class CachingAllocator;

/// Where the kernels of a device put what they find wrong; never freed, as the device's state is.
struct FindingSlot {
  FindingSlot();
  unsigned* taken = nullptr;   // of the device
  Finding* finding = nullptr;  // of the host, written by kernels
};

class DeviceState {
 public:
  explicit DeviceState(int index);

  int index() const noexcept { return index_; }
  unsigned multi_processors() const noexcept { return multi_processors_; }
  CachingAllocator& allocator() noexcept { return *allocator_; }
  const FindingSlot& findings() const noexcept { return findings_; }
  const cuda::Stream& default_stream() const noexcept { return default_stream_; }
  cudaStream_t take_stream();
  void give_back_stream(cudaStream_t stream);

 private:
  int index_;
  unsigned multi_processors_ = 0;
  std::unique_ptr<CachingAllocator> allocator_;
  FindingSlot findings_;
  std::mutex mutex_;
  std::vector<cudaStream_t> idle_streams_;
  cuda::Stream default_stream_;
};

/// The device's state, made at its first use. Throws DeviceError unless the device is there.
DeviceState& device_state(int index);
/// The stream that this thread's work on the device goes to.
cudaStream_t current_stream_of(int device);

/// Makes a device current while it lives, for calls of CUDA, and knows where work for it goes.
class OnDevice {
 public:
  explicit OnDevice(int index);
  explicit OnDevice(Device device) : OnDevice(int(device.index)) {}
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  DeviceState& state() const noexcept { return state_; }
  cudaStream_t stream() const noexcept { return stream_; }
  Queue queue() const noexcept { return {stream_, state_.multi_processors()}; }

 private:
  DeviceState& state_;
  cudaStream_t stream_;
  int before_;
};

/// What every wait of the host for a device goes through: refuses it inside ForbidSync and while the stream captures,
/// and counts it under `cause`, or under the cause that is already known.
void about_to_wait(const char* cause, cudaStream_t stream);
void wait_for(cudaStream_t stream, const char* cause);

/// Where the random numbers are from that the operators draw which this thread gives to a graph: the device finds the
/// stream of the graph's first call `at` this address. Null outside of captures.
struct CapturedRandom {
  static inline constinit thread_local const RandomStream* at = nullptr;
  static inline constinit thread_local RandomStream first{};  // of the capture
};

/// Whether work given to the stream is being recorded into a graph.
bool is_capturing(cudaStream_t stream);

/// While it lives, a capture of this thread does not make CUDA refuse what could disturb it elsewhere, as asking for
/// memory does.
class RelaxedCapture {
 public:
  RelaxedCapture() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace taper::cuda_kernels
