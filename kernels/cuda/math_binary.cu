// The functions of pointwise/math_binary.h.
#include <taper/ops/fn_binary.h>

#include "elementwise.cuh"

namespace taper::cuda_kernels {

template struct OnNumbers<2, fn::Remainder, fn::Fmod, fn::FloorDivide, fn::TruncDivide>;
template struct OnAll<2, fn::Fmax, fn::Fmin>;
template struct OnFloating<2, fn::Copysign, fn::Atan2, fn::Hypot, fn::Xlogy, fn::Logaddexp, fn::Logaddexp2>;

template <int arity, class... F>
struct OnBits {
  static constexpr const ElementLoop* loops[] = {
      Loops<arity, F, bool, std::uint8_t, std::int32_t, std::int64_t>::loops...};
  static void use() { (Loops<arity, F, bool, std::uint8_t, std::int32_t, std::int64_t>::use(), ...); }
};
template <int arity, class... F>
struct OnIntegers {
  static constexpr const ElementLoop* loops[] = {Loops<arity, F, std::uint8_t, std::int32_t, std::int64_t>::loops...};
  static void use() { (Loops<arity, F, std::uint8_t, std::int32_t, std::int64_t>::use(), ...); }
};
template struct OnBits<1, fn::BitNot>;
template struct OnBits<2, fn::BitAnd, fn::BitOr, fn::BitXor>;
template struct OnIntegers<2, fn::ShiftLeft, fn::ShiftRight>;

template struct Loops<3, fn::Lerp, float, double>;
template <class... T>
struct Blends {
  static constexpr ElementLoop by[] = {element_loop<fn::LerpBy<T>, T, T, T>...};
  static constexpr ElementLoop quotients[] = {element_loop<fn::AddQuotient<T>, T, T, T, T>...};
  static void use() {
    detail::use({element_loop<fn::LerpBy<T>, T, T, T>...}),
        detail::use({element_loop<fn::AddQuotient<T>, T, T, T, T>...});
  }
};
template struct Blends<float, double>;
template <class... T>
struct AddedProducts {
  static constexpr ElementLoop loops[] = {element_loop<fn::AddProduct<T>, T, T, T, T>...};
  static void use() { detail::use({element_loop<fn::AddProduct<T>, T, T, T, T>...}); }
};
template struct AddedProducts<std::uint8_t, std::int32_t, std::int64_t, float, double>;

}  // namespace taper::cuda_kernels
