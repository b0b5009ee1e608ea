#include "conv2d_direct.h"
#include "conv2d_direct_image.h"
#include "ordered_sum.h"

namespace taper::cpu_kernels {
namespace {

constexpr int L = kLanes<float>;
using V = Vec<float>;

constexpr int kTileChannels = kManyRegisters ? 6 : 3, kTileTaps = 4;
constexpr int kTileRows = 8;

// ---- Lanes hold positions: the gradient of one weight is a dot product of dy and a shifted x -----------------------

/// Adds to sums [R, ld_sums / L vectors], taps one vector apart, what one image gives for R channels and N taps.
template <int R, int N>
void position_tile(const Conv2dShape& s, const float* dy, const float* const* x, std::int64_t x_row, float* sums,
                   std::int64_t ld_sums) {
  V sum[R][N];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int t = 0; t < N; ++t) sum[r][t] = load(sums + r * ld_sums + t * L);
  const std::int64_t p = s.positions();
  const float* tap[N];
#pragma GCC unroll 8
  for (int t = 0; t < N; ++t) tap[t] = x[t];
  for (std::int64_t i = 0; i < s.out_h; ++i, dy += s.out_w) {
    const auto step = [&](std::int64_t j, auto get) {
      V g[R];
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) g[r] = get(dy + r * p + j);
#pragma GCC unroll 8
      for (int t = 0; t < N; ++t) {
        const V value = get(tap[t] + j);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) sum[r][t] += g[r] * value;
      }
    };
    std::int64_t j = 0;
    for (; j + L <= s.out_w; j += L) step(j, [](const float* from) [[gnu::always_inline]] { return load(from); });
    // Both are masked: an infinity beyond the row must not meet a zero.
    const int rest = static_cast<int>(s.out_w - j);
    if (rest > 0) step(j, [rest](const float* from) [[gnu::always_inline]] { return load_first(from, rest); });
#pragma GCC unroll 8
    for (int t = 0; t < N; ++t) tap[t] += x_row;
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int t = 0; t < N; ++t) store(sums + r * ld_sums + t * L, sum[r][t]);
}

/// Adds images [begin, end) to sum [out_c, taps].
void add_by_positions(const Conv2dShape& s, const float* x, const float* dy, std::int64_t begin, std::int64_t end,
                      float* sum) {
  const PaddedImage order(s, PaddedImage::Order::planes);
  const std::int64_t taps = s.taps(), p = s.positions(), go = s.group_out_c(), x_row = s.stride_h * order.y_step;
  const Scratch<std::int64_t> offsets(taps);
  order.tap_offsets(offsets.data());
  const Scratch<float> padded(order.scratch_size()), turned(s.channels_last ? go * p : 0);
  const Scratch<float> lanes(s.out_c * taps * L);  // a vector for each weight, summed up at the end
  std::fill_n(lanes.data(), s.out_c * taps * L, 0.f);
  order.clear(padded.data());
  for (std::int64_t i = begin; i < end; ++i)
    for (std::int64_t g = 0; g < s.groups; ++g) {
      const float* image = order.fill(x + i * s.c * s.h * s.w, g, padded.data());
      const float* grad = dy + i * s.out_c * p + (s.channels_last ? g * go : g * go * p);
      if (s.channels_last) {
        transpose(p, go, grad, s.out_c, turned.data(), p);
        grad = turned;
      }
      for_even_parts(taps, kTileTaps, [&](std::int64_t t, int tap_count) {
        const float* from[kTileTaps];
        for (int k = 0; k < tap_count; ++k) from[k] = image + offsets[t + k];
        for_even_parts(go, kTileChannels, [&](std::int64_t o, int channels) {
          float* sums = lanes + ((g * go + o) * taps + t) * L;
          with_constant<kTileTaps>(tap_count, [&]<int N>(std::integral_constant<int, N>) {
            with_constant<kTileChannels>(channels, [&]<int R>(std::integral_constant<int, R>) {
              position_tile<R, N>(s, grad + o * p, from, x_row, sums, taps * L);
            });
          });
        });
      });
    }
  for (std::int64_t i = 0; i < s.out_c * taps; ++i) sum[i] += lane_sum<float>(load(lanes + i * L));
}

// ---- Lanes hold output channels -----------------------------------------------------------------------------------

