#pragma once
// Adding to elements where positions say, in the order of the positions: the positions of a line are sorted first, so
// that what goes to one element follows each other, and one thread does it.
#include <cstdint>

#include "cuda/positions.h"
#include "cuda/queue.h"
#include "cuda/walk.h"

namespace taper::cuda_kernels {

inline constexpr std::uint32_t kNowhere = 0xffffffffu;  // the key of a position that is out of range
/// keys[i] = the position of element i, or kNowhere.
void position_keys(const Queue& queue, const Walk<1>& index, const Positions& positions, std::uint32_t* keys);

enum class Combining : std::int32_t { add, multiply, largest, smallest };

struct Combine {
  const std::uint32_t* keys;   // [lines, n], ascending in each line
  const std::uint32_t* order;  // where each was before the line was sorted
  const std::int64_t* places;  // where each position is, if not at key * to_step; else null
  FastDiv elements;            // of the walk: each does all n entries of its line
  std::uint32_t n;
  std::int64_t to_step, from_step;  // from one key to the next, and from one entry to the next
  Combining kind;
  bool include_self, mean;
};
/// The walk leads to the elements of `to` and `from` that belong to a line, and to the number of the line times n.
template <class T>
void combine(const Queue& queue, const Walk<3>& to_from_line, const Combine& c, T* to, const T* from);

}  // namespace taper::cuda_kernels
