#include "device.h"

#include <array>

#include "caching_allocator.h"
#include "errors.h"
#include "findings.h"

namespace taper::cuda_kernels {
namespace {

constexpr int kMostDevices = 64;

struct Found {
  int count = 0;
  std::string problem;  // empty if there are devices
};
/// Asked once: devices do not come and go.
const Found& found() {
  static const Found f = [] {
    Found r;
    const cudaError_t error = cudaGetDeviceCount(&r.count);
    if (error != cudaSuccess) {
      (void)cudaGetLastError();
      r.count = 0;
      r.problem = std::string("CUDA finds no usable device: ") + cudaGetErrorString(error);
    } else if (r.count == 0) {
      r.problem = "CUDA finds no device";
    }
    r.count = std::min(r.count, kMostDevices);
    return r;
  }();
  return f;
}

// What this thread has chosen. Streams only where it has chosen one.
struct Choice {
  int device = 0;
  std::array<std::shared_ptr<cuda::detail::StreamState>, kMostDevices> streams;
};
Choice& choice() {
  static thread_local Choice c;
  return c;
}
/// The device that CUDA itself has current on this thread.
constinit thread_local int cuda_current = 0;
void make_current(int index) {
  if (cuda_current == index) return;
  check_cuda(cudaSetDevice(index), "cudaSetDevice");
  cuda_current = index;
}

int index_or_current(int index) { return index < 0 ? choice().device : index; }

struct SyncCounts {
  std::mutex mutex;
  std::vector<cuda::SyncCount> counts;
};
SyncCounts& sync_counts_of_all() {
  static SyncCounts* s = new SyncCounts;
  return *s;
}

}  // namespace

DeviceState::DeviceState(int index)
    : index_(index),
      allocator_(std::make_unique<CachingAllocator>(index)),
      default_stream_(std::shared_ptr<cuda::detail::StreamState>()) {
  int multi_processors = 0;
  check_cuda(cudaDeviceGetAttribute(&multi_processors, cudaDevAttrMultiProcessorCount, index),
             "cudaDeviceGetAttribute");
  multi_processors_ = unsigned(multi_processors);
  default_stream_ = cuda::Stream(std::make_shared<cuda::detail::StreamState>(index, take_stream()));
}
cudaStream_t DeviceState::take_stream() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_streams_.empty()) {
      cudaStream_t stream = idle_streams_.back();
      idle_streams_.pop_back();
      return stream;
    }
  }
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}
void DeviceState::give_back_stream(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  idle_streams_.push_back(stream);
}

DeviceState& device_state(int index) {
  // Never destroyed: tensors in static variables are freed after they would have been.
  static std::array<std::atomic<DeviceState*>, kMostDevices> states{};
  static std::mutex mutex;
  if (index >= 0 && index < kMostDevices) [[likely]] {
    if (DeviceState* state = states[std::size_t(index)].load(std::memory_order_acquire)) [[likely]]
      return *state;
  }
  cuda::detail::check_usable("cuda", Device(DeviceType::CUDA, index));
  const std::lock_guard lock(mutex);
  auto& slot = states[std::size_t(index)];
  if (slot.load(std::memory_order_acquire) == nullptr) {
    const int before = cuda_current;
    make_current(index);
    slot.store(new DeviceState(index), std::memory_order_release);
    make_current(before);
  }
  return *slot.load(std::memory_order_acquire);
}

cudaStream_t current_stream_of(int device) {
  if (const auto& chosen = choice().streams[std::size_t(device)]) return chosen->handle;
  return device_state(device).default_stream().state()->handle;
}

OnDevice::OnDevice(int index) : state_(device_state(index)), stream_(current_stream_of(index)), before_(cuda_current) {
  make_current(index);
}
OnDevice::~OnDevice() {
  if (cuda_current != before_) {
    (void)cudaSetDevice(before_);
    cuda_current = before_;
  }
}

bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

void about_to_wait(const char* cause, cudaStream_t stream) {
  if (const char* outer = cuda::detail::SyncCause::current()) cause = outer;
  if (cuda::ForbidSync::is_active())
    raise<cuda::SyncError>(cause, ": would make the host wait for the device, inside a ForbidSync scope; keep the ",
                           "value on the device, or move this out of the scope");
  if (cuda::is_current_stream_capturing() || (stream != nullptr && is_capturing(stream)))
    raise<cuda::SyncError>(cause, ": would make the host wait for the device while its work is recorded into a graph; ",
                           "a graph can hold only what runs on the device alone");
  SyncCounts& all = sync_counts_of_all();
  const std::lock_guard lock(all.mutex);
  for (cuda::SyncCount& c : all.counts)
    if (c.cause == cause) return void(++c.times);
  all.counts.push_back({cause, 1});
}
void wait_for(cudaStream_t stream, const char* cause) {
  about_to_wait(cause, stream);
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  throw_findings(device_state(cuda_current));
}

}  // namespace taper::cuda_kernels

