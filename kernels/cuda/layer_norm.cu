#include <cmath>

#include "channel_sums.cuh"
#include "layer_norm.h"
#include "team.cuh"

namespace taper::cuda_kernels {
namespace {

template <class T, class Lines>
__global__ void normalize_lines(const LayerNormShape s, const LayerNormCall<T> call) {
  TAPER_SHARED(double, scratch, [kWarp]);
  for (std::int64_t line = Lines::first(); line < s.lines; line += Lines::step()) {
    const T* x = call.x + line * s.n;
    double part = 0;
    if (s.centered)
      for (std::int64_t i = Lines::rank(); i < s.n; i += Lines::size) part += double(x[i]);
    const double mean = s.centered ? Lines::sum(part, scratch) / double(s.n) : 0;
    double squares = 0;
    for (std::int64_t i = Lines::rank(); i < s.n; i += Lines::size) {
      const double d = double(x[i]) - mean;
      squares += d * d;
    }
    const T invstd = T(1 / std::sqrt(Lines::sum(squares, scratch) / double(s.n) + call.eps));
    if (Lines::rank() == 0) call.mean[line] = T(mean), call.invstd[line] = invstd;
    for (std::int64_t i = Lines::rank(); i < s.n; i += Lines::size) {
      const T scaled = (x[i] - T(mean)) * invstd * (call.weight == nullptr ? T(1) : call.weight[i]);
      call.y[line * s.n + i] = call.bias == nullptr ? scaled : scaled + call.bias[i];
    }
  }
}

/// dx = invstd (g w - mean(g w) - xhat mean(g w xhat)), xhat = (x - mean) invstd; without the second term if the mean
/// is not subtracted.
template <class T, class Lines>
__global__ void line_gradients(const LayerNormShape s, const LayerNormGradients<T> g, T* dx) {
  TAPER_SHARED(double, scratch, [kWarp]);
  for (std::int64_t line = Lines::first(); line < s.lines; line += Lines::step()) {
    const T *dy = g.dy + line * s.n, *x = g.x + line * s.n;
    const T mean = g.mean[line], invstd = g.invstd[line];
    double plain = 0, scaled = 0;
    for (std::int64_t i = Lines::rank(); i < s.n; i += Lines::size) {
      const double weighted = double(dy[i]) * (g.weight == nullptr ? 1 : double(g.weight[i]));
      plain += weighted, scaled += weighted * (double(x[i]) - double(mean));
    }
    const double sum = Lines::sum(plain, scratch), sum_scaled = Lines::sum(scaled, scratch) * double(invstd);
    const T a = s.centered ? T(sum / double(s.n)) : T(0), b = T(sum_scaled / double(s.n)) * invstd;
    for (std::int64_t i = Lines::rank(); i < s.n; i += Lines::size)
      dx[line * s.n + i] = (dy[i] * (g.weight == nullptr ? T(1) : g.weight[i]) - a - (x[i] - mean) * b) * invstd;
  }
}

/// Sums of dy and dy xhat, for each element of the lines.
template <class T>
struct ParameterGradients {
  LayerNormGradients<T> g;
  FastDiv n;
  T *dweight, *dbias;

  __device__ __forceinline__ ChannelSums of(std::uint32_t, std::uint32_t i, std::uint32_t) const {
    const std::uint32_t line = n.divide(i);
    const double dy = double(g.dy[i]);
    return {dy, dy * (double(g.x[i]) - double(g.mean[line])) * double(g.invstd[line])};
  }
  __device__ __forceinline__ void finish(std::uint32_t c, ChannelSums sums) const {
    if (dbias != nullptr) dbias[c] = T(sums.first);
    if (dweight != nullptr) dweight[c] = T(sums.second);
  }
};

}  // namespace

template <class T>
void layer_norm(const Queue& queue, const LayerNormShape& s, const LayerNormCall<T>& call) {
  with_team(s.lines, s.n, 1, [&](auto team) {
    launch(queue, "layer_norm", blocks_for_team(queue, s.lines, team), kTeamThreads, 0,
           normalize_lines<T, decltype(team)>, s, call);
  });
}
template <class T>
void layer_norm_input_gradient(const Queue& queue, const LayerNormShape& s, const LayerNormGradients<T>& g, T* dx) {
  with_team(s.lines, s.n, 1, [&](auto team) {
    launch(queue, "layer_norm_backward", blocks_for_team(queue, s.lines, team), kTeamThreads, 0,
           line_gradients<T, decltype(team)>, s, g, dx);
  });
}
template <class T>
void layer_norm_parameter_gradients(const Queue& queue, const BatchNormShape& columns, const LayerNormGradients<T>& g,
                                    T* dweight, T* dbias, ChannelSums* sums) {
  sum_channels(queue, columns, ParameterGradients<T>{g, columns.c, dweight, dbias}, sums);
}

#define TAPER_LAYER_NORM(T)                                                                                           \
  template void layer_norm(const Queue&, const LayerNormShape&, const LayerNormCall<T>&);                             \
  template void layer_norm_input_gradient(const Queue&, const LayerNormShape&, const LayerNormGradients<T>&, T*);     \
  template void layer_norm_parameter_gradients(const Queue&, const BatchNormShape&, const LayerNormGradients<T>&, T*, \
                                               T*, ChannelSums*);
TAPER_LAYER_NORM(float)
TAPER_LAYER_NORM(double)

}  // namespace taper::cuda_kernels
