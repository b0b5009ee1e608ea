#pragma once
#include <taper/error.h>
#include <taper/half.h>

#include <cstddef>
#include <cstdint>

namespace taper {

/// Element type of a tensor.
enum class DType : std::uint8_t {
  bool_ = 0,
  uint8 = 1,
  int8 = 2,
  int16 = 3,
  int32 = 4,
  int64 = 5,
  float16 = 6,
  bfloat16 = 7,
  float32 = 8,
  float64 = 9
};

inline constexpr DType bool_ = DType::bool_;
inline constexpr DType uint8 = DType::uint8;
inline constexpr DType int8 = DType::int8;
inline constexpr DType int16 = DType::int16;
inline constexpr DType int32 = DType::int32;
inline constexpr DType int64 = DType::int64;
inline constexpr DType float16 = DType::float16;
inline constexpr DType bfloat16 = DType::bfloat16;
inline constexpr DType float32 = DType::float32;
inline constexpr DType float64 = DType::float64;

inline constexpr DType kAllDTypes[] = {bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64};

/// Bytes of one element.
constexpr std::size_t itemsize(DType d) {
  constexpr std::uint8_t kSizes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8};
  return kSizes[std::size_t(d)];
}
constexpr bool is_floating(DType d) { return d >= DType::float16; }
/// True for integers, not for bool.
constexpr bool is_integral(DType d) { return d > DType::bool_ && d < DType::float16; }
/// float16 and bfloat16: stored in 16 bits, computed in float32.
constexpr bool is_16_bit_float(DType d) { return d == DType::float16 || d == DType::bfloat16; }
/// The dtype that arithmetic on d happens in.
constexpr DType compute_dtype(DType d) { return is_16_bit_float(d) ? DType::float32 : d; }

constexpr const char* name_of(DType d) {
  constexpr const char* kNames[] = {"bool",  "uint8",   "int8",     "int16",   "int32",
                                    "int64", "float16", "bfloat16", "float32", "float64"};
  return kNames[std::size_t(d)];
}
inline void append_to(std::string& s, DType d) { s.append(name_of(d)); }

/// The smallest dtype that holds both, as torch.promote_types: kind first (bool < integer < floating), then width.
/// What holds neither alone becomes the next wider: uint8 and int8 give int16, float16 and bfloat16 give float32.
constexpr DType promote_types(DType a, DType b) {
  const DType low = a < b ? a : b, high = a < b ? b : a;  // the enumeration is in the order of promotion
  if (low == DType::uint8 && high == DType::int8) return DType::int16;
  if (low == DType::float16 && high == DType::bfloat16) return DType::float32;
  return high;
}

/// Whether a result of dtype `from` may be stored into `to` by an in-place or out form: never floating into
/// integer, never a number into bool. As torch.can_cast.
constexpr bool can_cast(DType from, DType to) {
  if (is_floating(from) && !is_floating(to)) return false;
  return from == DType::bool_ || to != DType::bool_;
}

template <class T>
struct Type {
  using type = T;
};

/// The DType of a C++ type.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::bool_;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::uint8;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::int8;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::int16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::int64;
};
template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::float16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::bfloat16;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

/// Calls f(Type<T>{}) with the C++ type of d.
template <class F>
decltype(auto) dispatch_all(DType d, F&& f) {
  switch (d) {
    case DType::bool_:
      return f(Type<bool>{});
    case DType::uint8:
      return f(Type<std::uint8_t>{});
    case DType::int8:
      return f(Type<std::int8_t>{});
    case DType::int16:
      return f(Type<std::int16_t>{});
    case DType::int32:
      return f(Type<std::int32_t>{});
    case DType::int64:
      return f(Type<std::int64_t>{});
    case DType::float16:
      return f(Type<Half>{});
    case DType::bfloat16:
      return f(Type<BFloat16>{});
    case DType::float32:
      return f(Type<float>{});
    default:
      return f(Type<double>{});
  }
}
namespace detail {
[[noreturn]] void raise_no_16_bit(const char* op, DType d);
}
/// As dispatch_all, for every number type; bool is an error that names the operator. So are float16 and bfloat16, which
/// arithmetic takes as float32: pass compute_dtype(d) for elements that are.
template <class F>
decltype(auto) dispatch_numbers(DType d, const char* op, F&& f) {
  switch (d) {
    case DType::uint8:
      return f(Type<std::uint8_t>{});
    case DType::int8:
      return f(Type<std::int8_t>{});
    case DType::int16:
      return f(Type<std::int16_t>{});
    case DType::int32:
      return f(Type<std::int32_t>{});
    case DType::int64:
      return f(Type<std::int64_t>{});
    case DType::float32:
      return f(Type<float>{});
    case DType::float64:
      return f(Type<double>{});
    case DType::bool_:
      raise<DTypeError>(op, ": is not defined for bool; convert with x.to(taper::int64) first");
    default:
      detail::raise_no_16_bit(op, d);
  }
}
/// As dispatch_all, with the C++ type that arithmetic on d happens in: float for float16 and bfloat16.
template <class F>
decltype(auto) dispatch_computed(DType d, F&& f) {
  if (d == DType::bool_) return f(Type<bool>{});
  return dispatch_numbers(compute_dtype(d), "", f);
}

/// As dispatch_numbers, for float32 and float64; anything else is an error that names the operator.
template <class F>
decltype(auto) dispatch_floating(DType d, const char* op, F&& f) {
  if (d == DType::float32) return f(Type<float>{});
  if (is_16_bit_float(d)) [[unlikely]]
    detail::raise_no_16_bit(op, d);
  check<DTypeError>(d == DType::float64, op, ": needs a floating dtype, got ", d,
                    "; convert with x.to(taper::float32) first");
  return f(Type<double>{});
}

}  // namespace taper
