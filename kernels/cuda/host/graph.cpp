// cuda::Graph.
#include "graph.h"

#include <taper/random.h>

#include <optional>
#include <utility>

#include "caching_allocator.h"
#include "cuda/graph.h"
#include "errors.h"

namespace taper::cuda_kernels {

ReplayMemory::ReplayMemory(std::size_t bytes) {
  const RelaxedCapture relaxed;
  check_cuda(cudaMalloc(&data_, bytes), "cudaMalloc of what a graph reads");
}
ReplayMemory::ReplayMemory(ReplayMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
ReplayMemory::~ReplayMemory() {
  if (data_ == nullptr) return;
  const RelaxedCapture relaxed;
  (void)cudaFree(data_);
}
void ReplayMemory::write(const Queue& queue, const void* bytes, std::size_t count) const {
  write_words(queue, static_cast<std::uint32_t*>(data_), static_cast<const std::uint32_t*>(bytes),
              std::uint32_t(count / sizeof(std::uint32_t)));
}

const void* CapturedSteps::record(const Launch& launch, std::size_t factor_bytes) {
  entries_.push_back({launch, ReplayMemory(factor_bytes)});
  return entries_.back().factors.data();
}

namespace {
[[noreturn]] void raise_other_steps() {
  raise<ValueError>(
      "Graph::replay: an optimizer in it would step other tensors, or in another way, than in the ",
      "capture: state was loaded, a parameter was moved, or an option now needs other state; reset() the ",
      "graph and capture again");
}
}  // namespace

void CapturedSteps::renew(const Queue& queue, const Launch& launch, const std::vector<unsigned char>& factors) {
  if (next_ == entries_.size() || entries_[next_].launch != launch) raise_other_steps();
  entries_[next_++].factors.write(queue, factors.data(), factors.size());
}
void CapturedSteps::end_renewal() const {
  if (next_ != entries_.size()) raise_other_steps();
}

}  // namespace taper::cuda_kernels

namespace taper::cuda {

using cuda_kernels::CapturedRandom;
using cuda_kernels::CapturedSteps;
using cuda_kernels::check_cuda;
using cuda_kernels::OnDevice;
using cuda_kernels::RelaxedCapture;

namespace detail {
namespace {

/// The capture of this thread.
constinit thread_local GraphState* current = nullptr;

/// The first of so many streams in a row, which the generator then has given away.
RandomStream draw(Generator& generator, std::uint64_t count) {
  for (;;) {
    const RandomStream first = generator.next();
    RandomStream last = first;
    for (std::uint64_t i = 1; i < count; ++i) last = generator.next();
    // Unless another thread drew meanwhile.
    if (last.seed == first.seed && last.stream - first.stream == count - 1) return first;
  }
}

}  // namespace

struct GraphState {
  /// Begins the capture.
  explicit GraphState(int index) : device(index), stream(index), random(sizeof(RandomStream)) {
    const OnDevice on(device);
    event = make_event();
    pool = on.state().allocator().begin_pool(handle());
    const cudaError_t error = cudaStreamBeginCapture(handle(), cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess) {
      on.state().allocator().end_pool(handle());
      release();
      cuda_kernels::raise_cuda_error(error, "Graph::capture_begin");
    }
    on_stream.emplace(stream);
    generator_before = default_generator().state();
    CapturedRandom::first = generator_before;
    CapturedRandom::at = static_cast<const RandomStream*>(random.data());
    CapturedSteps::recording = &steps;
    current = this;
  }
  ~GraphState() {
    if (current == this) {
      cudaGraph_t graph = nullptr;
      (void)end(&graph);
      if (graph != nullptr) (void)cudaGraphDestroy(graph);
    }
    release();
  }
  GraphState(const GraphState&) = delete;
  GraphState& operator=(const GraphState&) = delete;

  cudaStream_t handle() const noexcept { return stream.state()->handle; }

  /// Ends the capture: the thread is as before, and so is the generator, since nothing has run.
  cudaError_t end(cudaGraph_t* graph) noexcept {
    current = nullptr;
    is_being_captured = false;
    CapturedSteps::recording = nullptr;
    CapturedRandom::at = nullptr;
    const RandomStream now = default_generator().state();
    is_seeded = now.seed != generator_before.seed || now.stream < generator_before.stream;
    draws = now.stream - generator_before.stream;
    default_generator().set_state(generator_before);
    const cudaError_t error = cudaStreamEndCapture(handle(), graph);
    if (error != cudaSuccess) (void)cudaGetLastError();
    on_stream.reset();
    cuda_kernels::device_state(device).allocator().end_pool(handle());
    return error;
  }
  void instantiate() {
    cudaGraph_t graph = nullptr;
    const cudaError_t error = end(&graph);
    if (error != cudaSuccess)
      raise<Error>("Graph::capture_end: ", cudaGetErrorName(error), ": ", cudaGetErrorString(error),
                   ": in the capture CUDA was asked for what a graph cannot hold");
    const OnDevice on(device);
    const cudaError_t made = cudaGraphInstantiate(&executable, graph, 0);
    (void)cudaGraphDestroy(graph);
    check_cuda(made, "cudaGraphInstantiate");
    check<ValueError>(!is_seeded, "Graph::capture_end: the default generator was seeded in the capture, so that every ",
                      "replay would draw the same numbers; seed it before");
  }

