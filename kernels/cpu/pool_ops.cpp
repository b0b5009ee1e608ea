// Pooling of tensors: brings operands into an order that the raw kernels know.
#include <taper/operator.h>
#include <taper/ops/pool.h>

#include <algorithm>

#include "memory_order.h"
#include "parallel.h"
#include "pool2d.h"
#include "widen.h"

namespace taper::cpu_kernels {
void install_pool();
namespace {

Pool2dShape shape_of(IntSpan x, IntSpan y, const Pool2dWindow& o, MemoryFormat format) {
  return {.n = x[0],
          .c = x[1],
          .h = x[2],
          .w = x[3],
          .out_h = y[2],
          .out_w = y[3],
          .kh = o.kernel.h,
          .kw = o.kernel.w,
          .stride_h = o.stride.h,
          .stride_w = o.stride.w,
          .pad_h = o.padding.h,
          .pad_w = o.padding.w,
          .dilation_h = o.dilation.h,
          .dilation_w = o.dilation.w,
          .channels_last = format == MemoryFormat::channels_last};
}

/// Calls f(type of the numbers, type of the places).
template <class F>
void dispatch(const Tensor& values, const Tensor& places, F&& f) {
  dispatch_floating(values.dtype(), "max_pool2d", [&]<class T>(Type<T> type) {
    if (places.dtype() == uint8)
      f(type, Type<std::uint8_t>{});
    else
      f(type, Type<std::int64_t>{});
  });
}

void max_pool2d(std::array<Tensor, 2>& out, const Tensor& input, const Pool2dWindow& o, const bool&) {
  if (out[0].numel() == 0) return;
  const MemoryFormat format = common_order(out[0], input);
  const Tensor x = operand_in_order("max_pool2d", input, format);
  const Pool2dShape s = shape_of(x.sizes(), out[0].sizes(), o, format);
  dispatch(x, out[1], [&]<class T, class I>(Type<T>, Type<I>) {
    max_pool2d_forward<T, I>(s, values_of<T>(x), place_of<T>(out[0]), place_of<I>(out[1]));
  });
}

void max_backward(Tensor& out, const Tensor& grad, const Tensor& indices, const Pool2dImage&, const Pool2dWindow& o) {
  if (out.numel() == 0) return;
  const MemoryFormat format = common_order(out, grad);
  const Tensor dy = operand_in_order("max_pool2d_backward", grad, format), places = in_order(indices, format);
  const Pool2dShape s = shape_of(out.sizes(), dy.sizes(), o, format);
  dispatch(dy, places, [&]<class T, class I>(Type<T>, Type<I>) {
    max_pool2d_backward<T, I>(s, values_of<T>(dy), values_of<I>(places), place_of<T>(out));
  });
}

/// The element of one image that a place means; none for a window that saw only padding.
template <class T, class I>
T element_at(const Pool2dShape& s, const T* image, std::int64_t step_h, std::int64_t step_w, std::int64_t i,
             std::int64_t j, I place) {
  std::int64_t y = place / s.w, x = place % s.w;
  if (std::is_same_v<I, std::uint8_t>) {
    y = i * s.stride_h - s.pad_h + place / s.kw * s.dilation_h;
    x = j * s.stride_w - s.pad_w + place % s.kw * s.dilation_w;
  }
  return y >= 0 && y < s.h && x >= 0 && x < s.w ? image[y * step_h + x * step_w] : T(0);
}

void max_at(Tensor& out, const Tensor& x, const Tensor& indices, const Pool2dWindow& o) {
  if (out.numel() == 0) return;
  const Pool2dShape s = shape_of(x.sizes(), out.sizes(), o, MemoryFormat::contiguous);
  dispatch(x, indices, [&]<class T, class I>(Type<T>, Type<I>) {
    const IntSpan from = x.strides(), at = indices.strides(), to = out.strides();
    parallel_for(0, s.n * s.c, grain_for(s.out_h * s.out_w * 4), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t image = begin; image < end; ++image) {
        const std::int64_t n = image / s.c, c = image % s.c;
        const T* source = values_of<T>(x) + n * from[0] + c * from[1];
        const I* place = values_of<I>(indices) + n * at[0] + c * at[1];
        T* result = place_of<T>(out) + n * to[0] + c * to[1];
        for (std::int64_t i = 0; i < s.out_h; ++i)
          for (std::int64_t j = 0; j < s.out_w; ++j)
            result[i * to[2] + j * to[3]] = element_at(s, source, from[2], from[3], i, j, place[i * at[2] + j * at[3]]);
      }
    });
  });
}

AvgPool2dDivisor divisor_of(const AvgPool2dDivision& d) { return {d.count_include_pad, d.divisor_override}; }

void avg_pool2d(Tensor& out, const Tensor& input, const Pool2dWindow& o, const AvgPool2dDivision& d) {
  if (out.numel() == 0) return;
  const MemoryFormat format = common_order(out, input);
  const Tensor x = operand_in_order("avg_pool2d", input, format);
  const Pool2dShape s = shape_of(x.sizes(), out.sizes(), o, format);
  dispatch_floating(out.dtype(), "avg_pool2d", [&]<class T>(Type<T>) {
    avg_pool2d_forward<T>(s, divisor_of(d), values_of<T>(x), place_of<T>(out));
  });
}

void avg_backward(Tensor& out, const Tensor& grad, const Pool2dImage&, const Pool2dWindow& o,
                  const AvgPool2dDivision& d) {
  if (out.numel() == 0) return;
  const MemoryFormat format = common_order(out, grad);
  const Tensor dy = operand_in_order("avg_pool2d_backward", grad, format);
  const Pool2dShape s = shape_of(out.sizes(), dy.sizes(), o, format);
  dispatch_floating(out.dtype(), "avg_pool2d", [&]<class T>(Type<T>) {
    avg_pool2d_backward<T>(s, divisor_of(d), values_of<T>(dy), place_of<T>(out));
  });
}

}  // namespace

void install_pool() {
  ops::max_pool2d.set_kernel(DispatchKey::CPU, kernels::widening<max_pool2d>);
  ops::max_pool2d_backward.set_kernel(DispatchKey::CPU, kernels::widening<max_backward>);
  ops::max_pool2d_at.set_kernel(DispatchKey::CPU, kernels::widening<max_at>);
  ops::avg_pool2d.set_kernel(DispatchKey::CPU, kernels::widening<avg_pool2d>);
  ops::avg_pool2d_backward.set_kernel(DispatchKey::CPU, kernels::widening<avg_backward>);
}

}  // namespace taper::cpu_kernels
