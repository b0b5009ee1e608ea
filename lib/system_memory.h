#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

// Memory from the operating system, and the account of it.
namespace taper::system_memory {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

struct Account {
  std::atomic<std::int64_t> reserved{0};
  std::atomic<std::int64_t> max_reserved{0};
  std::atomic<std::int64_t> allocations{0};
  std::atomic<std::int64_t> frees{0};
  std::atomic<std::size_t> limit{0};  // for tests; 0 is none
};
extern constinit Account account;

/// Fresh memory, aligned to 2 MiB and in huge pages if it is that large; null when there is no more.
void* map(std::size_t bytes) noexcept;
void unmap(void* memory, std::size_t bytes) noexcept;

/// The account of memory taken by other means. reserve() is false when the machine does not have that much.
bool reserve(std::size_t bytes) noexcept;
void unreserve(std::size_t bytes) noexcept;

/// Memory of the machine, swap included.
std::size_t total() noexcept;

/// value = max(value, candidate)
inline void raise_to(std::atomic<std::int64_t>& value, std::int64_t candidate) noexcept {
  std::int64_t seen = value.load(std::memory_order_relaxed);
  while (seen < candidate && !value.compare_exchange_weak(seen, candidate, std::memory_order_relaxed)) {
  }
}

}  // namespace taper::system_memory
