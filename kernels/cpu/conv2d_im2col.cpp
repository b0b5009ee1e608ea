#include "conv2d_im2col.h"

#include <algorithm>
#include <cstring>

#include "gemm.h"
#include "ordered_sum.h"
#include "parallel.h"
#include "scratch.h"

namespace taper::cpu_kernels {
namespace {

// Unfolded images. In [c, h, w] order: column [taps, positions] with the taps ordered [c, kh, kw], as weights are.
// In [h, w, c] order: rows [positions, taps] with the taps ordered [kh, kw, c], so that channels are copied together.

/// The positions 0 <= o < count whose input o * stride + offset lies in [0, size).
struct Range {
  std::int64_t begin, end;
  Range(std::int64_t offset, std::int64_t stride, std::int64_t size, std::int64_t count) {
    begin = offset >= 0 ? 0 : std::min(count, (-offset + stride - 1) / stride);
    end = offset >= size ? begin : std::max(begin, std::min(count, (size - 1 - offset) / stride + 1));
  }
};

template <class T>
void unfold_planes(const Conv2dShape& s, const T* x, T* column) {
  for (std::int64_t c = 0; c < s.group_c(); ++c)
    for (std::int64_t ky = 0; ky < s.kh; ++ky)
      for (std::int64_t kx = 0; kx < s.kw; ++kx) {
        const std::int64_t dy = ky * s.dilation_h - s.pad_h, dx = kx * s.dilation_w - s.pad_w;
        const Range rows(dy, s.stride_h, s.h, s.out_h), cols(dx, s.stride_w, s.w, s.out_w);
        std::fill(column, column + rows.begin * s.out_w, T(0));
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
          const T* from = x + (c * s.h + i * s.stride_h + dy) * s.w + dx;
          T* to = column + i * s.out_w;
          std::fill(to, to + cols.begin, T(0));
          if (s.stride_w == 1)
            std::copy(from + cols.begin, from + cols.end, to + cols.begin);
          else
            for (std::int64_t j = cols.begin; j < cols.end; ++j) to[j] = from[j * s.stride_w];
          std::fill(to + cols.end, to + s.out_w, T(0));
        }
        std::fill(column + rows.end * s.out_w, column + s.positions(), T(0));
        column += s.positions();
      }
}

/// The adjoint of unfold_planes: adds a column back into an image.
template <class T>
void fold_planes(const Conv2dShape& s, const T* column, T* x) {
  for (std::int64_t c = 0; c < s.group_c(); ++c)
    for (std::int64_t ky = 0; ky < s.kh; ++ky)
      for (std::int64_t kx = 0; kx < s.kw; ++kx) {
        const std::int64_t dy = ky * s.dilation_h - s.pad_h, dx = kx * s.dilation_w - s.pad_w;
        const Range rows(dy, s.stride_h, s.h, s.out_h), cols(dx, s.stride_w, s.w, s.out_w);
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
          T* to = x + (c * s.h + i * s.stride_h + dy) * s.w + dx;
          const T* from = column + i * s.out_w;
          for (std::int64_t j = cols.begin; j < cols.end; ++j) to[j * s.stride_w] += from[j];
        }
        column += s.positions();
      }
}

/// x points at the first channel of the group.
template <class T>
void unfold_rows(const Conv2dShape& s, const T* x, T* rows) {
  const std::int64_t gc = s.group_c();
  for (std::int64_t i = 0; i < s.out_h; ++i)
    for (std::int64_t j = 0; j < s.out_w; ++j)
      for (std::int64_t ky = 0; ky < s.kh; ++ky) {
        const std::int64_t y = i * s.stride_h + ky * s.dilation_h - s.pad_h;
        for (std::int64_t kx = 0; kx < s.kw; ++kx, rows += gc) {
          const std::int64_t at = j * s.stride_w + kx * s.dilation_w - s.pad_w;
          if (y >= 0 && y < s.h && at >= 0 && at < s.w)
            std::copy_n(x + (y * s.w + at) * s.c, gc, rows);
          else
            std::fill_n(rows, gc, T(0));
        }
      }
}

