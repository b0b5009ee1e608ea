#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "parallel.h"
#include "pool2d.h"
#include "pool2d_pairs.h"
#include "scratch.h"
#include "vec.h"

namespace taper::cpu_kernels {
namespace {

/// The first row and column under one window, before clipping to the image.
struct Corner {
  std::int64_t y, x;
};

Corner corner(const Pool2dShape& s, std::int64_t i, std::int64_t j) {
  return {i * s.stride_h - s.pad_h, j * s.stride_w - s.pad_w};
}

template <class Index>
Index make_index(const Pool2dShape& s, Corner at, std::int64_t ky, std::int64_t kx) {
  if constexpr (std::is_same_v<Index, std::uint8_t>)
    return static_cast<Index>(ky * s.kw + kx);
  else
    return (at.y + ky * s.dilation_h) * s.w + at.x + kx * s.dilation_w;
}

/// Where an index points to, as row * w + column; -1 outside the image (a window that sees only padding).
template <class Index>
std::int64_t place(const Pool2dShape& s, [[maybe_unused]] Corner at, Index index) {
  if constexpr (std::is_same_v<Index, std::uint8_t>) {
    const std::int64_t y = at.y + index / s.kw * s.dilation_h, x = at.x + index % s.kw * s.dilation_w;
    return y >= 0 && y < s.h && x >= 0 && x < s.w ? y * s.w + x : -1;
  } else {
    return index;
  }
}

template <class T, class Index>
void forward_plane(const Pool2dShape& s, const T* x, T* y, Index* index) {
  for (std::int64_t i = 0; i < s.out_h; ++i)
    for (std::int64_t j = 0; j < s.out_w; ++j) {
      const Corner at = corner(s, i, j);
      T best = -std::numeric_limits<T>::infinity();
      Index where = std::is_same_v<Index, std::uint8_t> ? Index(0) : static_cast<Index>(-1);
      bool is_first = true;
      for (std::int64_t ky = 0; ky < s.kh; ++ky) {
        const std::int64_t row = at.y + ky * s.dilation_h;
        if (row < 0 || row >= s.h) continue;
        for (std::int64_t kx = 0; kx < s.kw; ++kx) {
          const std::int64_t col = at.x + kx * s.dilation_w;
          if (col < 0 || col >= s.w) continue;
          const T value = x[row * s.w + col];
          if (is_first || value > best || value != value) {
            best = value, where = make_index<Index>(s, at, ky, kx);
            is_first = false;
          }
        }
      }
      *y++ = best, *index++ = where;
    }
}

template <class T, class Index>
void backward_plane(const Pool2dShape& s, const T* dy, const Index* index, T* dx) {
  std::fill_n(dx, s.h * s.w, T(0));
  for (std::int64_t i = 0; i < s.out_h; ++i)
    for (std::int64_t j = 0; j < s.out_w; ++j, ++dy, ++index)
      if (const std::int64_t at = place(s, corner(s, i, j), *index); at >= 0) dx[at] += *dy;
}

// ---- Windows of 2 x 2 that do not overlap, plane by plane --------------------------

template <class T, class Index>
void forward_two_by_two(const Pool2dShape& s, const T* x, T* y, Index* index) {
  constexpr int L = kLanes<T>;
  constexpr auto lanes = std::make_index_sequence<L>{};
  using Int = IntOf<T>;
  for (std::int64_t i = 0; i < s.out_h; ++i, y += s.out_w, index += s.out_w) {
    const T* upper = x + 2 * i * s.w;
    for (std::int64_t j = 0; j < s.out_w; j += L) {
      const int count = static_cast<int>(std::min<std::int64_t>(L, s.out_w - j));
      Vec<T> a, b, c, d;
      load_pairs(upper + 2 * j, count, a, b);
      load_pairs(upper + s.w + 2 * j, count, c, d);
      const Vec<T> corners[4] = {every_second<0>(a, b, lanes), every_second<1>(a, b, lanes),
                                 every_second<0>(c, d, lanes), every_second<1>(c, d, lanes)};
      Vec<T> best = corners[0];
      Vec<Int> which{};
      for (int k = 1; k < 4; ++k) {
        const Vec<Int> wins = (corners[k] > best) | (corners[k] != corners[k]);
        best = wins ? corners[k] : best;
        which = wins ? broadcast<Int>(k) : which;
      }
      if (count == L)
        store(y + j, best);
      else
        store_first(y + j, best, count);
      Int place[L];
      store(place, which);
      for (int q = 0; q < count; ++q) {
        if constexpr (std::is_same_v<Index, std::uint8_t>)
          index[j + q] = static_cast<Index>(place[q]);
        else
          index[j + q] = (2 * i + (place[q] >> 1)) * s.w + 2 * (j + q) + (place[q] & 1);
      }
    }
  }
}

template <class T, class Index>
void backward_two_by_two(const Pool2dShape& s, const T* dy, const Index* index, T* dx) {
  constexpr int L = kLanes<T>;
  constexpr auto lanes = std::make_index_sequence<L>{};
  using Int = IntOf<T>;
  for (std::int64_t i = 0; i < s.out_h; ++i, dy += s.out_w, index += s.out_w) {
    T* upper = dx + 2 * i * s.w;
    T* lower = upper + s.w;
    for (std::int64_t j = 0; j < s.out_w; j += L) {
      const int count = static_cast<int>(std::min<std::int64_t>(L, s.out_w - j));
      Int place[L] = {};
      for (int q = 0; q < count; ++q) {
        if constexpr (std::is_same_v<Index, std::uint8_t>) {
          place[q] = index[j + q];
        } else {
          const std::int64_t inside = index[j + q] - 2 * i * s.w - 2 * (j + q);
          place[q] = static_cast<Int>(inside >= s.w ? inside - s.w + 2 : inside);
        }
      }
      const Vec<Int> which = load(place);
      const Vec<T> g = count == L ? load(dy + j) : load_first(dy + j, count);
      Vec<T> part[4];
      for (int k = 0; k < 4; ++k) part[k] = which == broadcast<Int>(k) ? g : Vec<T>{};
      store_pairs(upper + 2 * j, count, in_turn<0>(part[0], part[1], lanes), in_turn<L / 2>(part[0], part[1], lanes));
      store_pairs(lower + 2 * j, count, in_turn<0>(part[2], part[3], lanes), in_turn<L / 2>(part[2], part[3], lanes));
    }
    std::fill(upper + 2 * s.out_w, lower, T(0));
    std::fill(lower + 2 * s.out_w, lower + s.w, T(0));
  }
  std::fill(dx + 2 * s.out_h * s.w, dx + s.h * s.w, T(0));
}

/// Where the places of a window lie, relative to its corner.
class WindowPlaces {
 public:
  explicit WindowPlaces(const Pool2dShape& s) : places_(s.kh * s.kw) {
    for (std::int64_t ky = 0; ky < s.kh; ++ky)
      for (std::int64_t kx = 0; kx < s.kw; ++kx) places_[ky * s.kw + kx] = ky * s.dilation_h * s.w + kx * s.dilation_w;
  }
  std::int64_t operator[](std::int64_t k) const { return places_[k]; }

