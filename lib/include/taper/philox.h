#pragma once
// Random numbers by address: Philox 4x32-10 of Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as
// 1, 2, 3". What belongs to element i of a call depends on (seed, stream, i) alone, never on the shape, the number of
// threads or the device. The host compiler and nvcc both compile this header.
//
// Element i owns the 32 bits high(i) and, for whoever needs more, the 32 bits low(i) of a second sequence. Both are
// word i % 4 of block i / 4, so four elements share the work of a block. A float32 number is made from high(i), a
// float64 number from high(i) and low(i): the two agree to float32's precision.
//
// Products are added by fma or not at all, and divisions and square roots are rounded correctly everywhere: the
// compiler has nothing to choose, so the bits are the same on every machine.
#include <taper/host_device.h>
#include <taper/random_stream.h>

#include <cmath>
#include <cstdint>
#include <cstring>

namespace taper {
namespace philox {

struct Block {
  std::uint32_t word[4];
};

/// The generator itself: 128 bits of counter, 64 bits of key.
TAPER_HD inline Block block(Block counter, std::uint32_t key0, std::uint32_t key1) {
  std::uint32_t c0 = counter.word[0], c1 = counter.word[1], c2 = counter.word[2], c3 = counter.word[3];
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t(0xD2511F53u) * c0;
    const std::uint64_t b = std::uint64_t(0xCD9E8D57u) * c2;
    c0 = std::uint32_t(b >> 32) ^ c1 ^ key0;
    c2 = std::uint32_t(a >> 32) ^ c3 ^ key1;
    c1 = std::uint32_t(b);
    c3 = std::uint32_t(a);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

/// high(4 i) ... high(4 i + 3).
TAPER_HD inline Block high(RandomStream s, std::uint64_t i) {
  return block({{std::uint32_t(i), std::uint32_t(i >> 32), std::uint32_t(s.stream), std::uint32_t(s.stream >> 32)}},
               std::uint32_t(s.seed), std::uint32_t(s.seed >> 32));
}
/// low(4 i) ... low(4 i + 3): the same of the stream that no call is given.
TAPER_HD inline Block low(RandomStream s, std::uint64_t i) {
  return high({s.seed, s.stream | std::uint64_t(1) << 63}, i);
}
TAPER_HD inline std::uint64_t join(std::uint32_t high, std::uint32_t low) { return std::uint64_t(high) << 32 | low; }

// ---- Uniform numbers and integers ----

/// In [0, 1), a multiple of 2^-24.
TAPER_HD inline float uniform(std::uint32_t bits) { return float(std::int32_t(bits >> 8)) * 0x1p-24f; }
/// In [0, 1), a multiple of 2^-53.
TAPER_HD inline double uniform(std::uint64_t bits) { return double(std::int64_t(bits >> 11)) * 0x1p-53; }

/// What a word must be below for an event of probability p in [0, 1]; right to 2^-33.
TAPER_HD inline std::uint64_t threshold(double p) { return std::uint64_t(p * 0x1p32 + 0.5); }

/// Integers of [0, range) from 32 bits: some are more likely than others by range / 2^32, so for ranges up to
/// kNarrowRange only.
inline constexpr std::uint64_t kNarrowRange = std::uint64_t(1) << 16;
TAPER_HD inline std::uint64_t below(std::uint32_t bits, std::uint64_t range) { return (bits * range) >> 32; }
/// Integers of [0, range) from 64 bits, range > 0.
TAPER_HD inline std::uint64_t below(std::uint64_t bits, std::uint64_t range) {
#ifdef __CUDA_ARCH__
  return __umul64hi(bits, range);
#else
  __extension__ using Wide = unsigned __int128;
  return std::uint64_t((Wide(bits) * range) >> 64);
#endif
}

// ---- Logarithm, sine and cosine by their series, which end where the dtype's precision does ----

template <class T>
struct Series;
template <>
struct Series<float> {
  static constexpr int log_terms = 5, trigonometric_terms = 6;
  using Bits = std::uint32_t;
  static constexpr Bits sqrt_half = 0x3F3504F3u;
  static constexpr int mantissa = 23;
};
template <>
struct Series<double> {
  static constexpr int log_terms = 11, trigonometric_terms = 10;
  using Bits = std::uint64_t;
  static constexpr Bits sqrt_half = 0x3FE6A09E667F3BCDull;
  static constexpr int mantissa = 52;
};

/// -log x of a normal number x in (0, 1]. 1 - x comes as well, because near 1 it says what x is too coarse to say.
template <class T>
TAPER_HD inline T minus_log(T x, T one_minus_x) {
  using S = Series<T>;
  // x = 2^-e m with m in [sqrt(1/2), sqrt(2)), e >= 0.
  typename S::Bits bits;
  std::memcpy(&bits, &x, sizeof bits);
  const typename S::Bits e = (S::sqrt_half + (typename S::Bits(1) << S::mantissa) - 1 - bits) >> S::mantissa;
  bits += e << S::mantissa;
  T m;
  std::memcpy(&m, &bits, sizeof m);
  // log m = 2 (s + s^3 / 3 + s^5 / 5 + ...), s = (m - 1) / (m + 1), |s| < 0.172.
  const T s = (e == 0 ? -one_minus_x : m - 1) / (m + 1), z = s * s;
  T sum = T(1) / T(2 * S::log_terms + 1);
  for (int k = S::log_terms - 1; k >= 1; --k) sum = std::fma(sum, z, T(1) / T(2 * k + 1));
  const T twice = s + s;
  const T log_m = std::fma(twice * z, sum, twice);
  return std::fma(T(std::int32_t(e)), T(0.693147180559945309417232121458176568L), -log_m);
}

template <class T>
struct SinCos {
  T sin, cos;
};

/// Sine and cosine of pi/2 t for t in [-1/2, 1/2].
template <class T>
TAPER_HD inline SinCos<T> sincos_quarter(T t) {
  const T x = t * T(1.57079632679489661923132169163975144L), z = x * x;
  // sin x = x - x^3/3! + ..., cos x = 1 - x^2/2! + ... in Horner form: factors -z / (2k (2k+1)).
  T sin_sum = 1, cos_sum = 1;
  for (int k = Series<T>::trigonometric_terms; k >= 1; --k) {
    sin_sum = std::fma(sin_sum * z, T(-1) / T(2 * k * (2 * k + 1)), T(1));
    cos_sum = std::fma(cos_sum * z, T(-1) / T(2 * k * (2 * k - 1)), T(1));
  }
  return {x * sin_sum, cos_sum};
}

/// Of 2 pi (bits / 2^32): the turn is cut into quarters in integers, without error.
TAPER_HD inline SinCos<float> sincos_turn(std::uint32_t bits) {
  const std::uint32_t quarter = (bits + 0x20000000u) >> 30;  // counts from an eighth turn before zero
  const SinCos<float> v = sincos_quarter(float(std::int32_t(bits - (quarter << 30))) * 0x1p-30f);
  const float s = quarter & 1 ? v.cos : v.sin, c = quarter & 1 ? v.sin : v.cos;
  return {quarter & 2 ? -s : s, (quarter + 1) & 2 ? -c : c};
}
TAPER_HD inline SinCos<double> sincos_turn(std::uint64_t bits) {
  const std::uint64_t quarter = (bits + 0x2000000000000000ull) >> 62;
  const SinCos<double> v = sincos_quarter(double(std::int64_t(bits - (quarter << 62))) * 0x1p-62);
  const double s = quarter & 1 ? v.cos : v.sin, c = quarter & 1 ? v.sin : v.cos;
  return {quarter & 2 ? -s : s, (quarter + 1) & 2 ? -c : c};
}

// ---- Normal and exponential numbers ----

/// -log of a number in (0, 1): exponential with rate 1, above 0.
TAPER_HD inline float exponential(std::uint32_t bits) {
  return minus_log(std::fma(float(bits), 0x1p-32f, 0x1p-33f), std::fma(float(~bits), 0x1p-32f, 0x1p-33f));
}
TAPER_HD inline double exponential(std::uint64_t bits) {
  return minus_log(std::fma(double(std::int64_t(bits >> 11)), 0x1p-53, 0x1p-54),
                   std::fma(double(std::int64_t(~bits >> 11)), 0x1p-53, 0x1p-54));
}

/// Two independent normal numbers, mean 0 and deviation 1, from the bits of two elements: Box and Muller 1958, "A note
/// on the generation of random normal deviates". Elements 2 i and 2 i + 1 of a stream get .cos and .sin.
template <class Bits>
TAPER_HD inline auto normal_pair(Bits a, Bits b) {
  const auto half_square = exponential(a);
  const auto radius = std::sqrt(half_square + half_square);
  auto v = sincos_turn(b);
  v.sin *= radius;
  v.cos *= radius;
  return v;
}

}  // namespace philox
}  // namespace taper
