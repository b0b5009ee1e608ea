#include "system_memory.h"

#include <sys/mman.h>
#include <sys/sysinfo.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; older kernels refuse it, which does no harm
#endif

namespace taper::system_memory {

constinit Account account;

namespace {

// Beyond this the pages come as they are touched: a program may ask for a large array and use little of it.
constexpr std::size_t kPopulateLimit = std::size_t{64} << 20;

void* map_pages(std::size_t bytes) noexcept {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

std::size_t misalignment(void* memory) noexcept { return reinterpret_cast<std::uintptr_t>(memory) % kHugePage; }

void* map_aligned(std::size_t bytes) noexcept {
  void* memory = map_pages(bytes);
  if (memory == nullptr || misalignment(memory) == 0) return memory;
  ::munmap(memory, bytes);

  auto* wide = static_cast<char*>(map_pages(bytes + kHugePage));
  if (wide == nullptr) return nullptr;
  const std::size_t before = (kHugePage - misalignment(wide)) % kHugePage;
  const std::size_t after = kHugePage - before;
  if (before != 0) ::munmap(wide, before);
  if (after != 0) ::munmap(wide + before + bytes, after);
  return wide + before;
}

}  // namespace

void* map(std::size_t bytes) noexcept {
  if (!reserve(bytes)) return nullptr;
  void* memory = bytes >= kHugePage ? map_aligned(bytes) : map_pages(bytes);
  if (memory == nullptr) {
    account.reserved.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
    account.allocations.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  // Advice only: it may be refused, and the memory is good all the same. Faulting in the pages in one call takes half
  // the time of touching them one after the other.
  if (bytes >= kHugePage) ::madvise(memory, bytes, MADV_HUGEPAGE);
  if (bytes <= kPopulateLimit) ::madvise(memory, bytes, MADV_POPULATE_WRITE);
  return memory;
}

void unmap(void* memory, std::size_t bytes) noexcept {
  ::munmap(memory, bytes);
  unreserve(bytes);
}

bool reserve(std::size_t bytes) noexcept {
  const auto size = static_cast<std::int64_t>(bytes);
  const std::int64_t reserved = account.reserved.fetch_add(size, std::memory_order_relaxed) + size;
  const std::size_t limit = account.limit.load(std::memory_order_relaxed);
  if (static_cast<std::size_t>(reserved) > (limit != 0 ? limit : total())) {
    account.reserved.fetch_sub(size, std::memory_order_relaxed);
    return false;
  }
  raise_to(account.max_reserved, reserved);
  account.allocations.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void unreserve(std::size_t bytes) noexcept {
  account.reserved.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  account.frees.fetch_add(1, std::memory_order_relaxed);
}

std::size_t total() noexcept {
  // The system would promise more, and end the program when the promise is called in.
  static const std::size_t bytes = [] {
    struct sysinfo info {};
    if (::sysinfo(&info) != 0) return std::size_t{PTRDIFF_MAX};
    return (std::size_t{info.totalram} + info.totalswap) * info.mem_unit;
  }();
  return bytes;
}

}  // namespace taper::system_memory