/// Adds to sums [R taps, N vectors of channels] what one image gives. dy [positions, ld_dy].
template <int R, int N>
void channel_tile(const Conv2dShape& s, const float* dy, std::int64_t ld_dy, const float* image,
                  const std::int64_t* offsets, std::int64_t x_row, std::int64_t x_col, float* sums,
                  std::int64_t ld_sums) {
  V sum[R][N];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < N; ++v) sum[r][v] = load(sums + r * ld_sums + v * L);
  const float* tap[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) tap[r] = image + offsets[r];
  for (std::int64_t i = 0; i < s.out_h; ++i) {
    for (std::int64_t at = 0; at < s.out_w * x_col; at += x_col, dy += ld_dy) {
      V g[N];
#pragma GCC unroll 2
      for (int v = 0; v < N; ++v) g[v] = load(dy + v * L);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < N; ++v) sum[r][v] += tap[r][at] * g[v];
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) tap[r] += x_row;
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < N; ++v) store(sums + r * ld_sums + v * L, sum[r][v]);
}

void add_by_channels(const Conv2dShape& s, const float* x, const float* dy, std::int64_t begin, std::int64_t end,
                     float* sum) {
  const PaddedImage order(s, PaddedImage::Order::like_input);
  const std::int64_t taps = s.taps(), p = s.positions(), go = s.group_out_c(), width = (go + L - 1) / L * L;
  const std::int64_t x_row = s.stride_h * order.y_step, x_col = s.stride_w * order.x_step;
  const Scratch<std::int64_t> offsets(taps);
  order.tap_offsets(offsets.data());
  // dy must come in whole vectors of channels.
  const bool copies = !s.channels_last || width != go;
  const Scratch<float> padded(order.scratch_size()), rows(copies ? width * p : 0);
  const Scratch<float> sums(s.groups * taps * width);  // [groups, taps, width]
  std::fill_n(sums.data(), s.groups * taps * width, 0.f);
  if (copies) std::fill_n(rows.data(), width * p, 0.f);
  order.clear(padded.data());
  for (std::int64_t i = begin; i < end; ++i)
    for (std::int64_t g = 0; g < s.groups; ++g) {
      const float* image = order.fill(x + i * s.c * s.h * s.w, g, padded.data());
      const float* grad = dy + i * s.out_c * p + (s.channels_last ? g * go : g * go * p);
      std::int64_t ld = s.out_c;
      if (copies) {
        if (s.channels_last)
          for (std::int64_t q = 0; q < p; ++q) copy_row(grad + q * s.out_c, go, rows + q * width);
        else
          transpose(go, p, grad, p, rows.data(), width);
        grad = rows, ld = width;
      }
      for (std::int64_t o = 0; o < width; o += 2 * L)
        for_even_parts(taps, kTileRows, [&](std::int64_t t, int tap_count) {
          float* to = sums + (g * taps + t) * width + o;
          with_constant<kTileRows>(tap_count, [&]<int R>(std::integral_constant<int, R>) {
            if (o + L < width)
              channel_tile<R, 2>(s, grad + o, ld, image, offsets + t, x_row, x_col, to, width);
            else
              channel_tile<R, 1>(s, grad + o, ld, image, offsets + t, x_row, x_col, to, width);
          });
        });
    }
  for (std::int64_t g = 0; g < s.groups; ++g)
    for (std::int64_t o = 0; o < go; ++o)
      for (std::int64_t t = 0; t < taps; ++t) sum[(g * go + o) * taps + t] += sums[(g * taps + t) * width + o];
}

double position_waste(const Conv2dShape& s) {
  return s.stride_w != 1 ? 1e9 : static_cast<double>((s.out_w + L - 1) / L * L) / static_cast<double>(s.out_w);
}
double channel_waste(const Conv2dShape& s) {
  return static_cast<double>((s.group_out_c() + L - 1) / L * L) / static_cast<double>(s.group_out_c());
}

}  // namespace

bool prefers_direct_weight_grad(const Conv2dShape& s) {
  // Every tile reads dy and a part of x again.
  constexpr std::int64_t kMaxElements = 40'000;
  if (s.positions() == 0 || s.c * s.h * s.w + s.out_c * s.positions() > kMaxElements) return false;
  if (std::min(position_waste(s), channel_waste(s)) > 2.1) return false;
#if TAPER_ONEDNN
  return s.channels_last ? s.group_c() <= 4 : std::min(s.group_c(), s.group_out_c()) <= 8;
#else
  return s.group_c() <= 16;
#endif
}

void conv2d_weight_grad_direct(const Conv2dShape& s, const float* x, const float* dy, float* dweight) {
  const auto add = position_waste(s) < channel_waste(s) ? add_by_positions : add_by_channels;
  ordered_sum<float>(s.n, s.image_work(), s.weight_count(), dweight,
                     [&](std::int64_t begin, std::int64_t end, float* sum) { add(s, x, dy, begin, end, sum); });
}

}  // namespace taper::cpu_kernels
