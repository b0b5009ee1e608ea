#include <taper/error.h>
#include <taper/matmul_precision.h>

#include <array>
#include <atomic>

namespace taper {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"highest", "high", "medium"};  // in the order of the enumeration
constinit std::atomic<Float32MatmulPrecision> current = Float32MatmulPrecision::highest;

}  // namespace

void set_float32_matmul_precision(std::string_view precision) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (precision == kNames[i]) return current.store(Float32MatmulPrecision(i), std::memory_order_relaxed);
  raise<ValueError>("set_float32_matmul_precision: got \"", precision,
                    "\"; expected \"highest\" (float32), \"high\" (TF32) or \"medium\" (bfloat16)");
}
std::string get_float32_matmul_precision() { return std::string(kNames[std::size_t(float32_matmul_precision())]); }
Float32MatmulPrecision float32_matmul_precision() noexcept { return current.load(std::memory_order_relaxed); }

}  // namespace taper