template <class T>
void fold_rows(const Conv2dShape& s, const T* rows, T* x) {
  const std::int64_t gc = s.group_c();
  for (std::int64_t i = 0; i < s.out_h; ++i)
    for (std::int64_t j = 0; j < s.out_w; ++j)
      for (std::int64_t ky = 0; ky < s.kh; ++ky) {
        const std::int64_t y = i * s.stride_h + ky * s.dilation_h - s.pad_h;
        for (std::int64_t kx = 0; kx < s.kw; ++kx, rows += gc) {
          const std::int64_t at = j * s.stride_w + kx * s.dilation_w - s.pad_w;
          if (y < 0 || y >= s.h || at < 0 || at >= s.w) continue;
          T* to = x + (y * s.w + at) * s.c;
          for (std::int64_t c = 0; c < gc; ++c) to[c] += rows[c];
        }
      }
}

/// Weights [out_c, group_c, kh * kw] as [out_c, kh * kw, group_c], or back.
template <class T>
void reorder_taps(const Conv2dShape& s, const T* from, T* to, bool channels_to_end) {
  const std::int64_t gc = s.group_c(), k = s.kh * s.kw;
  for (std::int64_t o = 0; o < s.out_c; ++o, from += gc * k, to += gc * k)
    for (std::int64_t c = 0; c < gc; ++c)
      for (std::int64_t t = 0; t < k; ++t) {
        if (channels_to_end)
          to[t * gc + c] = from[c * k + t];
        else
          to[c * k + t] = from[t * gc + c];
      }
}

/// A 1 x 1 window without stride and padding: the image is its own unfolding.
bool is_pointwise(const Conv2dShape& s) {
  return s.kh == 1 && s.kw == 1 && s.stride_h == 1 && s.stride_w == 1 && s.pad_h == 0 && s.pad_w == 0;
}

// A column of this many elements stays in the second cache level beside its product.
constexpr std::int64_t kImageChunk = std::int64_t{1} << 20;

template <class T>
void forward_planes(const Conv2dShape& s, const T* x, const T* weight, const T* bias, T* y) {
  const std::int64_t p = s.positions(), gc = s.group_c(), go = s.group_out_c();
  const GemmShape product = dense_gemm(false, false, go, p, s.taps());
  parallel_for(0, s.n, grain_for(s.image_work(), kImageChunk), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> column(is_pointwise(s) ? 0 : s.taps() * p);
    for (std::int64_t i = begin * s.groups; i < end * s.groups; ++i) {
      const std::int64_t g = i % s.groups;
      const T* in = x + i * gc * s.h * s.w;
      T* out = y + i * go * p;
      if (!is_pointwise(s)) unfold_planes(s, in, column.data());
      if (bias)
        for (std::int64_t o = 0; o < go; ++o) std::fill_n(out + o * p, p, bias[g * go + o]);
      gemm<T>(product, weight + g * go * s.taps(), is_pointwise(s) ? in : column, out, 1, bias ? T(1) : T(0));
    }
  });
}

template <class T>
void forward_rows(const Conv2dShape& s, const T* x, const T* weight, const T* bias, T* y) {
  const std::int64_t p = s.positions(), gc = s.group_c(), go = s.group_out_c(), k = s.taps();
  const bool direct = is_pointwise(s);
  const Scratch<T> reordered(s.weight_count());
  reorder_taps(s, weight, reordered.data(), true);
  const GemmShape product{false, true, p, go, k, direct ? s.c : k, k, s.out_c};
  parallel_for(0, s.n, grain_for(s.image_work(), kImageChunk), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> rows(direct ? 0 : k * p);
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t g = 0; g < s.groups; ++g) {
        const T* in = x + i * s.h * s.w * s.c + g * gc;
        if (!direct) unfold_rows(s, in, rows.data());
        gemm<T>(product, direct ? in : rows, reordered + g * go * k, y + i * p * s.out_c + g * go, 1, 0,
                bias ? bias + g * go : nullptr);
      }
  });
}

template <class T>
void input_grad_planes(const Conv2dShape& s, const T* dy, const T* weight, T* dx) {
  const std::int64_t p = s.positions(), gc = s.group_c(), go = s.group_out_c();
  const GemmShape product = dense_gemm(true, false, s.taps(), p, go);
  parallel_for(0, s.n, grain_for(s.image_work(), kImageChunk), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> column(is_pointwise(s) ? 0 : s.taps() * p);
    for (std::int64_t i = begin * s.groups; i < end * s.groups; ++i) {
      T* out = dx + i * gc * s.h * s.w;
      gemm<T>(product, weight + i % s.groups * go * s.taps(), dy + i * go * p, is_pointwise(s) ? out : column.data());
      if (is_pointwise(s)) continue;
      std::fill_n(out, gc * s.h * s.w, T(0));
      fold_planes(s, column.data(), out);
    }
  });
}

