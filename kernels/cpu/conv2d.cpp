#include "conv2d.h"

#include <algorithm>
#include <type_traits>

#include "conv2d_direct.h"
#include "conv2d_im2col.h"
#include "conv2d_onednn.h"
#include "ordered_sum.h"
#include "scratch.h"
#include "vec.h"

namespace taper::cpu_kernels {
namespace {

template <class T>
T plane_sum(const T* values, std::int64_t count) {
  constexpr int L = kLanes<T>;
  Vec<T> sum[2] = {};
  std::int64_t i = 0;
  for (; i + 2 * L <= count; i += 2 * L) sum[0] += load(values + i), sum[1] += load(values + i + L);
  if (i + L <= count) sum[0] += load(values + i), i += L;
  if (i < count) sum[1] += load_first(values + i, static_cast<int>(count - i));
  return lane_sum<T>(sum[0] + sum[1]);
}

/// Adds the rows [count, channels] to sum [channels].
template <class T>
void add_rows(const T* rows, std::int64_t count, std::int64_t channels, T* sum) {
  // Short rows are added several at a time, so that whole vectors are added.
  const std::int64_t together = channels < kLanes<T> ? kLanes<T> : 1, width = together * channels;
  const Scratch<T> wide(together > 1 ? width : 0);
  T* const to = together > 1 ? wide.data() : sum;
  if (together > 1) std::fill_n(to, width, T(0));
  std::int64_t i = 0;
  for (; i + together <= count; i += together, rows += width)
    for (std::int64_t e = 0; e < width; ++e) to[e] += rows[e];
  for (std::int64_t e = 0; e < (count - i) * channels; ++e) to[e] += rows[e];
  if (together > 1)
    for (std::int64_t e = 0; e < width; ++e) sum[e % channels] += to[e];
}

/// Sums of dy over images and positions.
template <class T>
void bias_grad(const Conv2dShape& s, const T* dy, T* dbias) {
  const std::int64_t p = s.positions();
  ordered_sum<T>(s.n, s.out_c * p, s.out_c, dbias, [&](std::int64_t begin, std::int64_t end, T* sum) {
    if (s.channels_last) return add_rows(dy + begin * p * s.out_c, (end - begin) * p, s.out_c, sum);
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t o = 0; o < s.out_c; ++o) sum[o] += plane_sum(dy + (i * s.out_c + o) * p, p);
  });
}

/// A library's kernel is generated on the first call of a shape, which a few thousand multiply-adds do not repay.
bool is_tiny(const Conv2dShape& s) { return s.n * s.image_work() < 8192; }

bool is_empty(const Conv2dShape& s) { return s.n * s.positions() == 0; }

}  // namespace

template <class T>
void conv2d_forward(const Conv2dShape& s, const T* x, const T* weight, const T* bias, T* y) {
  if (is_empty(s)) return;
  if constexpr (std::is_same_v<T, float>) {
    if (prefers_direct_forward(s)) return conv2d_forward_direct(s, x, weight, bias, y);
    if (!is_tiny(s) && conv2d_forward_onednn(s, x, weight, bias, y)) return;
  }
  conv2d_forward_im2col(s, x, weight, bias, y);
}

template <class T>
void conv2d_input_grad(const Conv2dShape& s, const T* dy, const T* weight, T* dx) {
  if constexpr (std::is_same_v<T, float>) {
    if (!is_empty(s)) {
      if (prefers_direct_input_grad(s)) return conv2d_input_grad_direct(s, dy, weight, dx);
      if (!is_tiny(s) && conv2d_input_grad_onednn(s, dy, weight, dx)) return;
    }
  }
  conv2d_input_grad_im2col(s, dy, weight, dx);
}

template <class T>
void conv2d_weight_grad(const Conv2dShape& s, const T* x, const T* dy, T* dweight, T* dbias) {
  if constexpr (std::is_same_v<T, float>) {
    if (!is_empty(s)) {
      if (prefers_direct_weight_grad(s)) {
        conv2d_weight_grad_direct(s, x, dy, dweight);
        if (dbias) bias_grad(s, dy, dbias);
        return;
      }
      if (!is_tiny(s) && conv2d_weight_grad_onednn(s, x, dy, dweight, dbias)) return;
    }
  }
  conv2d_weight_grad_im2col(s, x, dy, dweight);
  if (dbias) bias_grad(s, dy, dbias);
}

template void conv2d_forward<float>(const Conv2dShape&, const float*, const float*, const float*, float*);
template void conv2d_forward<double>(const Conv2dShape&, const double*, const double*, const double*, double*);
template void conv2d_input_grad<float>(const Conv2dShape&, const float*, const float*, float*);
template void conv2d_input_grad<double>(const Conv2dShape&, const double*, const double*, double*);
template void conv2d_weight_grad<float>(const Conv2dShape&, const float*, const float*, float*, float*);
template void conv2d_weight_grad<double>(const Conv2dShape&, const double*, const double*, double*, double*);

}  // namespace taper::cpu_kernels
