#pragma once
#include <cstdint>

namespace taper {

class Tensor;

enum class Overlap : std::uint8_t {
  none,       // no byte in common
  identical,  // element i of one is element i of the other
  partial     // anything else
};
/// How the elements of two tensors lie in memory.
Overlap overlap(const Tensor& a, const Tensor& b);
/// Whether two elements of t are the same memory, as after expand().
bool overlaps_itself(const Tensor& t);

}  // namespace taper
