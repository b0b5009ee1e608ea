#include <fmt/format.h>
#include <taper/memory_report.h>
#include <taper/tensor_impl.h>

namespace taper {

std::string memory_report() {
  const MemoryStats s = memory_stats();
  const std::int64_t impls = live_tensors() * std::int64_t(sizeof(TensorImpl));
  const std::int64_t storages = live_storages() * std::int64_t(sizeof(StorageImpl));
  std::string out;
  const auto line = [&out](const char* what, std::int64_t bytes, const std::string& note) {
    out += fmt::format("{:<28}{:>15} bytes  {}\n", what, bytes, note);
  };
  line("data", s.allocated_bytes, fmt::format("elements of tensors; at most {} so far", s.max_allocated_bytes));
  line("allocator rounding", s.block_bytes - s.allocated_bytes, "blocks are larger than what was asked for");
  line("tensors", impls, fmt::format("{} of {} bytes", live_tensors(), sizeof(TensorImpl)));
  line("storages", storages, fmt::format("{} of {} bytes", live_storages(), sizeof(StorageImpl)));
  line("graph and metadata", std::max<std::int64_t>(0, s.object_bytes - impls - storages),
       fmt::format("{} nodes, gradients' bookkeeping, rounding", live_nodes()));
  line("cached", s.cached_bytes(), "kept for later requests; empty_cache() gives it back");
  line("reserved", s.reserved_bytes, "taken from the system in all");
  return out;
}

}  // namespace taper
