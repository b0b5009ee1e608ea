#pragma once
// CUDA devices as seen by programs: what is there, streams and events, memory, and what made the host wait.
//
// Everything here exists in every build. Without CUDA in the build, or without a device in the machine, is_available()
// is false, and what needs a device throws DeviceError.
#include <taper/device.h>
#include <taper/error.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace taper {
class Allocator;
class Tensor;
}  // namespace taper

namespace taper::cuda {

/// Whether this build has CUDA and the machine has a device with a driver.
bool is_available() noexcept;
int device_count() noexcept;
/// Why is_available() is false, as a sentence; empty if it is true.
std::string why_unavailable();

/// The device that this thread's streams, events and synchronize() mean when none is named.
int current_device();
void set_device(int index);

struct DeviceProperties {
  std::string name;
  std::size_t total_memory = 0;  ///< bytes
  int multi_processors = 0;
  int major = 0, minor = 0;  ///< compute capability
};
DeviceProperties device_properties(int index = -1);  ///< -1: of the current device

/// Makes a device current while it lives.
class DeviceGuard {
 public:
  explicit DeviceGuard(int index) : before_(current_device()) { set_device(index); }
  explicit DeviceGuard(Device device) : DeviceGuard(device.index) {}
  ~DeviceGuard() { set_device(before_); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_;
};

// ---- Streams and events --------------------------------------------------------------------------------------------
namespace detail {
struct StreamState;
struct EventState;
struct GraphState;
}  // namespace detail
class Event;

/// A queue of work on one device, run in order. Copies of a handle mean the same stream.
///
/// Every device has one stream that all threads use until a StreamGuard says otherwise. It is not the legacy default
/// stream: it does not wait for other streams.
class Stream {
 public:
  /// A new stream on the current device, or on that device.
  Stream();
  explicit Stream(int device);
  explicit Stream(std::shared_ptr<detail::StreamState> state) : state_(std::move(state)) {}

  Device device() const;
  /// Waits until all work given to it so far is done.
  void synchronize() const;
  /// Whether all work given to it so far is done.
  bool query() const;
  /// Work given to it from now on waits for the event, or for all work given to the other stream so far.
  void wait_event(const Event& event) const;
  void wait_stream(const Stream& other) const;
  /// A new event, recorded here.
  Event record_event() const;
  /// The cudaStream_t.
  void* native() const;
  const std::shared_ptr<detail::StreamState>& state() const noexcept { return state_; }
  friend bool operator==(const Stream& a, const Stream& b) noexcept { return a.state_ == b.state_; }

 private:
  std::shared_ptr<detail::StreamState> state_;
};
/// The stream that operations on this thread go to, and the one they go to without a StreamGuard.
Stream current_stream(int device = -1);
Stream default_stream(int device = -1);
void set_current_stream(const Stream& stream);

/// Sends this thread's operations to a stream, and makes its device current, while it lives. The caller orders the
/// streams by events: memory that one stream wrote and another reads needs wait_stream() between.
class StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  int device_before_;
  Stream before_;
};

/// A point in a stream's work.
class Event {
 public:
  /// Only an event with timing can measure time; one without is cheaper.
  explicit Event(bool enable_timing = false);

  /// The point that the stream (default: the current one) has now reached.
  void record();
  void record(const Stream& stream);
  /// Makes the stream (default: the current one) wait for the point.
  void wait() const;
  void wait(const Stream& stream) const;
  /// Whether the point has been passed; true before record().
  bool query() const;
  void synchronize() const;
  /// Milliseconds from this event to `end`; both with timing, recorded and passed.
  float elapsed_time(const Event& end) const;
  void* native() const;

