#pragma once
#include <taper/host_device.h>

#include <cstdint>
#include <limits>

namespace taper {

/// A 16-bit floating number of IEEE 754: 1 sign, 5 exponent and 10 fraction bits; up to 65504. Only stored: arithmetic
/// happens in float.
struct Half {
  std::uint16_t bits = 0;

  constexpr Half() = default;
  /// The nearest number, halfway cases to the even one; infinity from 65520 on.
  TAPER_HD explicit constexpr Half(float value) : bits(round(__builtin_bit_cast(std::uint32_t, value))) {}
  static constexpr Half from_bits(std::uint16_t b) {
    Half h;
    h.bits = b;
    return h;
  }
  /// Exact.
  TAPER_HD constexpr operator float() const {
    // Exponent and fraction move to float's places, which divides by 2^112; the product undoes that, also for
    // subnormal numbers. The largest exponent stands for infinity and NaN in both.
    const std::uint32_t rest = (bits & 0x7fffu) << 13;
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    const float scaled = __builtin_bit_cast(float, rest) * 0x1p112f;
    const std::uint32_t finite = __builtin_bit_cast(std::uint32_t, scaled);
    return __builtin_bit_cast(float, (rest >= 0x7c00u << 13 ? rest | 0x7f800000u : finite) | sign);
  }

 private:
  TAPER_HD static constexpr std::uint16_t round(std::uint32_t x) {
    const std::uint32_t sign = x >> 16 & 0x8000u;
    const std::uint32_t rest = x & 0x7fffffffu;
    // Normal: the exponent's bias changes by 112, the fraction loses 13 bits; a carry into the exponent is right.
    const std::uint32_t normal = (rest - (112u << 23) + 0xfffu + (rest >> 13 & 1u)) >> 13;
    // Subnormal: next to 0.5 floats are 2^-24 apart, as these numbers are, so the addition rounds.
    const std::uint32_t small =
        __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, rest < 113u << 23 ? rest : 0u) + 0.5f) -
        0x3f000000u;
    const std::uint32_t large = rest > 0x7f800000u ? 0x7e00u : 0x7c00u;  // NaN or infinity
    const std::uint32_t finite = rest < 113u << 23 ? small : normal;
    return std::uint16_t(sign | (rest >= 0x47800000u ? large : finite));
  }
};

/// The upper half of a float: 1 sign, 8 exponent and 7 fraction bits; float's range with 2 to 3 digits. Only stored:
/// arithmetic happens in float.
struct BFloat16 {
  std::uint16_t bits = 0;

  constexpr BFloat16() = default;
  /// The nearest number, halfway cases to the even one.
  TAPER_HD explicit constexpr BFloat16(float value) : bits(round(__builtin_bit_cast(std::uint32_t, value))) {}
  static constexpr BFloat16 from_bits(std::uint16_t b) {
    BFloat16 h;
    h.bits = b;
    return h;
  }
  /// Exact.
  TAPER_HD constexpr operator float() const { return __builtin_bit_cast(float, std::uint32_t(bits) << 16); }

 private:
  TAPER_HD static constexpr std::uint16_t round(std::uint32_t x) {
    const std::uint32_t nearest = (x + 0x7fffu + (x >> 16 & 1u)) >> 16;
    const std::uint32_t nan = (x >> 16 & 0x8000u) | 0x7fc0u;
    return std::uint16_t((x & 0x7fffffffu) > 0x7f800000u ? nan : nearest);
  }
};

template <class T>
inline constexpr bool is_16_bit_floating = false;
template <>
inline constexpr bool is_16_bit_floating<Half> = true;
template <>
inline constexpr bool is_16_bit_floating<BFloat16> = true;

}  // namespace taper

template <>
class std::numeric_limits<taper::Half> {
 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true;
  static constexpr int digits = 11;
  static constexpr taper::Half min() { return taper::Half::from_bits(0x0400); }
  static constexpr taper::Half max() { return taper::Half::from_bits(0x7bff); }
  static constexpr taper::Half lowest() { return taper::Half::from_bits(0xfbff); }
  static constexpr taper::Half epsilon() { return taper::Half::from_bits(0x1400); }
  static constexpr taper::Half infinity() { return taper::Half::from_bits(0x7c00); }
  static constexpr taper::Half quiet_NaN() { return taper::Half::from_bits(0x7e00); }
};
template <>
class std::numeric_limits<taper::BFloat16> {
 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true;
  static constexpr int digits = 8;
  static constexpr taper::BFloat16 min() { return taper::BFloat16::from_bits(0x0080); }
  static constexpr taper::BFloat16 max() { return taper::BFloat16::from_bits(0x7f7f); }
  static constexpr taper::BFloat16 lowest() { return taper::BFloat16::from_bits(0xff7f); }
  static constexpr taper::BFloat16 epsilon() { return taper::BFloat16::from_bits(0x3c00); }
  static constexpr taper::BFloat16 infinity() { return taper::BFloat16::from_bits(0x7f80); }
  static constexpr taper::BFloat16 quiet_NaN() { return taper::BFloat16::from_bits(0x7fc0); }
};
