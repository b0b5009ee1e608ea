#pragma once
#include <cstdint>

namespace taper {

class SizesAndStrides;
class Tensor;

enum class Overlap : std::uint8_t {
  none,       // no byte in common
  identical,  // element i of one is element i of the other
  partial     // anything else
};
/// How the elements of two tensors lie in memory.
Overlap overlap(const Tensor& a, const Tensor& b);
/// Whether every element of `part`, whose first is number `offset` of the same storage, is an element of `whole`.
bool covers(const Tensor& whole, const SizesAndStrides& part, std::int64_t offset);
/// Whether two elements of t are the same memory, as after expand().
bool overlaps_itself(const Tensor& t);

}  // namespace taper