template <class T>
void input_grad_rows(const Conv2dShape& s, const T* dy, const T* weight, T* dx) {
  const std::int64_t p = s.positions(), gc = s.group_c(), go = s.group_out_c(), k = s.taps();
  const bool direct = is_pointwise(s);
  const Scratch<T> reordered(s.weight_count());
  reorder_taps(s, weight, reordered.data(), true);
  const GemmShape product{false, false, p, k, go, s.out_c, k, direct ? s.c : k};
  parallel_for(0, s.n, grain_for(s.image_work(), kImageChunk), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> rows(direct ? 0 : k * p);
    for (std::int64_t i = begin; i < end; ++i) {
      T* image = dx + i * s.h * s.w * s.c;
      if (!direct) std::fill_n(image, s.h * s.w * s.c, T(0));
      for (std::int64_t g = 0; g < s.groups; ++g) {
        T* out = image + g * gc;
        gemm<T>(product, dy + i * p * s.out_c + g * go, reordered + g * go * k, direct ? out : rows.data());
        if (!direct) fold_rows(s, rows.data(), out);
      }
    }
  });
}

/// Adds one image's share to sum, which has the taps in the order of its unfolding.
template <class T>
void add_weight_grad(const Conv2dShape& s, const T* x, const T* dy, T* unfolded, T* sum) {
  const std::int64_t p = s.positions(), gc = s.group_c(), go = s.group_out_c(), k = s.taps();
  const bool direct = is_pointwise(s);
  for (std::int64_t g = 0; g < s.groups; ++g) {
    const T* in = x + (s.channels_last ? g * gc : g * gc * s.h * s.w);
    if (!direct) s.channels_last ? unfold_rows(s, in, unfolded) : unfold_planes(s, in, unfolded);
    const T* operand = direct ? in : unfolded;
    T* out = sum + g * go * k;
    if (s.channels_last)
      gemm<T>({true, false, go, k, p, s.out_c, direct ? s.c : k, k}, dy + g * go, operand, out, 1, 1);
    else
      gemm<T>(dense_gemm(false, true, go, k, p), dy + g * go * p, operand, out, 1, 1);
  }
}

}  // namespace

template <class T>
void conv2d_forward_im2col(const Conv2dShape& s, const T* x, const T* weight, const T* bias, T* y) {
  s.channels_last ? forward_rows(s, x, weight, bias, y) : forward_planes(s, x, weight, bias, y);
}

template <class T>
void conv2d_input_grad_im2col(const Conv2dShape& s, const T* dy, const T* weight, T* dx) {
  s.channels_last ? input_grad_rows(s, dy, weight, dx) : input_grad_planes(s, dy, weight, dx);
}

template <class T>
void conv2d_weight_grad_im2col(const Conv2dShape& s, const T* x, const T* dy, T* dweight) {
  const bool reorder = s.channels_last && s.kh * s.kw > 1;
  const Scratch<T> reordered(reorder ? s.weight_count() : 0);
  T* const out = reorder ? reordered.data() : dweight;
  ordered_sum<T>(s.n, s.image_work(), s.weight_count(), out, [&](std::int64_t begin, std::int64_t end, T* sum) {
    const Scratch<T> unfolded(is_pointwise(s) ? 0 : s.taps() * s.positions());
    for (std::int64_t i = begin; i < end; ++i)
      add_weight_grad(s, x + i * s.c * s.h * s.w, dy + i * s.out_c * s.positions(), unfolded.data(), sum);
  });
  if (reorder) reorder_taps(s, out, dweight, false);
}

template void conv2d_forward_im2col<float>(const Conv2dShape&, const float*, const float*, const float*, float*);
template void conv2d_forward_im2col<double>(const Conv2dShape&, const double*, const double*, const double*, double*);
template void conv2d_input_grad_im2col<float>(const Conv2dShape&, const float*, const float*, float*);
template void conv2d_input_grad_im2col<double>(const Conv2dShape&, const double*, const double*, double*);
template void conv2d_weight_grad_im2col<float>(const Conv2dShape&, const float*, const float*, float*);
template void conv2d_weight_grad_im2col<double>(const Conv2dShape&, const double*, const double*, double*);

}  // namespace taper::cpu_kernels