 private:
  std::shared_ptr<detail::EventState> state_;
};

/// Waits until all work on the device (default: the current one) is done.
void synchronize(int device = -1);

// ---- Memory --------------------------------------------------------------------------------------------------------
/// What the caching allocator of one device holds, in bytes unless said otherwise.
struct MemoryStats {
  std::size_t allocated = 0;      ///< in tensors, rounded up as blocks are
  std::size_t reserved = 0;       ///< taken from the driver; what is not allocated of it is the cache
  std::size_t max_allocated = 0;  ///< highest since the start or reset_peak_memory_stats()
  std::size_t max_reserved = 0;
  std::size_t active_blocks = 0;         ///< number of blocks handed out
  std::size_t segments = 0;              ///< number of pieces taken from the driver
  std::uint64_t allocations = 0;         ///< blocks handed out since the start
  std::uint64_t driver_allocations = 0;  ///< times the driver was asked for memory since the start
  std::uint64_t driver_frees = 0;        ///< times memory was given back to it
  std::uint64_t retries = 0;             ///< times the cache was emptied because the driver had no more
};
MemoryStats memory_stats(int device = -1);
std::size_t memory_allocated(int device = -1);
std::size_t memory_reserved(int device = -1);
std::size_t max_memory_allocated(int device = -1);
std::size_t max_memory_reserved(int device = -1);
void reset_peak_memory_stats(int device = -1);
/// A table of the numbers above, for people.
std::string memory_summary(int device = -1);
/// Gives cached memory that no tensor uses back to the driver: of all devices, and pinned host memory. Not needed to
/// avoid OutOfMemoryError: a request that fails does the same and tries again.
void empty_cache();
/// Says that work of `stream` uses the tensor's memory, so that it is not reused before that work is done. Needed for
/// tensors that were made on another stream.
void record_stream(const Tensor& t, const Stream& stream);

// ---- Waiting
// ---------------------------------------------------------------------------------------------------------
/// The host was about to wait for the device inside a ForbidSync scope.
struct SyncError : Error {
  using Error::Error;
};
/// How often the host has waited for a device, by cause: "item", "copy to cpu", "synchronize", ...
struct SyncCount {
  std::string cause;
  std::uint64_t times;
};
std::vector<SyncCount> sync_counts();
std::uint64_t sync_count();
void reset_sync_counts();

/// While it lives, whatever would make this thread wait for a device throws SyncError instead: shows that a training
/// step leaves the device no gaps.
class ForbidSync {
 public:
  ForbidSync() noexcept { ++depth_; }
  ~ForbidSync() { --depth_; }
  ForbidSync(const ForbidSync&) = delete;
  ForbidSync& operator=(const ForbidSync&) = delete;
  static bool is_active() noexcept { return depth_ > 0; }

 private:
  static inline constinit thread_local int depth_ = 0;
};

// ---- Graphs --------------------------------------------------------------------------------------------------------
/// Whether work of this thread is being captured into a Graph.
bool is_current_stream_capturing() noexcept;

/// Work of a device, recorded once and then given to it as a whole, again and again, by one call: where kernels are
/// small, launching them is what costs.
///
///     cuda::Graph graph;
///     graph.capture([&] { optimizer.zero_grad(); loss = step(images, labels); loss.backward(); optimizer.step(); });
///     for (...) { images.copy_(...); labels.copy_(...); graph.replay(); }
///
/// While it is captured nothing runs: tensors made then have their memory, but no values before the first replay. Every
/// replay reads and writes the same memory. What is made in the capture has a pool of its own; all else that the work
/// reads or writes has to live as long as the graph is replayed, at its place.
/// What the host does happens once, in the capture, with three exceptions that go on from replay to replay as they
/// would from call to call: the random numbers of the default generator, the number of steps of SGD, Adam and AdamW,
/// and the options of these, such as the learning rate.
/// Work that needs the host (item(), copies from or to the cpu) throws, as in ForbidSync; the graph is then as before.
class Graph {
 public:
  Graph() noexcept;
  ~Graph();
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;

