// The functions of pointwise/compare.h.
#include "elementwise.cuh"

namespace taper::cuda_kernels {

template struct MasksOnAll<2, fn::Eq, fn::Ne, fn::Lt, fn::Le, fn::LogicalAnd, fn::LogicalOr, fn::LogicalXor>;

/// A choice by a mask, for one size of element.
template <class T>
struct Choice {
  static constexpr ElementLoop loop = element_loop<fn::Where, T, bool, T, T>;
  static void use() { detail::use({element_loop<fn::Where, T, bool, T, T>}); }
};
template struct Choice<std::uint8_t>;
template struct Choice<std::int32_t>;
template struct Choice<std::int64_t>;

}  // namespace taper::cuda_kernels