// ---- <taper/cuda.h>
// --------------------------------------------------------------------------------------------------
namespace taper::cuda {

using cuda_kernels::check_cuda;
using cuda_kernels::choice;
using cuda_kernels::device_state;
using cuda_kernels::index_or_current;
using cuda_kernels::OnDevice;

bool is_available() noexcept { return device_count() > 0; }
int device_count() noexcept {
  try {
    return cuda_kernels::found().count;
  } catch (...) {
    return 0;
  }
}
std::string why_unavailable() { return cuda_kernels::found().problem; }

namespace detail {

void check_usable(const char* what, Device device) {
  const int count = device_count();
  check<DeviceError>(count > 0, what, ": ", device, " cannot be used: ", why_unavailable());
  check<DeviceError>(device.index >= 0 && device.index < count, what, ": there is no ", device, "; this machine has ",
                     count, count == 1 ? " device" : " devices");
}

StreamState::~StreamState() { device_state(device).give_back_stream(handle); }
EventState::~EventState() { (void)cudaEventDestroy(handle); }

Allocator& allocator(int device) { return device_state(device).allocator(); }

bool is_device_memory(const void* memory) noexcept {
  if (!is_available() || memory == nullptr) return false;
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

}  // namespace detail

int current_device() { return choice().device; }
void set_device(int index) {
  detail::check_usable("set_device", Device(DeviceType::CUDA, index));
  choice().device = index;
}
DeviceProperties device_properties(int index) {
  index = index_or_current(index);
  detail::check_usable("device_properties", Device(DeviceType::CUDA, index));
  cudaDeviceProp p;
  check_cuda(cudaGetDeviceProperties(&p, index), "cudaGetDeviceProperties");
  return {p.name, p.totalGlobalMem, p.multiProcessorCount, p.major, p.minor};
}

Stream::Stream() : Stream(current_device()) {}
Stream::Stream(int device) {
  const OnDevice on(device);
  state_ = std::make_shared<detail::StreamState>(device, on.state().take_stream());
}
Device Stream::device() const { return {DeviceType::CUDA, state_->device}; }
void Stream::synchronize() const {
  const OnDevice on(state_->device);
  cuda_kernels::wait_for(state_->handle, "synchronize");
}
bool Stream::query() const {
  const OnDevice on(state_->device);
  const cudaError_t error = cudaStreamQuery(state_->handle);
  if (error == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  check_cuda(error, "cudaStreamQuery");
  return true;
}
void Stream::wait_event(const Event& event) const { event.wait(*this); }
void Stream::wait_stream(const Stream& other) const { wait_event(other.record_event()); }
Event Stream::record_event() const {
  const DeviceGuard guard(state_->device);
  Event event;
  event.record(*this);
  return event;
}
void* Stream::native() const { return state_->handle; }

Stream default_stream(int device) { return device_state(index_or_current(device)).default_stream(); }
Stream current_stream(int device) {
  device = index_or_current(device);
  detail::check_usable("current_stream", Device(DeviceType::CUDA, device));
  const auto& chosen = choice().streams[std::size_t(device)];
  return chosen ? Stream(chosen) : default_stream(device);
}
void set_current_stream(const Stream& stream) {
  set_device(stream.device().index);
  choice().streams[std::size_t(stream.device().index)] = stream.state();
}
StreamGuard::StreamGuard(const Stream& stream)
    : device_before_(current_device()), before_(current_stream(stream.device().index)) {
  set_current_stream(stream);
}
StreamGuard::~StreamGuard() {
  choice().streams[std::size_t(before_.device().index)] = before_.state();
  choice().device = device_before_;
}

Event::Event(bool enable_timing) {
  const OnDevice on(current_device());
  cudaEvent_t handle = nullptr;
  check_cuda(cudaEventCreateWithFlags(&handle, enable_timing ? cudaEventDefault : cudaEventDisableTiming),
             "cudaEventCreate");
  state_ = std::make_shared<detail::EventState>(on.state().index(), handle, enable_timing);
}
void Event::record() { record(current_stream(state_->device)); }
void Event::record(const Stream& stream) {
  check<DeviceError>(stream.device().index == state_->device, "Event::record: the event belongs to ",
                     Device(DeviceType::CUDA, state_->device), " but the stream to ", stream.device());
  const OnDevice on(state_->device);
  check_cuda(cudaEventRecord(state_->handle, stream.state()->handle), "cudaEventRecord");
  state_->recorded = true;
}
void Event::wait() const { wait(current_stream()); }
void Event::wait(const Stream& stream) const {
  if (!state_->recorded) return;
  const OnDevice on(stream.device().index);
  check_cuda(cudaStreamWaitEvent(stream.state()->handle, state_->handle, 0), "cudaStreamWaitEvent");
}
bool Event::query() const {
  if (!state_->recorded) return true;
  const OnDevice on(state_->device);
  const cudaError_t error = cudaEventQuery(state_->handle);
  if (error == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  check_cuda(error, "cudaEventQuery");
  return true;
}
void Event::synchronize() const {
  if (!state_->recorded) return;
  const OnDevice on(state_->device);
  cuda_kernels::about_to_wait("synchronize", nullptr);
  check_cuda(cudaEventSynchronize(state_->handle), "cudaEventSynchronize");
  cuda_kernels::throw_findings(on.state());
}
float Event::elapsed_time(const Event& end) const {
  check<ValueError>(state_->timing && end.state_->timing,
                    "elapsed_time: an event was made without timing; make both with Event(true)");
  check<ValueError>(state_->recorded && end.state_->recorded, "elapsed_time: an event was not recorded yet");
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, state_->handle, end.state_->handle), "elapsed_time");
  return milliseconds;
}
void* Event::native() const { return state_->handle; }

void synchronize(int device) {
  const OnDevice on(index_or_current(device));
  cuda_kernels::about_to_wait("synchronize", on.stream());
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  cuda_kernels::throw_findings(on.state());
}

std::vector<SyncCount> sync_counts() {
  auto& all = cuda_kernels::sync_counts_of_all();
  const std::lock_guard lock(all.mutex);
  return all.counts;
}
std::uint64_t sync_count() {
  std::uint64_t n = 0;
  for (const SyncCount& c : sync_counts()) n += c.times;
  return n;
}
void reset_sync_counts() {
  auto& all = cuda_kernels::sync_counts_of_all();
  const std::lock_guard lock(all.mutex);
  all.counts.clear();
}

}  // namespace taper::cuda
