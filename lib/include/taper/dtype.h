#pragma once
#include <taper/error.h>

#include <cstddef>
#include <cstdint>

namespace taper {

/// Element type of a tensor. The gaps are the places of float16, bfloat16, int8 and int16.
enum class DType : std::uint8_t { bool_ = 0, uint8 = 1, int32 = 4, int64 = 5, float32 = 8, float64 = 9 };

inline constexpr DType bool_ = DType::bool_;
inline constexpr DType uint8 = DType::uint8;
inline constexpr DType int32 = DType::int32;
inline constexpr DType int64 = DType::int64;
inline constexpr DType float32 = DType::float32;
inline constexpr DType float64 = DType::float64;

inline constexpr DType kAllDTypes[] = {bool_, uint8, int32, int64, float32, float64};

/// Bytes of one element.
constexpr std::size_t itemsize(DType d) {
  switch (d) {
    case DType::bool_:
    case DType::uint8:
      return 1;
    case DType::int32:
    case DType::float32:
      return 4;
    default:
      return 8;
  }
}
constexpr bool is_floating(DType d) { return d >= DType::float32; }
/// True for integers, not for bool.
constexpr bool is_integral(DType d) { return d > DType::bool_ && d < DType::float32; }

constexpr const char* name_of(DType d) {
  switch (d) {
    case DType::bool_:
      return "bool";
    case DType::uint8:
      return "uint8";
    case DType::int32:
      return "int32";
    case DType::int64:
      return "int64";
    case DType::float32:
      return "float32";
    default:
      return "float64";
  }
}
inline void append_to(std::string& s, DType d) { s.append(name_of(d)); }

/// The smallest dtype that holds both, as torch.promote_types: kind first (bool < integer < floating), then width.
constexpr DType promote_types(DType a, DType b) { return a > b ? a : b; }  // the enumeration is in this order

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
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::int64;
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
    case DType::int32:
      return f(Type<std::int32_t>{});
    case DType::int64:
      return f(Type<std::int64_t>{});
    case DType::float32:
      return f(Type<float>{});
    default:
      return f(Type<double>{});
  }
}
/// As dispatch_all, for every number type; bool is an error that names the operator.
template <class F>
decltype(auto) dispatch_numbers(DType d, const char* op, F&& f) {
  switch (d) {
    case DType::uint8:
      return f(Type<std::uint8_t>{});
    case DType::int32:
      return f(Type<std::int32_t>{});
    case DType::int64:
      return f(Type<std::int64_t>{});
    case DType::float32:
      return f(Type<float>{});
    case DType::float64:
      return f(Type<double>{});
    default:
      raise<DTypeError>(op, ": is not defined for bool; convert with x.to(taper::int64) first");
  }
}
/// As dispatch_all, for float32 and float64; anything else is an error that names the operator.
template <class F>
decltype(auto) dispatch_floating(DType d, const char* op, F&& f) {
  if (d == DType::float32) return f(Type<float>{});
  check<DTypeError>(d == DType::float64, op, ": needs a floating dtype, got ", d,
                    "; convert with x.to(taper::float32) first");
  return f(Type<double>{});
}

}  // namespace taper
