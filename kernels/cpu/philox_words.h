#pragma once
// Many blocks of Philox at a time.
#include <taper/philox.h>

#include "vec.h"

namespace taper::cpu_kernels {

namespace detail {
using Wide = Vec<std::uint64_t>;
inline constexpr int kWide = kLanes<std::uint64_t>;

/// Products of the lower halves of the lanes.
[[gnu::always_inline]] inline Wide mul_low_halves(const Wide& a, const Wide& b) {
#if defined(__AVX512F__)
  return (Wide)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Wide)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
  return (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu);
#endif
}

/// The counters of kWide blocks, a lane each. Only the lower halves count, so nothing is ever masked.
struct Counters {
  Wide c0, c1, c2, c3;

  Counters(RandomStream s, std::uint64_t first) {
    for (int i = 0; i < kWide; ++i) c0[i] = first + std::uint64_t(i);
    c1 = c0 >> 32;
    c2 = broadcast(s.stream);
    c3 = broadcast(s.stream >> 32);
  }
  [[gnu::always_inline]] void round(std::uint32_t key0, std::uint32_t key1) {
    const Wide a = mul_low_halves(c0, broadcast(std::uint64_t(0xD2511F53u)));
    const Wide b = mul_low_halves(c2, broadcast(std::uint64_t(0xCD9E8D57u)));
    c0 = (b >> 32) ^ c1 ^ broadcast(std::uint64_t(key0));
    c2 = (a >> 32) ^ c3 ^ broadcast(std::uint64_t(key1));
    c1 = b;
    c3 = a;
  }
  template <std::size_t... I>
  [[gnu::always_inline]] void write(std::uint32_t* words, std::index_sequence<I...>) const {
    const Wide low = broadcast(std::uint64_t(0xFFFFFFFFu));
    const Wide first = (c0 & low) | (c1 << 32), second = (c2 & low) | (c3 << 32);
    const Wide half = __builtin_shufflevector(first, second, int(I / 2 + I % 2 * kWide)...);
    const Wide rest = __builtin_shufflevector(first, second, int(I / 2 + kWide / 2 + I % 2 * kWide)...);
    std::memcpy(words, &half, sizeof half);
    std::memcpy(words + 2 * kWide, &rest, sizeof rest);
  }
};
}  // namespace detail

/// Words are made for this many elements or a multiple of it, counted from element 0 of the stream.
inline constexpr int kWordStep = 8 * detail::kWide;

/// words[i] = the word of element first + i, for i < n; first must be a multiple of 4, n of kWordStep.
inline void philox_words(std::uint32_t* words, RandomStream s, std::uint64_t first, std::int64_t n) {
  using detail::Counters, detail::kWide;
  constexpr auto lanes = std::make_index_sequence<std::size_t(kWide)>{};
  for (std::int64_t i = 0; i < n; i += kWordStep) {
    const std::uint64_t at = (first + std::uint64_t(i)) / 4;
    // Two at a time: a multiplication takes longer than the rest of a round.
    Counters a(s, at), b(s, at + kWide);
    std::uint32_t key0 = std::uint32_t(s.seed), key1 = std::uint32_t(s.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      a.round(key0, key1);
      b.round(key0, key1);
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    a.write(words + i, lanes);
    b.write(words + i + kWordStep / 2, lanes);
  }
}

/// high(first + i) and, if asked for, low(first + i) of <taper/philox.h>.
struct Words {
  static constexpr std::int64_t kMost = 1024;  // elements at a time; a multiple of kWordStep
  alignas(64) std::uint32_t high[kMost];
  alignas(64) std::uint32_t low[kMost];

  void make_high(RandomStream s, std::int64_t first, std::int64_t n) {
    philox_words(high, s, std::uint64_t(first), (n + kWordStep - 1) / kWordStep * kWordStep);
  }
  void make_low(RandomStream s, std::int64_t first, std::int64_t n) {
    philox_words(low, {s.seed, s.stream | std::uint64_t(1) << 63}, std::uint64_t(first),
                 (n + kWordStep - 1) / kWordStep * kWordStep);
  }
  std::uint64_t joined(std::int64_t i) const { return philox::join(high[i], low[i]); }
};
static_assert(Words::kMost % kWordStep == 0);

}  // namespace taper::cpu_kernels
