#pragma once
// Random numbers: the bits of <taper/philox.h>, the same as on the cpu. `out` is dense.
#include <taper/philox.h>

#include <cstdint>

#include "cuda/finding.h"
#include "cuda/queue.h"

namespace taper::cuda_kernels {

/// The numbers of one call. In a captured graph `first` is where the device finds the stream that the graph's first
/// call has in this replay, and `stream` counts from there; else it is null.
struct RandomSource {
  RandomStream stream;
  const RandomStream* first;
};

/// low + width * u for u in [0, 1), kept to at most `most`.
template <class T>
void fill_uniform(const Queue& queue, const RandomSource& source, std::uint32_t n, T low, T width, T most, T* out);
template <class T>
void fill_normal(const Queue& queue, const RandomSource& source, std::uint32_t n, T mean, T std, T* out);
template <class T>
void fill_exponential(const Queue& queue, const RandomSource& source, std::uint32_t n, T mean, T* out);
/// from + an integer below `range`.
void fill_integers(const Queue& queue, const RandomSource& source, std::uint32_t n, std::uint64_t from,
                   std::uint64_t range, std::int64_t* out);
/// An event of a fixed probability: it happens if the word is at most `last`, unless it never does.
struct Event {
  std::uint32_t last;
  bool never;
};
/// 1 where the event happens, else 0.
template <class T>
void fill_events(const Queue& queue, const RandomSource& source, std::uint32_t n, Event event, T* out);
/// 1 with the probability in p, else 0.
template <class T>
void draw_events(const Queue& queue, const RandomSource& source, std::uint32_t n, const Watch& watch, const T* p,
                 T* out);
/// x * scale where the event happens, else x * 0.
template <class T>
void drop(const Queue& queue, const RandomSource& source, std::uint32_t n, Event keep, T scale, const T* x, T* out);

}  // namespace taper::cuda_kernels