 private:
  Scratch<std::int64_t> places_;
};

// ---- Channels last: vectors of channels ----------------------------------------------------------------------------

template <class T, class Index>
void forward_channels(const Pool2dShape& s, const WindowPlaces& window, Corner at, const T* x, T* y, Index* index) {
  constexpr int L = kLanes<T>;
  using Int = IntOf<T>;
  for (std::int64_t c = 0; c < s.c; c += L) {
    const int count = static_cast<int>(std::min<std::int64_t>(L, s.c - c));
    Vec<T> best = broadcast(-std::numeric_limits<T>::infinity());
    Vec<Int> which = broadcast<Int>(-1);
    bool is_first = true;
    for (std::int64_t ky = 0; ky < s.kh; ++ky) {
      const std::int64_t row = at.y + ky * s.dilation_h;
      if (row < 0 || row >= s.h) continue;
      for (std::int64_t kx = 0; kx < s.kw; ++kx) {
        const std::int64_t col = at.x + kx * s.dilation_w;
        if (col < 0 || col >= s.w) continue;
        const T* from = x + (row * s.w + col) * s.c + c;
        const Vec<T> value = count == L ? load(from) : load_first(from, count);
        const Vec<Int> k = broadcast<Int>(static_cast<Int>(ky * s.kw + kx));
        if (is_first) {
          best = value, which = k, is_first = false;
          continue;
        }
        const Vec<Int> wins = (value > best) | (value != value);
        best = wins ? value : best;
        which = wins ? k : which;
      }
    }
    if (count == L)
      store(y + c, best);
    else
      store_first(y + c, best, count);
    Int places[L];
    store(places, which);
    for (int q = 0; q < count; ++q) {
      if constexpr (std::is_same_v<Index, std::uint8_t>)
        index[c + q] = static_cast<Index>(std::max<Int>(places[q], 0));
      else
        index[c + q] = places[q] < 0 ? -1 : at.y * s.w + at.x + window[places[q]];
    }
  }
}

template <class T, class Index>
void backward_image_channels(const Pool2dShape& s, const T* dy, const Index* index, T* dx) {
  const WindowPlaces window(s);
  const std::int64_t reach_h = (s.kh - 1) * s.dilation_h, reach_w = (s.kw - 1) * s.dilation_w;
  std::fill_n(dx, s.h * s.w * s.c, T(0));
  for (std::int64_t i = 0; i < s.out_h; ++i)
    for (std::int64_t j = 0; j < s.out_w; ++j, dy += s.c, index += s.c) {
      const Corner at = corner(s, i, j);
      if constexpr (std::is_same_v<Index, std::uint8_t>) {
        T* const to = dx + (at.y * s.w + at.x) * s.c;
        if (at.y >= 0 && at.y + reach_h < s.h && at.x >= 0 && at.x + reach_w < s.w) {
          for (std::int64_t c = 0; c < s.c; ++c) to[window[index[c]] * s.c + c] += dy[c];
          continue;
        }
      }
      for (std::int64_t c = 0; c < s.c; ++c)
        if (const std::int64_t q = place(s, at, index[c]); q >= 0) dx[q * s.c + c] += dy[c];
    }
}

}  // namespace

template <class T, class Index>
void max_pool2d_forward(const Pool2dShape& s, const T* x, T* y, Index* index) {
  const std::int64_t in = s.h * s.w, out = s.out_h * s.out_w;
  if (s.channels_last) {
    const WindowPlaces window(s);
    parallel_for(0, s.n * s.out_h, grain_for(s.out_w * s.c * s.kh * s.kw), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t j = 0; j < s.out_w; ++j) {
          const std::int64_t to = (row * s.out_w + j) * s.c;
          forward_channels(s, window, corner(s, row % s.out_h, j), x + row / s.out_h * in * s.c, y + to, index + to);
        }
    });
    return;
  }
  const auto plane = is_two_by_two(s) ? forward_two_by_two<T, Index> : forward_plane<T, Index>;
  parallel_for(0, s.n * s.c, grain_for(out * s.kh * s.kw), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) plane(s, x + p * in, y + p * out, index + p * out);
  });
}

