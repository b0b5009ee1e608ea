#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace taper {

/// How exactly CUDA devices multiply matrices of float32, in matmul, linear, convolutions and all that is made of them:
///
///   "highest"   in float32 (the start value)
///   "high"      operands rounded to 10 bits of mantissa (TF32), errors of about 3e-4; several times as fast
///   "medium"    operands rounded to bfloat16, errors of about 3e-3
///
/// Sums are float32 in all three. Other dtypes, the cpu, and convolutions that are computed without a product of
/// matrices do not change. It holds for all threads from the next call on; a captured cuda::Graph keeps what it was
/// captured with. Throws ValueError for another name.
void set_float32_matmul_precision(std::string_view precision);
std::string get_float32_matmul_precision();

enum class Float32MatmulPrecision : std::uint8_t { highest, high, medium };
/// The same, for kernels.
Float32MatmulPrecision float32_matmul_precision() noexcept;

}  // namespace taper
