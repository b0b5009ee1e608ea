#include <cmath>

#include "channel_sums.cuh"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint32_t kWorthABlock = 4096;  // elements
constexpr std::uint32_t kMostParts = 1024;

/// Sums of x - k and (x - k)^2, where k is an element of the channel: what large, close numbers have in common cancels.
template <class T>
struct Statistics {
  BatchNormStatistics<T> s;
  double count;
  std::uint32_t step;  // from the first element of a channel to that of the next

  __device__ __forceinline__ ChannelSums of(std::uint32_t, std::uint32_t i, std::uint32_t start) const {
    const double d = double(s.x[i]) - double(s.x[start]);
    return {d, d * d};
  }
  __device__ __forceinline__ void finish(std::uint32_t c, ChannelSums sums) const {
    const double mean = double(s.x[c * step]) + sums.first / count;
    const double rest = sums.second - sums.first * sums.first / count;
    const double m2 = rest < 0 ? 0 : rest;  // NaN stays
    s.mean[c] = T(mean);
    s.invstd[c] = T(1 / std::sqrt(m2 / count + s.eps));
    const double momentum = s.momentum;
    if (s.running_mean != nullptr) s.running_mean[c] = T((1 - momentum) * double(s.running_mean[c]) + momentum * mean);
    if (s.running_var != nullptr)
      s.running_var[c] = T((1 - momentum) * double(s.running_var[c]) + momentum * m2 / (count - 1));
  }
};

/// Sums of dy and dy (x - mean).
template <class T>
struct Gradients {
  BatchNormGradients<T> g;
  double count;
  std::uint32_t channels;

  __device__ __forceinline__ ChannelSums of(std::uint32_t c, std::uint32_t i, std::uint32_t) const {
    const double dy = double(g.dy[i]);
    return {dy, dy * (double(g.x[i]) - double(g.mean[c]))};
  }
  __device__ __forceinline__ void finish(std::uint32_t c, ChannelSums sums) const {
    const double inv = double(g.invstd[c]), scale = inv * (g.weight == nullptr ? 1 : double(g.weight[c]));
    if (g.dbias != nullptr) g.dbias[c] = T(sums.first);
    if (g.dweight != nullptr) g.dweight[c] = T(sums.second * inv);
    g.numbers[c] = T(scale);
    g.numbers[channels + c] = T(sums.first / count);
    g.numbers[2 * channels + c] = T(-scale * inv * inv * sums.second / count);
  }
};

template <class T>
__global__ void running_statistics(std::uint32_t channels, double eps, const T* running_mean, const T* running_var,
                                   T* mean, T* invstd) {
  const std::uint32_t c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= channels) return;
  mean[c] = running_mean[c];
  invstd[c] = T(1 / std::sqrt(double(running_var[c]) + eps));
}

// ---- Elements
// --------------------------------------------------------------------------------------------------------
__device__ __forceinline__ std::uint32_t channel_of(const BatchNormShape& s, std::uint32_t i) {
  const std::uint32_t plane = s.channels_last ? i : s.l.divide(i);
  return plane - s.c.divide(plane) * s.c.divisor;
}

template <class T>
__global__ void normalize(const BatchNormShape s, std::uint32_t n, const T* x, const T* mean, const T* invstd,
                          const T* weight, const T* bias, T* y) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const std::uint32_t c = channel_of(s, i);
    const T factor = invstd[c] * (weight == nullptr ? T(1) : weight[c]);
    y[i] = (x[i] - mean[c]) * factor + (bias == nullptr ? T(0) : bias[c]);
  }
}

template <class T>
__global__ void input_gradients(const BatchNormShape s, std::uint32_t n, const BatchNormGradients<T> g) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const std::uint32_t c = channel_of(s, i), channels = s.c.divisor;
    if (g.uses_batch_statistics)
      g.dx[i] = (g.dy[i] - g.numbers[channels + c]) * g.numbers[c] + (g.x[i] - g.mean[c]) * g.numbers[2 * channels + c];
    else
      g.dx[i] = g.dy[i] * (g.invstd[c] * (g.weight == nullptr ? T(1) : g.weight[c]));
  }
}

}  // namespace

std::uint32_t batch_norm_parts(const Queue& queue, const BatchNormShape& s) {
  const auto less = [](std::uint32_t a, std::uint32_t b) { return a < b ? a : b; };
  const std::uint32_t wanted = queue.multi_processors * 4 / blocks_for_channels(s);
  const std::uint32_t together = are_columns(s) ? less(s.c.divisor, kWarp) : 1;  // channels of a block
  const std::uint32_t worth = std::uint32_t(std::uint64_t(s.per_channel()) * together / kWorthABlock);
  const std::uint32_t parts = less(less(wanted, worth), kMostParts);
  return parts == 0 ? 1 : parts;
}

template <class T>
void batch_norm_statistics(const Queue& queue, const BatchNormShape& shape, const BatchNormStatistics<T>& s,
                           ChannelSums* sums) {
  sum_channels(queue, shape, Statistics<T>{s, double(shape.per_channel()), are_columns(shape) ? 1 : shape.l.divisor},
               sums);
}
template <class T>
void batch_norm_running(const Queue& queue, std::uint32_t channels, double eps, const T* running_mean,
                        const T* running_var, T* mean, T* invstd) {
  launch(queue, "batch_norm", (channels + kThreads - 1) / kThreads, kThreads, 0, running_statistics<T>, channels, eps,
         running_mean, running_var, mean, invstd);
}
template <class T>
void batch_norm_apply(const Queue& queue, const BatchNormShape& s, const T* x, const T* mean, const T* invstd,
                      const T* weight, const T* bias, T* y) {
  const std::uint32_t n = s.per_channel() * s.c.divisor;
  launch(queue, "batch_norm", blocks_for(queue, n, kThreads * 2), kThreads, 0, normalize<T>, s, n, x, mean, invstd,
         weight, bias, y);
}
template <class T>
void batch_norm_backward(const Queue& queue, const BatchNormShape& s, const BatchNormGradients<T>& g,
                         ChannelSums* sums) {
  if (g.dweight != nullptr || g.dbias != nullptr || (g.dx != nullptr && g.uses_batch_statistics))
    sum_channels(queue, s, Gradients<T>{g, double(s.per_channel()), s.c.divisor}, sums);
  const std::uint32_t n = s.per_channel() * s.c.divisor;
  if (g.dx != nullptr)
    launch(queue, "batch_norm_backward", blocks_for(queue, n, kThreads * 2), kThreads, 0, input_gradients<T>, s, n, g);
}

#define TAPER_BATCH_NORM(T)                                                                                   \
  template void batch_norm_statistics(const Queue&, const BatchNormShape&, const BatchNormStatistics<T>&,     \
                                      ChannelSums*);                                                          \
  template void batch_norm_running(const Queue&, std::uint32_t, double, const T*, const T*, T*, T*);          \
  template void batch_norm_apply(const Queue&, const BatchNormShape&, const T*, const T*, const T*, const T*, \
                                 const T*, T*);                                                               \
  template void batch_norm_backward(const Queue&, const BatchNormShape&, const BatchNormGradients<T>&, ChannelSums*);
TAPER_BATCH_NORM(float)
TAPER_BATCH_NORM(double)

}  // namespace taper::cuda_kernels
