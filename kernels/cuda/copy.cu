// Conversions between all dtypes; elements of one dtype are moved by size.
#include "elementwise.cuh"

namespace taper::cuda_kernels {

template <class To, class... From>
struct CastsTo {
  static constexpr ElementLoop loops[] = {element_loop<fn::Cast<To>, To, From>...};
  static void use() { detail::use({element_loop<fn::Cast<To>, To, From>...}); }
};
template struct CastsTo<bool, bool, std::uint8_t, std::int32_t, std::int64_t, float, double>;
template struct CastsTo<std::uint8_t, bool, std::uint8_t, std::int32_t, std::int64_t, float, double>;
template struct CastsTo<std::int32_t, bool, std::uint8_t, std::int32_t, std::int64_t, float, double>;
template struct CastsTo<std::int64_t, bool, std::uint8_t, std::int32_t, std::int64_t, float, double>;
template struct CastsTo<float, bool, std::uint8_t, std::int32_t, std::int64_t, float, double>;
template struct CastsTo<double, bool, std::uint8_t, std::int32_t, std::int64_t, float, double>;

// float16 and bfloat16 are made of float and become float; what has 16 bits is moved as it is.
template struct CastsTo<std::uint16_t, std::uint16_t>;
template struct CastsTo<float, Half, BFloat16>;
template struct CastsTo<Half, float>;
template struct CastsTo<BFloat16, float>;

// int8 and int16 are made of int32 and become int32.
template struct CastsTo<std::int32_t, std::int8_t, std::int16_t>;
template struct CastsTo<std::int8_t, std::int32_t>;
template struct CastsTo<std::int16_t, std::int32_t>;

}  // namespace taper::cuda_kernels
