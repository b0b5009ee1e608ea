#include "cuda/pool.h"

#include <taper/operator.h>
#include <taper/ops/pool.h>

#include "device.h"
#include "install.h"
#include "operand_order.h"
#include "widen.h"

namespace taper::cuda_kernels {
namespace {

using kernels::common_order;
using kernels::in_order;
using kernels::operand_in_order;
using kernels::place_of;
using kernels::values_of;

constexpr std::int64_t kMost = (std::int64_t(1) << 31) - 1;  // kernels count in 32 bits

Pool pool_of(const char* op, const Tensor& in, const Tensor& out, const Pool2dWindow& o, MemoryFormat format,
             const AvgPool2dDivision& d = {}) {
  check<NotImplementedError>(in.numel() <= kMost && out.numel() <= kMost, op, ": images of ", in.spec(), " to ",
                             out.spec(), " have more than ", kMost,
                             " elements, which CUDA kernels do not count; pool a part of the batch at a time");
  const bool last = format == MemoryFormat::channels_last;
  const auto narrow = [](std::int64_t n) { return std::int32_t(n); };
  return {.in = Images::of(in.size(0), in.size(1), in.size(2), in.size(3), last),
          .out = Images::of(out.size(0), out.size(1), out.size(2), out.size(3), last),
          .kernel_h = narrow(o.kernel.h),
          .kernel_w = narrow(o.kernel.w),
          .stride_h = narrow(o.stride.h),
          .stride_w = narrow(o.stride.w),
          .pad_h = narrow(o.padding.h),
          .pad_w = narrow(o.padding.w),
          .dilation_h = narrow(o.dilation.h),
          .dilation_w = narrow(o.dilation.w),
          .divisor = d.divisor_override,
          .counts_padding = d.count_include_pad};
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

void forward_max(std::array<Tensor, 2>& out, const Tensor& input, const Pool2dWindow& o, const bool&) {
  if (out[0].numel() == 0) return;
  const MemoryFormat format = common_order(out[0], input);
  const Tensor x = operand_in_order("max_pool2d", input, format);
  const Pool s = pool_of("max_pool2d", x, out[0], o, format);
  const OnDevice on(x.device());
  dispatch(x, out[1], [&]<class T, class I>(Type<T>, Type<I>) {
    max_pool(on.queue(), s, values_of<T>(x), place_of<T>(out[0]), place_of<I>(out[1]));
  });
}

void backward_max(Tensor& out, const Tensor& grad, const Tensor& indices, const Pool2dImage&, const Pool2dWindow& o) {
  if (out.numel() == 0) return;
  const MemoryFormat format = common_order(out, grad);
  const Tensor dy = operand_in_order("max_pool2d_backward", grad, format), places = in_order(indices, format);
  const Pool s = pool_of("max_pool2d", out, dy, o, format);
  const OnDevice on(out.device());
  dispatch(dy, places, [&]<class T, class I>(Type<T>, Type<I>) {
    max_pool_backward(on.queue(), s, values_of<T>(dy), values_of<I>(places), place_of<T>(out));
  });
}

void max_at(Tensor& out, const Tensor& input, const Tensor& indices, const Pool2dWindow& o) {
  if (out.numel() == 0) return;
  const MemoryFormat format = common_order(out, input);
  const Tensor x = in_order(input, format), places = in_order(indices, format);
  const Pool s = pool_of("max_pool2d", x, out, o, format);
  const OnDevice on(out.device());
  dispatch(x, places, [&]<class T, class I>(Type<T>, Type<I>) {
    max_pool_at(on.queue(), s, values_of<T>(x), values_of<I>(places), place_of<T>(out));
  });
}

void forward_average(Tensor& out, const Tensor& input, const Pool2dWindow& o, const AvgPool2dDivision& d) {
  if (out.numel() == 0) return;
  const MemoryFormat format = common_order(out, input);
  const Tensor x = operand_in_order("avg_pool2d", input, format);
  const Pool s = pool_of("avg_pool2d", x, out, o, format, d);
  const OnDevice on(out.device());
  dispatch_floating(out.dtype(), "avg_pool2d",
                    [&]<class T>(Type<T>) { average_pool(on.queue(), s, values_of<T>(x), place_of<T>(out)); });
}

void backward_average(Tensor& out, const Tensor& grad, const Pool2dImage&, const Pool2dWindow& o,
                      const AvgPool2dDivision& d) {
  if (out.numel() == 0) return;
  const MemoryFormat format = common_order(out, grad);
  const Tensor dy = operand_in_order("avg_pool2d_backward", grad, format);
  const Pool s = pool_of("avg_pool2d", out, dy, o, format, d);
  const OnDevice on(out.device());
  dispatch_floating(out.dtype(), "avg_pool2d", [&]<class T>(Type<T>) {
    average_pool_backward(on.queue(), s, values_of<T>(dy), place_of<T>(out));
  });
}

}  // namespace

void install_pool() {
  constexpr DispatchKey key = DispatchKey::CUDA;
  ops::max_pool2d.set_kernel(key, kernels::widening<forward_max>);
  ops::max_pool2d_backward.set_kernel(key, kernels::widening<backward_max>);
  ops::max_pool2d_at.set_kernel(key, kernels::widening<max_at>);
  ops::avg_pool2d.set_kernel(key, kernels::widening<forward_average>);
  ops::avg_pool2d_backward.set_kernel(key, kernels::widening<backward_average>);
}

}  // namespace taper::cuda_kernels
