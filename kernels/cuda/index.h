#pragma once
// Reading and writing where positions say. Elements are moved by size: the types are unsigned integers of 1, 2, 4 and 8
// bytes, and Sixteen.
#include <cstdint>

#include "cuda/positions.h"
#include "cuda/queue.h"
#include "cuda/walk.h"

namespace taper::cuda_kernels {

struct alignas(16) Sixteen {
  std::uint64_t part[2];
};

/// to[...] = from[... + position * step]; 0 where the position is out of range.
template <class T>
void take(const Queue& queue, const Walk<3>& to_from_index, const Positions& positions, std::int64_t step, T* to,
          const T* from);

/// Writes in which several positions may meet: the last of them, by its number, is the one that counts.
struct Owners {
  std::int32_t* owner;          // for each target, 1 + the highest number that goes there; null: no two positions meet
  std::int64_t step;            // from one position's target to the next
  const std::int64_t* targets;  // which target each position has, where that is not position * step; else null
};
/// owners.owner[... + position * step] = the highest number of a position that goes there; numbers count the shape.
void claim(const Queue& queue, const Walk<2>& owner_index, const Positions& positions, const Owners& owners);
/// to[... + position * step] = from[...], for the positions that own their target.
template <class T>
void replace(const Queue& queue, const Walk<5>& to_from_index_owner_number, const Positions& positions,
             std::int64_t step, const Owners& owners, T* to, const T* from);

/// One of several position tensors that are used together: adds position * step to places, and to targets, which grow
/// by `size` of them first; -1 where a position is out of range. The first one starts both.
void add_positions(const Queue& queue, const Walk<1>& index, const Positions& positions, bool first, std::int64_t step,
                   std::int64_t* places, std::int64_t* targets);

/// The coordinates of what mask has true, at row ends[i] - 1 for element i: ends are the running sums of the mask.
struct Coordinates {
  std::uint32_t count;
  std::int32_t rank;
  FastDiv size[16];  // innermost first
};
inline constexpr int kMostCoordinates = 16;
void list_true(const Queue& queue, const Coordinates& shape, const bool* mask, const std::int64_t* ends,
               std::int64_t* out);

/// out, dense, = x where it is on or below the diagonal (on or above it), else 0. x has the matrix in its last dims.
struct Triangle {
  FastDiv rows, columns;
  std::int64_t diagonal;
  bool lower;
};
template <class T>
void triangle(const Queue& queue, const Walk<1>& x_walk, const Triangle& shape, const T* x, T* out);

}  // namespace taper::cuda_kernels
