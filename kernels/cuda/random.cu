#include "positions.cuh"
#include "random.h"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint32_t kBlock = 4;  // elements that share a block of Philox

/// The words of the elements of one block.
struct Words {
  philox::Block high, low;  // low only where numbers of 64 bits are made
};
template <class T>
__device__ __forceinline__ auto bits_of(const Words& w, std::uint32_t k) {
  if constexpr (sizeof(T) == 8)
    return philox::join(w.high.word[k], w.low.word[k]);
  else
    return w.high.word[k];
}

// What makes the values of a block: make(words, k, i) gives element i, number k of its block.
template <class T>
struct Uniform {
  static constexpr bool wide = sizeof(T) == 8;
  T low, width, most;
  __device__ T operator()(const Words& w, std::uint32_t k, std::uint32_t) const {
    const T v = std::fma(philox::uniform(bits_of<T>(w, k)), width, low);
    return v < most ? v : most;
  }
};
/// Two neighbours come from one pair of bits.
template <class T>
struct Normal {
  static constexpr bool wide = sizeof(T) == 8;
  T mean, std;
  __device__ T operator()(const Words& w, std::uint32_t k, std::uint32_t) const {
    const auto pair = philox::normal_pair(bits_of<T>(w, k & ~1u), bits_of<T>(w, k | 1u));
    return std::fma(k & 1u ? pair.sin : pair.cos, std, mean);
  }
};
template <class T>
struct Exponential {
  static constexpr bool wide = sizeof(T) == 8;
  T mean;
  __device__ T operator()(const Words& w, std::uint32_t k, std::uint32_t) const {
    return philox::exponential(bits_of<T>(w, k)) * mean;
  }
};
template <bool is_wide>
struct Integer {
  static constexpr bool wide = is_wide;
  std::uint64_t from, range;
  __device__ std::int64_t operator()(const Words& w, std::uint32_t k, std::uint32_t) const {
    if constexpr (is_wide)
      return std::int64_t(from + philox::below(philox::join(w.high.word[k], w.low.word[k]), range));
    else
      return std::int64_t(from + philox::below(w.high.word[k], range));
  }
};
template <class T>
struct FixedEvent {
  static constexpr bool wide = false;
  Event event;
  __device__ T operator()(const Words& w, std::uint32_t k, std::uint32_t) const {
    return T(!event.never && w.high.word[k] <= event.last ? 1 : 0);
  }
};
template <class T>
struct DrawnEvent {
  static constexpr bool wide = false;
  Watch watch;
  const T* p;
  __device__ T operator()(const Words& w, std::uint32_t k, std::uint32_t i) const {
    const T probability = p[i];
    if (probability >= 0 && probability <= 1) return T(w.high.word[k] < philox::threshold(double(probability)) ? 1 : 0);
    tell(watch, 0, double(probability), 0);
    return T(0);
  }
};
template <class T>
struct Dropped {
  static constexpr bool wide = false;
  Event keep;
  T scale;
  const T* x;
  __device__ T operator()(const Words& w, std::uint32_t k, std::uint32_t i) const {
    // A product, not a choice: infinity and NaN do not vanish.
    return x[i] * (scale * T(w.high.word[k] <= keep.last ? 1 : 0));
  }
};

template <class T, class Make>
__global__ void fill_random(const RandomSource source, const std::uint32_t n, const Make make, T* out) {
  RandomStream stream = source.stream;
  if (source.first != nullptr) stream = {source.first->seed, source.first->stream + stream.stream};
  const std::uint32_t blocks = (n + kBlock - 1) / kBlock;
  for (std::uint32_t b = blockIdx.x * blockDim.x + threadIdx.x; b < blocks; b += gridDim.x * blockDim.x) {
    Words words;
    words.high = philox::high(stream, b);
    if constexpr (Make::wide) words.low = philox::low(stream, b);
    const std::uint32_t first = b * kBlock, here = min(kBlock, n - first);
    for (std::uint32_t k = 0; k < kBlock; ++k)
      if (k < here) out[first + k] = make(words, k, first + k);
  }
}

template <class T, class Make>
void start(const char* name, const Queue& queue, const RandomSource& source, std::uint32_t n, const Make& make,
           T* out) {
  launch(queue, name, blocks_for(queue, n, kThreads * kBlock), kThreads, 0, fill_random<T, Make>, source, n, make, out);
}

}  // namespace

template <class T>
void fill_uniform(const Queue& queue, const RandomSource& source, std::uint32_t n, T low, T width, T most, T* out) {
  start("uniform_", queue, source, n, Uniform<T>{low, width, most}, out);
}
template <class T>
void fill_normal(const Queue& queue, const RandomSource& source, std::uint32_t n, T mean, T std, T* out) {
  start("normal_", queue, source, n, Normal<T>{mean, std}, out);
}
template <class T>
void fill_exponential(const Queue& queue, const RandomSource& source, std::uint32_t n, T mean, T* out) {
  start("exponential_", queue, source, n, Exponential<T>{mean}, out);
}
void fill_integers(const Queue& queue, const RandomSource& source, std::uint32_t n, std::uint64_t from,
                   std::uint64_t range, std::int64_t* out) {
  if (range <= philox::kNarrowRange)
    start("random_", queue, source, n, Integer<false>{from, range}, out);
  else
    start("random_", queue, source, n, Integer<true>{from, range}, out);
}
template <class T>
void fill_events(const Queue& queue, const RandomSource& source, std::uint32_t n, Event event, T* out) {
  start("bernoulli_", queue, source, n, FixedEvent<T>{event}, out);
}
template <class T>
void draw_events(const Queue& queue, const RandomSource& source, std::uint32_t n, const Watch& watch, const T* p,
                 T* out) {
  start("bernoulli", queue, source, n, DrawnEvent<T>{watch, p}, out);
}
template <class T>
void drop(const Queue& queue, const RandomSource& source, std::uint32_t n, Event keep, T scale, const T* x, T* out) {
  start("dropout", queue, source, n, Dropped<T>{keep, scale, x}, out);
}

template void fill_uniform(const Queue&, const RandomSource&, std::uint32_t, float, float, float, float*);
template void fill_uniform(const Queue&, const RandomSource&, std::uint32_t, double, double, double, double*);
template void fill_normal(const Queue&, const RandomSource&, std::uint32_t, float, float, float*);
template void fill_normal(const Queue&, const RandomSource&, std::uint32_t, double, double, double*);
template void fill_exponential(const Queue&, const RandomSource&, std::uint32_t, float, float*);
template void fill_exponential(const Queue&, const RandomSource&, std::uint32_t, double, double*);
template void fill_events(const Queue&, const RandomSource&, std::uint32_t, Event, std::uint8_t*);
template void fill_events(const Queue&, const RandomSource&, std::uint32_t, Event, float*);
template void draw_events(const Queue&, const RandomSource&, std::uint32_t, const Watch&, const float*, float*);
template void draw_events(const Queue&, const RandomSource&, std::uint32_t, const Watch&, const double*, double*);
template void drop(const Queue&, const RandomSource&, std::uint32_t, Event, float, const float*, float*);
template void drop(const Queue&, const RandomSource&, std::uint32_t, Event, double, const double*, double*);

}  // namespace taper::cuda_kernels