  void replay() {
    const OnDevice on(device);
    check<ValueError>(!cuda_kernels::is_capturing(on.stream()),
                      "Graph::replay: a graph cannot be replayed while another one is captured");
    // Two replays on two streams would read each other's numbers.
    if (last_stream != nullptr && last_stream != on.stream())
      check_cuda(cudaStreamWaitEvent(on.stream(), event, 0), "Graph::replay");
    std::size_t acted = 0;
    try {
      renew_steps(acted);
      if (draws > 0) {
        const RandomStream first = draw(default_generator(), draws);
        random.write(on.queue(), &first, sizeof first);
      }
      check_cuda(cudaGraphLaunch(executable, on.stream()), "cudaGraphLaunch");
    } catch (...) {
      while (acted > 0) followers[--acted]->undo();
      throw;
    }
    last_stream = on.stream();
    check_cuda(cudaEventRecord(event, on.stream()), "Graph::replay");
  }
  void renew_steps(std::size_t& acted) {
    struct Renewing {
      explicit Renewing(CapturedSteps& s) noexcept { CapturedSteps::renewing = &s; }
      ~Renewing() { CapturedSteps::renewing = nullptr; }
    } const renewing{steps};
    steps.begin_renewal();
    for (; acted < followers.size(); ++acted) followers[acted]->act();
    steps.end_renewal();
  }

  /// Gives everything back once the device is done with it. Not a wait that ForbidSync counts: freeing memory is one.
  void release() noexcept {
    const RelaxedCapture relaxed;
    if (last_stream != nullptr) (void)cudaEventSynchronize(event);
    (void)cudaEventDestroy(event);
    if (executable != nullptr) (void)cudaGraphExecDestroy(executable);
    followers.clear();
    try {
      cuda_kernels::device_state(device).allocator().release_pool(pool);
    } catch (const Error&) {  // the driver is gone, and its memory with it
    }
  }
  static cudaEvent_t make_event() {
    cudaEvent_t made = nullptr;
    check_cuda(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "cudaEventCreate");
    return made;
  }

  const int device;
  const Stream stream;
  const cuda_kernels::ReplayMemory random;  // the stream of the first call that draws
  cuda_kernels::PoolId pool = 0;
  cudaGraphExec_t executable = nullptr;
  std::uint64_t draws = 0;
  bool is_being_captured = true;
  bool is_seeded = false;
  CapturedSteps steps;
  std::vector<std::shared_ptr<AtReplay>> followers;
  cudaEvent_t event = nullptr;  // recorded after each replay
  cudaStream_t last_stream = nullptr;
  // Of the capture:
  std::optional<StreamGuard> on_stream;
  RandomStream generator_before;
};

void at_replay(std::shared_ptr<AtReplay> what) {
  check<ValueError>(current != nullptr, "at_replay: this thread captures no graph");
  current->followers.push_back(std::move(what));
}

}  // namespace detail

bool is_current_stream_capturing() noexcept { return detail::current != nullptr; }

Graph::Graph() noexcept = default;
Graph::~Graph() { abandon(); }
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&& other) noexcept {
  if (this != &other) {
    abandon();
    state_ = std::move(other.state_);
  }
  return *this;
}

void Graph::capture_begin() {
  check<ValueError>(detail::current == nullptr, "Graph::capture_begin: this thread captures a graph already; end it ",
                    "with capture_end() first");
  check<ValueError>(state_ == nullptr, "Graph::capture_begin: this graph holds a capture; reset() it, or use another");
  detail::check_usable("Graph::capture_begin", Device(DeviceType::CUDA, current_device()));
  state_ = std::make_unique<detail::GraphState>(current_device());
}
void Graph::capture_end() {
  check<ValueError>(state_ != nullptr && detail::current == state_.get(),
                    "Graph::capture_end: no capture_begin() of this graph came before it on this thread");
  try {
    state_->instantiate();
  } catch (...) {
    state_.reset();
    throw;
  }
}
void Graph::abandon() noexcept {
  // Only the thread that captures can end it: what it still uses is kept.
  if (state_ != nullptr && state_->is_being_captured && detail::current != state_.get()) return void(state_.release());
  state_.reset();
}
bool Graph::is_captured() const noexcept { return state_ != nullptr && state_->executable != nullptr; }
void Graph::replay() {
  check<ValueError>(is_captured(), "Graph::replay: nothing has been captured; call capture() first");
  check<ValueError>(detail::current == nullptr,
                    "Graph::replay: a graph cannot be replayed while another one is captured");
  state_->replay();
}
void Graph::reset() {
  check<ValueError>(state_ == nullptr || !state_->is_being_captured,
                    "Graph::reset: the graph is being captured; end it with capture_end() first");
  state_.reset();
}

}  // namespace taper::cuda
