#pragma once
#include <array>
#include <bit>
#include <cstddef>

namespace taper {

// Note [Size classes]
// A block has one of a few sizes, so that it serves many requests: multiples of 16 bytes to 1 KiB, then eight sizes
// per power of two, which bounds the bytes a block wastes by 12.5 %. Data needs 64-byte alignment; the classes whose
// size is a multiple of 64 have it, and every class above 1 KiB is one of them.

inline constexpr std::size_t kSmallLimit = 1024;
inline constexpr unsigned kSmallClasses = kSmallLimit / 16;
/// Blocks up to here belong to the heap of a thread, larger ones to the cache that all threads share.
inline constexpr std::size_t kHeapLimit = std::size_t{256} << 10;
inline constexpr unsigned kHeapClasses = kSmallClasses + 8 * 8;
/// No machine has more; sizes up to here can be added and rounded up without overflow.
inline constexpr std::size_t kLargestRequest = std::size_t{1} << 46;
inline constexpr unsigned kClasses = kSmallClasses + 36 * 8;

/// The class of the smallest blocks that hold `bytes`, which is at most kLargestRequest.
constexpr unsigned size_class(std::size_t bytes) {
  if (bytes <= kSmallLimit) return bytes == 0 ? 0 : static_cast<unsigned>((bytes + 15) / 16 - 1);
  const std::size_t last = bytes - 1;  // in [2^k, 2^(k+1))
  const auto k = static_cast<unsigned>(std::bit_width(last)) - 1;
  return kSmallClasses + (k - 10) * 8 + static_cast<unsigned>((last >> (k - 3)) & 7);
}

/// The same among the classes aligned to 64 bytes. Zero bytes get a block too.
constexpr unsigned data_class(std::size_t bytes) {
  if (bytes <= kSmallLimit) return bytes == 0 ? 3 : (static_cast<unsigned>((bytes + 63) / 64) * 4 - 1);
  return size_class(bytes);
}

constexpr std::size_t class_size(unsigned c) {
  if (c < kSmallClasses) return (std::size_t{c} + 1) * 16;
  const unsigned k = 10 + (c - kSmallClasses) / 8;
  return (std::size_t{9} + (c - kSmallClasses) % 8) << (k - 3);
}

inline constexpr auto kHeapClassSize = [] {
  std::array<unsigned, kHeapClasses> sizes{};
  for (unsigned c = 0; c < kHeapClasses; ++c) sizes[c] = static_cast<unsigned>(class_size(c));
  return sizes;
}();

static_assert(size_class(kHeapLimit) == kHeapClasses - 1 && class_size(kHeapClasses - 1) == kHeapLimit);
static_assert(size_class(kLargestRequest) == kClasses - 1 && class_size(kClasses - 1) == kLargestRequest);
static_assert(class_size(size_class(1025)) == 1152 && class_size(data_class(65)) == 128);

}  // namespace taper
