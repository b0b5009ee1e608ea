#include "conv2d_direct.h"

#include "conv2d_direct_image.h"
#include "parallel.h"

namespace taper::cpu_kernels {
namespace {

constexpr int L = kLanes<float>;
using V = Vec<float>;
constexpr std::int64_t kChunkWork = std::int64_t{1} << 20;

// Tiles fill the registers and leave room for operands: output channels by vectors of positions, or
// positions by vectors of output channels.
constexpr int kTileChannels = 6, kTilePositionVectors = kManyRegisters ? 4 : 2;
constexpr int kTilePositions = 12, kTilePositionsOfTwo = kManyRegisters ? 12 : 6;

/// The taps that meet the image from some rows of positions, out of taps ordered [c, kh, kw]: `segments` runs of
/// `length` taps, the first at `first` and the others `distance` further each. The rest would only add zeros.
struct Taps {
  std::int64_t segments, first, length, distance;

  Taps(const Conv2dShape& s, std::int64_t first_row, std::int64_t last_row) {
    const auto below = [&](std::int64_t y) {  // taps kh whose row of the padded image, seen from row 0, is below y
      const std::int64_t taps = s.dilation_h == 1 ? y : (y + s.dilation_h - 1) / s.dilation_h;
      return std::min(taps, s.kh);
    };
    const std::int64_t top = std::max<std::int64_t>(s.pad_h - last_row * s.stride_h, 0);
    const std::int64_t bottom = std::max<std::int64_t>(s.pad_h + s.h - first_row * s.stride_h, 0);
    const std::int64_t begin = below(top), end = std::max(begin, below(bottom));
    const bool all = begin == 0 && end == s.kh;
    distance = s.kh * s.kw;
    segments = all ? 1 : s.group_c();
    first = begin * s.kw;
    length = all ? s.taps() : (end - begin) * s.kw;
  }
};

// ---- Lanes hold neighbouring positions of a row -------------------------------------------------------------------

/// N vectors of positions: where they read, where they write (channel 0) and how many of their lanes count.
struct PositionVectors {
  const float* in[kTilePositionVectors];
  float* out[kTilePositionVectors];
  int count[kTilePositionVectors];
};

template <int R, int N>
void position_tile(const Taps& taps, const std::int64_t* offsets, const PositionVectors& p, const float* weight,
                   const float* bias, std::int64_t out_channel_step) {
  V sum[R][N];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < N; ++v) sum[r][v] = bias ? broadcast(bias[r]) : V{};
  const float* in[N];
#pragma GCC unroll 8
  for (int v = 0; v < N; ++v) in[v] = p.in[v];
  offsets += taps.first, weight += taps.first * R;
  for (std::int64_t k = 0; k < taps.segments; ++k, offsets += taps.distance, weight += taps.distance * R) {
    const float* w = weight;
    for (std::int64_t t = 0; t < taps.length; ++t, w += R) {
      V x[N];
#pragma GCC unroll 8
      for (int v = 0; v < N; ++v) x[v] = load(in[v] + offsets[t]);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (int v = 0; v < N; ++v) sum[r][v] += w[r] * x[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < N; ++v) {
      float* out = p.out[v] + r * out_channel_step;
      if (p.count[v] == L)
        store(out, sum[r][v]);
      else
        store_first(out, sum[r][v], p.count[v]);
    }
}

/// Weights [out_c, taps] of one group as blocks [taps, channels of the block], in the order the tiles want them.
void pack_by_tile(const float* weight, std::int64_t out_c, std::int64_t taps, float* packed) {
  for_even_parts(out_c, kTileChannels, [&](std::int64_t begin, int size) {
    transpose(size, taps, weight + begin * taps, taps, packed + begin * taps, size);
  });
}

/// How many vectors of positions a tile should hold: wide tiles cost less in their frame, narrow ones can skip more of
/// the padding.
int position_vectors(const Conv2dShape& s) {
  return s.taps() >= 128 && 4 * s.pad_h >= s.out_h ? 2 : kTilePositionVectors;
}

/// planes [group_out_c, out_h, out_w] of one image and group.
void forward_positions(const Conv2dShape& s, const float* image, const PaddedImage& order, const std::int64_t* offsets,
                       int vectors, const float* packed, const float* bias, float* planes) {
  const std::int64_t per_row = (s.out_w + L - 1) / L;
  for_even_parts(s.out_h * per_row, vectors, [&](std::int64_t begin, int size) {
    const Taps taps(s, begin / per_row, (begin + size - 1) / per_row);
    PositionVectors p;
    for (int v = 0; v < size; ++v) {
      const std::int64_t row = (begin + v) / per_row, col = (begin + v) % per_row * L;
      p.in[v] = image + row * s.stride_h * order.y_step + col;
      p.out[v] = planes + row * s.out_w + col;
      p.count[v] = static_cast<int>(std::min<std::int64_t>(L, s.out_w - col));
    }
    for_even_parts(s.group_out_c(), kTileChannels, [&](std::int64_t o, int channels) {
      with_constant<kTilePositionVectors>(size, [&]<int N>(std::integral_constant<int, N>) {
        with_constant<kTileChannels>(channels, [&]<int R>(std::integral_constant<int, R>) {
          PositionVectors q = p;
          for (int v = 0; v < N; ++v) q.out[v] += o * s.positions();
          position_tile<R, N>(taps, offsets, q, packed + o * s.taps(), bias ? bias + o : nullptr, s.positions());
        });
      });
    });
  });
}

// ---- Lanes hold output channels -----------------------------------------------------------------------------------

/// Sums for R positions `step` elements apart and N vectors of channels, the last with `last` channels.
template <int R, int N, bool kUnitStep>
void channel_tile(const Taps& taps, const std::int64_t* offsets, const float* in, std::int64_t step,
                  const float* weight, std::int64_t ld_weight, const float* bias, float* out, std::int64_t ld_out,
                  int last) {
  V sum[R][N];
#pragma GCC unroll 2
  for (int v = 0; v < N; ++v) {
    const V start = !bias ? V{} : v == N - 1 && last < L ? load_first(bias + v * L, last) : load(bias + v * L);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) sum[r][v] = start;
  }
  offsets += taps.first, weight += taps.first * ld_weight;
  for (std::int64_t k = 0; k < taps.segments; ++k, offsets += taps.distance, weight += taps.distance * ld_weight) {
    const float* from = weight;
    for (std::int64_t t = 0; t < taps.length; ++t, from += ld_weight) {
      const float* x = in + offsets[t];
      V w[N];
#pragma GCC unroll 2
      for (int v = 0; v < N; ++v) w[v] = load(from + v * L);
#pragma GCC unroll 12
      for (int r = 0; r < R; ++r) {
        const float value = x[kUnitStep ? r : r * step];
#pragma GCC unroll 2
        for (int v = 0; v < N; ++v) sum[r][v] += value * w[v];
      }
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < N; ++v)
      if (v == N - 1 && last < L)
        store_first(out + r * ld_out + v * L, sum[r][v], last);
      else
        store(out + r * ld_out + v * L, sum[r][v]);
}

std::int64_t padded_channels(std::int64_t channels) { return (channels + L - 1) / L * L; }

/// Weights [out_c, taps] of one group as [taps, out_c up to whole vectors], zeros behind.
void pack_by_tap(const float* weight, std::int64_t out_c, std::int64_t taps, float* packed) {
  const std::int64_t width = padded_channels(out_c);
  if (width != out_c) std::fill_n(packed, taps * width, 0.f);
  transpose(out_c, taps, weight, taps, packed, width);
}

/// rows [out_h * out_w, group_out_c] of one image and group, ld_out elements apart.
void forward_channels(const Conv2dShape& s, const float* image, const PaddedImage& order, const std::int64_t* offsets,
                      const float* packed, const float* bias, float* rows, std::int64_t ld_out) {
  const std::int64_t width = padded_channels(s.group_out_c()), step = s.stride_w * order.x_step;
  for (std::int64_t o = 0; o < width; o += 2 * L) {
    const bool two = o + L < width;
    const std::int64_t channels = std::min<std::int64_t>(s.group_out_c() - o, two ? 2 * L : L);
    const int last = static_cast<int>(channels - (two ? L : 0));
    const float* const weight = packed + o;
    const float* const shift = bias ? bias + o : nullptr;
    for (std::int64_t i = 0; i < s.out_h; ++i) {
      const Taps taps(s, i, i);
      for_even_parts(s.out_w, two ? kTilePositionsOfTwo : kTilePositions, [&](std::int64_t j, int size) {
        const float* in = image + i * s.stride_h * order.y_step + j * step;
        float* out = rows + (i * s.out_w + j) * ld_out + o;
        with_constant<kTilePositions>(size, [&]<int R>(std::integral_constant<int, R>) {
          const auto run = [&]<int N, bool kUnitStep>(std::integral_constant<int, N>, std::bool_constant<kUnitStep>) {
            channel_tile<R, N, kUnitStep>(taps, offsets, in, step, weight, width, shift, out, ld_out, last);
          };
          if (two) {
            if constexpr (R <= kTilePositionsOfTwo) {
              if (step == 1)
                run(std::integral_constant<int, 2>{}, std::true_type{});
              else
                run(std::integral_constant<int, 2>{}, std::false_type{});
            }
          } else if (step == 1) {
            run(std::integral_constant<int, 1>{}, std::true_type{});
          } else {
            run(std::integral_constant<int, 1>{}, std::false_type{});
          }
        });
      });
    }
  }
}

/// How much of the vectors is wasted, as a factor on the work.
double position_waste(const Conv2dShape& s) {
  return static_cast<double>((s.out_w + L - 1) / L * L) / static_cast<double>(s.out_w);
}
double channel_waste(const Conv2dShape& s) {
  return static_cast<double>(padded_channels(s.group_out_c())) / static_cast<double>(s.group_out_c());
}
/// Whether an image with its results stays in the second cache level.
bool fits_direct(const Conv2dShape& s) {
  constexpr std::int64_t kMaxElements = 60'000;
  return s.positions() > 0 && s.c * s.h * s.w + s.out_c * s.positions() <= kMaxElements;
}
bool uses_positions(const Conv2dShape& s) {
  const double turning = 1.05;  // the results must be transposed if they are not in the order wanted
  return s.stride_w == 1 &&
         position_waste(s) * (s.channels_last ? turning : 1) <= channel_waste(s) * (s.channels_last ? 1 : turning);
}

/// Weights of the convolution that takes dy to dx: input and output channels exchanged, windows turned around.
void flip_weights(const Conv2dShape& s, const float* weight, float* flipped) {
  const std::int64_t gc = s.group_c(), go = s.group_out_c(), k = s.kh * s.kw;
  for (std::int64_t g = 0; g < s.groups; ++g)
    for (std::int64_t c = 0; c < gc; ++c)
      for (std::int64_t o = 0; o < go; ++o) {
        const float* from = weight + ((g * go + o) * gc + c) * k;
        float* to = flipped + ((g * gc + c) * go + o) * k;
        for (std::int64_t t = 0; t < k; ++t) to[t] = from[k - 1 - t];
      }
}

Conv2dShape input_grad_shape(const Conv2dShape& s) {
  Conv2dShape t = s;
  std::swap(t.c, t.out_c), std::swap(t.h, t.out_h), std::swap(t.w, t.out_w);
  t.pad_h = (s.kh - 1) * s.dilation_h - s.pad_h, t.pad_w = (s.kw - 1) * s.dilation_w - s.pad_w;
  return t;
}

}  // namespace

bool prefers_direct_forward(const Conv2dShape& s) {
  if (!fits_direct(s) || std::min(s.stride_w == 1 ? position_waste(s) : 1e9, channel_waste(s)) > 2.1) return false;
#if TAPER_ONEDNN
  // oneDNN pads channels to whole vectors, and has to reorder activations that are not in channels-last order.
  if (s.channels_last) return s.group_c() < 8;
  return s.group_c() <= (s.stride_w == 1 ? 24 : 3);
#else
  return s.group_c() <= 64;
#endif
}

bool prefers_direct_input_grad(const Conv2dShape& s) {
  if (s.stride_h != 1 || s.stride_w != 1) return false;
  const Conv2dShape t = input_grad_shape(s);
  // Most of what it reads is padding where y is much smaller than x.
  if (!fits_direct(t) || 5 * s.h * s.w > 11 * s.positions()) return false;
  if (std::min(position_waste(t), channel_waste(t)) > 2.1) return false;
#if TAPER_ONEDNN
  return std::min(s.group_c(), s.group_out_c()) <= (s.channels_last ? 8 : 16);
#else
  return s.group_out_c() <= 64;
#endif
}

void conv2d_forward_direct(const Conv2dShape& s, const float* x, const float* weight, const float* bias, float* y) {
  const bool by_position = uses_positions(s);
  const PaddedImage order(s, by_position ? PaddedImage::Order::planes : PaddedImage::Order::like_input);
  const std::int64_t go = s.group_out_c(), taps = s.taps(), p = s.positions();
  const std::int64_t packed_size = by_position ? go * taps : padded_channels(go) * taps;
  const Scratch<std::int64_t> offsets(taps);
  const Scratch<float> packed(s.groups * packed_size);
  order.tap_offsets(offsets.data());
  for (std::int64_t g = 0; g < s.groups; ++g)
    (by_position ? pack_by_tile : pack_by_tap)(weight + g * go * taps, go, taps, packed + g * packed_size);

  // Results in the other order than y's are turned after each image.
  const bool turns = by_position == s.channels_last && s.out_c > 1;
  const std::int64_t width = padded_channels(go);
  const int vectors = by_position ? position_vectors(s) : 0;
  parallel_for(0, s.n, grain_for(s.image_work(), kChunkWork), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<float> padded(order.scratch_size()), turned(turns ? width * p : 0);
    order.clear(padded.data());
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t g = 0; g < s.groups; ++g) {
        const float* image = order.fill(x + i * s.c * s.h * s.w, g, padded.data());
        float* out = y + i * s.out_c * p + (s.channels_last ? g * go : g * go * p);
        const float* w = packed + g * packed_size;
        const float* b = bias ? bias + g * go : nullptr;
        if (by_position) {
          forward_positions(s, image, order, offsets, vectors, w, b, turns ? turned.data() : out);
          if (turns) transpose(go, p, turned.data(), p, out, s.out_c);
        } else {
          forward_channels(s, image, order, offsets, w, b, turns ? turned.data() : out, turns ? width : s.out_c);
          if (turns) transpose(p, go, turned.data(), width, out, p);
        }
      }
  });
}

void conv2d_input_grad_direct(const Conv2dShape& s, const float* dy, const float* weight, float* dx) {
  const Scratch<float> flipped(s.weight_count());
  flip_weights(s, weight, flipped.data());
  conv2d_forward_direct(input_grad_shape(s), dy, flipped, nullptr, dx);
}

}  // namespace taper::cpu_kernels
