// What <taper/cuda.h> declares, in a build without CUDA: there are no devices, and what needs one says so.
#include <taper/allocator.h>
#include <taper/cuda.h>

namespace taper::cuda {
namespace {

constexpr const char* kWhy = "this build has no CUDA; configure with -DTAPER_CUDA=ON";

[[noreturn]] void refuse(const char* what) { raise<DeviceError>(what, ": ", kWhy); }

}  // namespace

namespace detail {
struct StreamState {};
struct EventState {};
struct GraphState {};

void check_usable(const char* what, Device) { refuse(what); }
Allocator& allocator(int device) {
  raise<DeviceError>("cannot allocate memory on ", Device(DeviceType::CUDA, device), ": ", kWhy);
}
Allocator& pinned_allocator() { refuse("pin_memory"); }
bool is_pinned(const void*) noexcept { return false; }
bool is_device_memory(const void*) noexcept { return false; }
void copy(const Tensor&, const Tensor&) { refuse("copy"); }
bool checks_now(Device) { return true; }
void expect_between(const char*, const Tensor&, double, double, const char*) { refuse("expect_between"); }
void copy_on_device(int, void*, const void*, std::size_t) { refuse("copy"); }
void at_replay(std::shared_ptr<AtReplay>) { refuse("at_replay"); }
}  // namespace detail

bool is_available() noexcept { return false; }
int device_count() noexcept { return 0; }
std::string why_unavailable() { return kWhy; }
int current_device() { refuse("current_device"); }
void set_device(int) { refuse("set_device"); }
DeviceProperties device_properties(int) { refuse("device_properties"); }

Stream::Stream() { refuse("Stream"); }
Stream::Stream(int) { refuse("Stream"); }
Device Stream::device() const { return {DeviceType::CUDA}; }
void Stream::synchronize() const {}
bool Stream::query() const { return true; }
void Stream::wait_event(const Event&) const {}
void Stream::wait_stream(const Stream&) const {}
Event Stream::record_event() const { refuse("Event"); }
void* Stream::native() const { return nullptr; }
Stream current_stream(int) { refuse("current_stream"); }
Stream default_stream(int) { refuse("default_stream"); }
void set_current_stream(const Stream&) { refuse("set_current_stream"); }
StreamGuard::StreamGuard(const Stream& stream) : device_before_(0), before_(stream) { refuse("StreamGuard"); }
StreamGuard::~StreamGuard() = default;

Event::Event(bool) { refuse("Event"); }
void Event::record() {}
void Event::record(const Stream&) {}
void Event::wait() const {}
void Event::wait(const Stream&) const {}
bool Event::query() const { return true; }
void Event::synchronize() const {}
float Event::elapsed_time(const Event&) const { return 0; }
void* Event::native() const { return nullptr; }

void synchronize(int) { refuse("synchronize"); }

MemoryStats memory_stats(int) { return {}; }
std::size_t memory_allocated(int) { return 0; }
std::size_t memory_reserved(int) { return 0; }
std::size_t max_memory_allocated(int) { return 0; }
std::size_t max_memory_reserved(int) { return 0; }
void reset_peak_memory_stats(int) {}
std::string memory_summary(int) { return kWhy; }
void empty_cache() {}
void record_stream(const Tensor&, const Stream&) { refuse("record_stream"); }

std::vector<SyncCount> sync_counts() { return {}; }
std::uint64_t sync_count() { return 0; }
void reset_sync_counts() {}
bool is_current_stream_capturing() noexcept { return false; }
Graph::Graph() noexcept = default;
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
void Graph::capture_begin() { refuse("Graph::capture_begin"); }
void Graph::capture_end() { refuse("Graph::capture_end"); }
void Graph::replay() { refuse("Graph::replay"); }
void Graph::reset() {}
bool Graph::is_captured() const noexcept { return false; }
void Graph::abandon() noexcept {}

void set_immediate_checks(bool) noexcept {}
bool immediate_checks() noexcept { return false; }

}  // namespace taper::cuda
