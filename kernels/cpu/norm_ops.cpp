// Batch normalization of tensors: brings operands into an order that the raw kernels know.
#include <taper/operator.h>
#include <taper/ops/norm.h>

#include <algorithm>

#include "batch_norm.h"
#include "memory_order.h"
#include "updated.h"
#include "widen.h"

namespace taper::cpu_kernels {
void install_norm();
namespace {

using kernels::Updated;

BatchNormShape shape_of(const Tensor& x, MemoryFormat format) {
  const std::int64_t n = x.size(0), c = x.size(1);
  return {.n = n, .c = c, .l = x.numel() / (n * c), .channels_last = format == MemoryFormat::channels_last};
}

Tensor dense(const std::optional<Tensor>& t) { return t ? in_order(*t, MemoryFormat::contiguous) : Tensor(); }
template <class T>
const T* values_or_null(const Tensor& t) {
  return t.defined() ? values_of<T>(t) : nullptr;
}

void batch_norm(std::array<Tensor, 3>& out, const Tensor& input, const std::optional<Tensor>& weight,
                const std::optional<Tensor>& bias, const std::optional<Tensor>& running_mean,
                const std::optional<Tensor>& running_var, const BatchNormOptions& o) {
  dispatch_floating(input.dtype(), "batch_norm", [&]<class T>(Type<T>) {
    T *mean = place_of<T>(out[1]), *invstd = place_of<T>(out[2]);
    if (input.numel() == 0) {  // no statistics to speak of
      std::fill_n(mean, out[1].numel(), T(0));
      std::fill_n(invstd, out[2].numel(), T(0));
      return;
    }
    const MemoryFormat format = common_order(out[0], input);
    const Tensor x = operand_in_order("batch_norm", input, format), w = dense(weight), b = dense(bias);
    const BatchNormShape s = shape_of(x, format);
    if (o.training) {
      // Statistics that stay as they are do not count as written.
      const Updated average(o.momentum != 0 ? running_mean : std::nullopt, "batch_norm");
      const Updated variance(o.momentum != 0 ? running_var : std::nullopt, "batch_norm");
      batch_norm_statistics<T>(s, values_of<T>(x), o.eps, o.momentum, mean, invstd, average.place<T>(),
                               variance.place<T>());
      average.finish();
      variance.finish();
    } else {
      std::copy_n(values_of<T>(dense(kernels::widened(running_mean))), s.c, mean);
      batch_norm_invstd<T>(s.c, values_of<T>(dense(kernels::widened(running_var))), o.eps, invstd);
    }
    batch_norm_apply<T>(s, values_of<T>(x), mean, invstd, values_or_null<T>(w), values_or_null<T>(b),
                        place_of<T>(out[0]));
  });
}

/// The running statistics are written to, in whatever dtype they have; the statistics of the batch are float32.
void batch_norm_any(std::array<Tensor, 3>& out, const Tensor& input, const std::optional<Tensor>& weight,
                    const std::optional<Tensor>& bias, const std::optional<Tensor>& running_mean,
                    const std::optional<Tensor>& running_var, const BatchNormOptions& o) {
  if (!is_16_bit_float(input.dtype())) return batch_norm(out, input, weight, bias, running_mean, running_var, o);
  std::array<Tensor, 3> wide = kernels::wide_result(out);
  batch_norm(wide, kernels::widened(input), kernels::widened(weight), kernels::widened(bias), running_mean, running_var,
             o);
  kernels::narrow_into(out, wide);
}

void backward(std::array<Tensor, 3>& out, const Tensor& grad, const Tensor& input, const std::optional<Tensor>& weight,
              const Tensor& mean, const Tensor& invstd, const BatchNormOptions& o, const std::array<bool, 3>& wanted) {
  dispatch_floating(input.dtype(), "batch_norm", [&]<class T>(Type<T>) {
    if (input.numel() == 0) {
      for (int i = 1; i < 3; ++i) std::fill_n(place_of<T>(out[i]), out[i].numel(), T(0));
      return;
    }
    const MemoryFormat format = common_order(wanted[0] ? out[0] : input, input);
    const Tensor x = operand_in_order("batch_norm_backward", input, format), w = dense(weight);
    const Tensor dy = operand_in_order("batch_norm_backward", grad, format);
    const auto place = [&](std::size_t i) { return wanted[i] ? place_of<T>(out[i]) : nullptr; };
    batch_norm_backward<T>(shape_of(x, format), values_of<T>(dy), values_of<T>(x), values_of<T>(mean),
                           values_of<T>(invstd), values_or_null<T>(w), o.training, place(0), place(1), place(2));
  });
}

}  // namespace

void install_norm() {
  ops::batch_norm.set_kernel(DispatchKey::CPU, batch_norm_any);
  ops::batch_norm_backward.set_kernel(DispatchKey::CPU, kernels::widening<backward>);
}

}  // namespace taper::cpu_kernels
