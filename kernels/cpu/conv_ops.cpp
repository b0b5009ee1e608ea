// Convolutions of tensors: brings operands into an order that the raw kernels know.
#include <taper/operator.h>
#include <taper/ops/conv.h>

#include <algorithm>

#include "conv2d.h"
#include "memory_order.h"
#include "widen.h"

namespace taper::cpu_kernels {
void install_conv();
namespace {

Conv2dShape shape_of(IntSpan x, IntSpan y, IntSpan weight, const Conv2dWindow& o, MemoryFormat format) {
  return {.n = x[0],
          .c = x[1],
          .h = x[2],
          .w = x[3],
          .out_c = y[1],
          .out_h = y[2],
          .out_w = y[3],
          .kh = weight[2],
          .kw = weight[3],
          .stride_h = o.stride.h,
          .stride_w = o.stride.w,
          .pad_h = o.padding.h,
          .pad_w = o.padding.w,
          .dilation_h = o.dilation.h,
          .dilation_w = o.dilation.w,
          .groups = o.groups,
          .channels_last = format == MemoryFormat::channels_last};
}

void conv2d(Tensor& out, const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
            const Conv2dWindow& o) {
  if (out.numel() == 0) return;
  const MemoryFormat format = common_order(out, input);
  const Tensor x = operand_in_order("conv2d", input, format);
  const Tensor w = kernels::packed_weight("conv2d", weight);
  const Tensor b = bias ? in_order(*bias, MemoryFormat::contiguous) : Tensor();
  const Conv2dShape s = shape_of(x.sizes(), out.sizes(), w.sizes(), o, format);
  dispatch_floating(out.dtype(), "conv2d", [&]<class T>(Type<T>) {
    conv2d_forward<T>(s, values_of<T>(x), values_of<T>(w), bias ? values_of<T>(b) : nullptr, place_of<T>(out));
  });
}

void input_grad(Tensor& out, const Tensor& grad, const Tensor& weight, const IntPair&, const Conv2dWindow& o) {
  if (out.numel() == 0) return;
  const MemoryFormat format = common_order(out, grad);
  const Tensor dy = operand_in_order("conv2d_input_grad", grad, format);
  const Tensor w = kernels::packed_weight("conv2d_input_grad", weight);
  const Conv2dShape s = shape_of(out.sizes(), dy.sizes(), w.sizes(), o, format);
  dispatch_floating(out.dtype(), "conv2d", [&]<class T>(Type<T>) {
    conv2d_input_grad<T>(s, values_of<T>(dy), values_of<T>(w), place_of<T>(out));
  });
}

void weight_grad(std::array<Tensor, 2>& out, const Tensor& grad, const Tensor& input, const IntPair&,
                 const bool& with_bias, const Conv2dWindow& o) {
  const MemoryFormat format = common_order(input, grad);
  const Tensor x = operand_in_order("conv2d_weight_grad", input, format);
  const Tensor dy = operand_in_order("conv2d_weight_grad", grad, format);
  const Conv2dShape s = shape_of(x.sizes(), dy.sizes(), out[0].sizes(), o, format);
  dispatch_floating(grad.dtype(), "conv2d", [&]<class T>(Type<T>) {
    T *dw = place_of<T>(out[0]), *db = with_bias ? place_of<T>(out[1]) : nullptr;
    if (dy.numel() > 0) return conv2d_weight_grad<T>(s, values_of<T>(x), values_of<T>(dy), dw, db);
    std::fill_n(dw, out[0].numel(), T(0));
    if (db) std::fill_n(db, out[1].numel(), T(0));
  });
}

}  // namespace

void install_conv() {
  ops::conv2d.set_kernel(DispatchKey::CPU, kernels::widening<conv2d>);
  ops::conv2d_input_grad.set_kernel(DispatchKey::CPU, kernels::widening<input_grad>);
  ops::conv2d_weight_grad.set_kernel(DispatchKey::CPU, kernels::widening<weight_grad>);
}

}  // namespace taper::cpu_kernels