  /// Calls work() and records what it gives to the current device, on a stream of the graph's own. An exception of
  /// work() ends the capture, leaves the graph without one, and is passed on.
  template <class Work>
  void capture(Work&& work) {
    capture_begin();
    try {
      work();
    } catch (...) {
      abandon();
      throw;
    }
    capture_end();
  }
  /// The same in two calls, of one thread. Throws ValueError if the thread captures already, or the graph holds a
  /// capture.
  void capture_begin();
  void capture_end();
  /// Gives the work to the current stream. Throws ValueError if nothing was captured, or if an optimizer in it has
  /// other parameters or state than in the capture; nothing has then changed.
  void replay();
  /// Forgets the capture, when the device is done with it. The pool's memory goes back as the tensors in it are freed.
  void reset();
  bool is_captured() const noexcept;

 private:
  void abandon() noexcept;
  std::unique_ptr<detail::GraphState> state_;
};

// ---- Checks of values ----------------------------------------------------------------------------------------------
// Whether a position is in range, or a probability is one, only the device knows, and asking it would make the host
// wait at every embedding. So kernels look while they run: a position out of range reads 0 and writes nothing, and the
// first one is thrown, as the error that the cpu throws at once, the next time that the host waits for the device.
/// With `on`, such values are looked at before the operator runs: errors come from the call that made them, nothing has
/// changed, and the host waits each time. Inside ForbidSync, and while a graph is captured, they are not. The start
/// value is true if the environment has TAPER_CUDA_CHECKS=immediate, else false.
void set_immediate_checks(bool on) noexcept;
bool immediate_checks() noexcept;

// ---- What lib asks of the backend -----------------------------------------------------------------------------------
namespace detail {

/// Throws DeviceError, in the name of `what`, unless the device can be used.
void check_usable(const char* what, Device device);
/// The caching allocator of a device, and that of pinned host memory.
Allocator& allocator(int device);
Allocator& pinned_allocator();
bool is_pinned(const void* memory) noexcept;
/// Whether the address is of memory on a CUDA device.
bool is_device_memory(const void* memory) noexcept;
/// dst[...] = src broadcast and converted, where dst or src or both are on a CUDA device.
void copy(const Tensor& dst, const Tensor& src);
/// Whether an operator on this device looks at values before it runs.
bool checks_now(Device device);
/// Looks, without waiting, whether all of t lies between low and high. If not, the next wait throws a ValueError that
/// says `op` and `what`, which must live on.
void expect_between(const char* op, const Tensor& t, double low, double high, const char* what);
/// Bytes from one block to another of the same device, in stream order.
void copy_on_device(int device, void* dst, const void* src, std::size_t bytes);

/// What has to be done on the host before each replay of a graph.
class AtReplay {
 public:
  virtual ~AtReplay() = default;
  virtual void act() = 0;
  /// Takes act() back: the replay did not happen.
  virtual void undo() noexcept = 0;
};
/// Adds to the graph that this thread captures.
void at_replay(std::shared_ptr<AtReplay> what);

/// Something that holds for this thread's copies while an object of this class lives.
template <class Meaning>
class CopyScope {
 public:
  explicit CopyScope(bool on) noexcept : before_(on_) { on_ = on; }
  ~CopyScope() { on_ = before_; }
  CopyScope(const CopyScope&) = delete;
  CopyScope& operator=(const CopyScope&) = delete;
  static bool is_on() noexcept { return on_; }

 private:
  static inline constinit thread_local bool on_ = false;
  bool before_;
};
/// Copies from and to pinned memory do not wait.
using NonBlocking = CopyScope<struct NonBlockingCopies>;
/// What is copied from the cpu will never change, so a graph may keep it.
using Constant = CopyScope<struct CopiesOfConstants>;

/// What the next waiting of this thread is for; see SyncCount.
class SyncCause {
 public:
  explicit SyncCause(const char* cause) noexcept : before_(cause_) {
    if (!cause_) cause_ = cause;
  }
  ~SyncCause() { cause_ = before_; }
  SyncCause(const SyncCause&) = delete;
  SyncCause& operator=(const SyncCause&) = delete;
  static const char* current() noexcept { return cause_; }

 private:
  static inline constinit thread_local const char* cause_ = nullptr;
  const char* before_;
};

}  // namespace detail
}  // namespace taper::cuda
