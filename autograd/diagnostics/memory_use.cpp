// What the memory in use is used for.
#include <fmt/format.h>
#include <taper/cuda.h>
#include <taper/memory_report.h>

#include <algorithm>
#include <unordered_set>

#include "graph.h"
#include "references.h"

namespace taper {
namespace {

using As = OwnedTensors::As;

/// Gives each block to the first use that claims it.
class Sorter {
 public:
  explicit Sorter(MemoryUse& use)
      : use_(use), of_device_(use.device.is_cuda() ? &cuda::detail::allocator(use.device.index) : nullptr) {}
  void add(const References::Thing& t, std::int64_t MemoryUse::*to) {
    const Storage& memory = t.tensor().storage();
    if (!seen_.insert(memory.get()).second) return;
    const auto bytes = std::int64_t(memory->bytes());
    if (!is_counted(memory->allocator())) {
      if (memory->data()) use_.elsewhere += bytes;  // on meta there is none
      return;
    }
    use_.*to += bytes;
    sorted_ += bytes;
  }
  std::int64_t sorted() const { return sorted_; }

 private:
  bool is_counted(const Allocator* a) const {
    return of_device_ != nullptr ? a == of_device_ : detail::is_default_cpu_allocator(a);
  }

  MemoryUse& use_;
  const Allocator* of_device_;  // null: the cpu's
  std::unordered_set<const StorageImpl*> seen_;
  std::int64_t sorted_ = 0;
};

bool has_claim(const References::Thing& t, As as) {
  return std::any_of(t.claims.begin(), t.claims.end(), [as](const References::Claim& c) { return c.as == as; });
}

bool is_gradient(const References& refs, const References::Thing& t) {
  return std::any_of(t.in.begin(), t.in.end(), [&](std::size_t l) { return refs.links[l].by == References::By::grad; });
}

/// Whether an operation keeps it, and not as a leaf's own memory, which would live without the graph.
bool is_saved(const References& refs, const References::Thing& t) {
  return std::any_of(t.in.begin(), t.in.end(), [&](std::size_t l) {
    const References::Link& link = refs.links[l];
    return link.saved && link.by != References::By::saved_edge && !is_memory_of_leaf(t.tensor().storage(), *link.saved);
  });
}

}  // namespace

MemoryUse memory_use(const Owners& owners, Device device) {
  check<DeviceError>(device.is_cpu() || device.is_cuda(), "memory_use: tensors on ", device, " have no memory");
  const References refs(owners);
  MemoryUse use;
  use.device = device;
  Sorter sorter(use);
  const auto sort = [&](std::int64_t MemoryUse::*to, const auto& belongs) {
    for (const References::Thing& t : refs.things)
      if (t.kind == References::Kind::tensor && belongs(t)) sorter.add(t, to);
  };
  sort(&MemoryUse::parameters, [](const auto& t) { return has_claim(t, As::parameter); });
  sort(&MemoryUse::parameters, [](const auto& t) { return has_claim(t, As::optimizer_parameter); });
  sort(&MemoryUse::buffers, [](const auto& t) { return has_claim(t, As::buffer); });
  sort(&MemoryUse::gradients, [&](const auto& t) { return is_gradient(refs, t); });
  sort(&MemoryUse::optimizer_state, [](const auto& t) { return has_claim(t, As::optimizer_state); });
  sort(&MemoryUse::saved_activations, [&](const auto& t) { return is_saved(refs, t); });
  // What the owners have besides: counted, to tell what of it lies elsewhere.
  sort(&MemoryUse::other_tensors, [](const auto&) { return true; });

  if (device.is_cuda()) {
    const cuda::MemoryStats stats = cuda::memory_stats(device.index);
    use.other_tensors += std::int64_t(stats.allocated) - sorter.sorted();
    use.cached = std::int64_t(stats.reserved - stats.allocated);
    return use;
  }
  const MemoryStats stats = memory_stats();
  use.other_tensors += stats.allocated_bytes - sorter.sorted();
  use.rounding = stats.block_bytes - stats.allocated_bytes;
  use.objects = stats.object_bytes;
  use.cached = stats.cached_bytes();
  return use;
}

std::string MemoryUse::str() const {
  std::string s;
  const auto line = [&s](const char* what, std::int64_t bytes, const char* note) {
    s += fmt::format("{:<20}{:>15} bytes  {}\n", what, bytes, note);
  };
  s += "memory of " + device.str() + '\n';
  line("parameters", parameters, "what modules train and optimizers update");
  line("buffers", buffers, "of modules, not trained");
  line("gradients", gradients, "grad() of parameters and other leaves");
  line("optimizer state", optimizer_state, "momentum and the like");
  line("saved activations", saved_activations, "what graphs keep for the backward pass");
  line("other tensors", other_tensors, "in use otherwise");
  line("workspace", workspace, "kernels give theirs back before they return");
  line("allocator rounding", rounding, "blocks are larger than what was asked for");
  line("objects", objects, "tensors, storages and nodes themselves");
  line("allocator cache", cached, "kept for later requests; empty_cache() gives it back");
  s += fmt::format(
      "not counted here: {} bytes of these tensors in memory of other allocators or from outside; what libraries such "
      "as "
      "oneDNN, drivers and the contexts of accelerators take for themselves\n",
      elsewhere);
  return s;
}

}  // namespace taper
