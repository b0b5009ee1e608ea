#include "findings.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <vector>

#include "cuda/values.h"
#include "elementwise.h"
#include "errors.h"
#include "operand_order.h"
#include "walks.h"

namespace taper::cuda_kernels {
namespace {

/// What was expected of values, by the number that a kernel tells.
class Texts {
 public:
  struct Text {
    const char *op, *what;
  };
  std::int32_t number_of(Text text) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < texts_.size(); ++i)
      if (texts_[i].op == text.op && texts_[i].what == text.what) return std::int32_t(i);
    texts_.push_back(text);
    return std::int32_t(texts_.size() - 1);
  }
  Text operator[](std::int32_t number) {
    const std::lock_guard lock(mutex_);
    return texts_[std::size_t(number)];
  }

 private:
  std::mutex mutex_;
  std::vector<Text> texts_;
};
Texts& texts() {
  static Texts all;
  return all;
}

constexpr std::array<std::string_view, 15> kWatchers = {
    "index",   "index_put",   "index_select",   "index_add", "index_add_", "index_copy",    "index_copy_", "gather",
    "scatter", "scatter_add", "scatter_reduce", "embedding", "bernoulli",  "cross_entropy", "nll_loss"};

std::atomic<bool>& immediate() {
  static std::atomic<bool> on = [] {
    const char* text = std::getenv("TAPER_CUDA_CHECKS");
    return text != nullptr && std::string_view(text) == "immediate";
  }();
  return on;
}

}  // namespace

FindingSlot::FindingSlot() {
  check_cuda(cudaMalloc(reinterpret_cast<void**>(&taken), sizeof *taken), "memory for findings");
  void* host = nullptr;
  check_cuda(cudaHostAlloc(&host, sizeof *finding, cudaHostAllocDefault), "memory for findings");
  finding = new (host) Finding{};
  check_cuda(cudaMemset(taken, 0, sizeof *taken), "memory for findings");
  check_cuda(cudaDeviceSynchronize(), "memory for findings");  // no stream waits for the legacy one
}

Watcher watcher_named(std::string_view op) {
  const auto found = std::find(kWatchers.begin(), kWatchers.end(), op);
  assert(found != kWatchers.end());
  return Watcher(found - kWatchers.begin());
}

Watch watch(const OnDevice& on, Watcher watcher, std::int64_t dim) {
  const FindingSlot& slot = on.state().findings();
  return {slot.taken, slot.finding, watcher, std::int32_t(dim)};
}

void throw_findings(DeviceState& device) {
  const FindingSlot& slot = device.findings();
  if (slot.finding->there == 0) [[likely]]
    return;
  const Finding f = *slot.finding;
  *slot.finding = {};
  check_cuda(cudaMemsetAsync(slot.taken, 0, sizeof *slot.taken, current_stream_of(device.index())), "findings");
  const Device where(DeviceType::CUDA, device.index());
  constexpr const char* kLate =
      " found this while it ran, after the call had returned; to learn which call it was, check at once: "
      "cuda::set_immediate_checks(true), or TAPER_CUDA_CHECKS=immediate in the environment";
  if (f.watcher == Watcher::values) {
    const auto [op, what] = texts()[f.dim];
    raise<ValueError>(op, ": ", what, "; an element is ", f.number, "; ", where, kLate);
  }
  const std::string_view op = kWatchers[std::size_t(f.watcher)];
  if (f.watcher == Watcher::bernoulli)
    raise<ValueError>(op, ": p holds probabilities from 0 to 1, one of them is ", f.number, "; ", where, kLate);
  if (f.watcher == Watcher::cross_entropy || f.watcher == Watcher::nll_loss)
    raise<IndexError>(op, ": a target is ", f.position, ", which is not a class: input has ", f.size,
                      " classes, from 0 to ", f.size - 1, ", and ignore_index is ", std::int64_t(f.number), "; ", where,
                      kLate);
  const bool refused = f.position < 0 && f.watcher >= Watcher::index_select;
  raise<IndexError>(op, ": index ", f.position, " is out of range for dim ", f.dim, ", which has size ", f.size,
                    refused ? "; negative positions do not count from the end here; " : "; ", where, kLate);
}

}  // namespace taper::cuda_kernels

namespace taper::cuda {

void set_immediate_checks(bool on) noexcept { cuda_kernels::immediate() = on; }
bool immediate_checks() noexcept { return cuda_kernels::immediate(); }

namespace detail {
bool checks_now(Device device) {
  return immediate_checks() && !ForbidSync::is_active() &&
         !cuda_kernels::is_capturing(cuda_kernels::current_stream_of(device.index));
}

void expect_between(const char* op, const Tensor& t, double low, double high, const char* what) {
  using namespace cuda_kernels;
  if (t.numel() == 0) return;
  const Tensor x = kernels::in_order(t.dtype() == float64 ? t : t.to(float32), MemoryFormat::contiguous);
  const OnDevice on(t.device());
  const Watch looking = watch(on, Watcher::values, texts().number_of({op, what}));
  dispatch_floating(x.dtype(), op, [&]<class T>(Type<T>) {
    for (std::int64_t begin = 0; begin < x.numel(); begin += kMostCounted)
      find_outside(on.queue(), looking, std::uint32_t(std::min<std::int64_t>(x.numel() - begin, kMostCounted)),
                   elements<const T>(x) + begin, low, high);
  });
}
}  // namespace detail

}  // namespace taper::cuda