template <class T, class Index>
void max_pool2d_backward(const Pool2dShape& s, const T* dy, const Index* index, T* dx) {
  const std::int64_t in = s.h * s.w, out = s.out_h * s.out_w;
  const auto plane = s.channels_last    ? backward_image_channels<T, Index>
                     : is_two_by_two(s) ? backward_two_by_two<T, Index>
                                        : backward_plane<T, Index>;
  const std::int64_t width = s.channels_last ? s.c : 1;  // planes that are handled together
  parallel_for(0, s.n * s.c / std::max<std::int64_t>(width, 1), grain_for((in + out) * width),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t p = begin; p < end; ++p)
                   plane(s, dy + p * out * width, index + p * out * width, dx + p * in * width);
               });
}

template void max_pool2d_forward<float>(const Pool2dShape&, const float*, float*, std::int64_t*);
template void max_pool2d_forward<float>(const Pool2dShape&, const float*, float*, std::uint8_t*);
template void max_pool2d_forward<double>(const Pool2dShape&, const double*, double*, std::int64_t*);
template void max_pool2d_forward<double>(const Pool2dShape&, const double*, double*, std::uint8_t*);
template void max_pool2d_backward<float>(const Pool2dShape&, const float*, const std::int64_t*, float*);
template void max_pool2d_backward<float>(const Pool2dShape&, const float*, const std::uint8_t*, float*);
template void max_pool2d_backward<double>(const Pool2dShape&, const double*, const std::int64_t*, double*);
template void max_pool2d_backward<double>(const Pool2dShape&, const double*, const std::uint8_t*, double*);

}  // namespace taper::cpu_kernels
