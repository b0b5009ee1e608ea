// Batch normalization of tensors.
#include <taper/operator.h>
#include <taper/ops/norm.h>

#include "caching_allocator.h"
#include "cuda/batch_norm.h"
#include "device.h"
#include "elementwise.h"
#include "install.h"
#include "updated.h"

namespace taper::cuda_kernels {
namespace {

using kernels::common_order;
using kernels::in_order;
using kernels::operand_in_order;
using kernels::place_of;
using kernels::Updated;
using kernels::values_of;
using kernels::widened;
using OptionalTensor = std::optional<Tensor>;

constexpr std::int64_t kMost = (std::int64_t(1) << 31) - 1;  // kernels count in 32 bits

BatchNormShape shape_of(const Tensor& x, MemoryFormat format) {
  check<NotImplementedError>(x.numel() <= kMost, "batch_norm: ", x.spec(), " has more than ", kMost,
                             " elements, which CUDA kernels do not count; use a smaller batch");
  const std::int64_t n = x.size(0), c = x.size(1);
  return {.c = FastDiv::by(std::uint32_t(c)),
          .l = FastDiv::by(std::uint32_t(x.numel() / (n * c))),
          .n = std::uint32_t(n),
          .channels_last = format == MemoryFormat::channels_last};
}

/// Memory for the sums of parts of channels; none if there is one part.
DataPtr memory_for_sums(const OnDevice& on, const BatchNormShape& s) {
  const std::size_t parts = batch_norm_parts(on.queue(), s);
  return on.state().allocator().allocate(parts > 1 ? parts * s.c.divisor * sizeof(ChannelSums) : 0);
}

Tensor dense(const Tensor& t) { return in_order(t, MemoryFormat::contiguous); }
Tensor dense(const OptionalTensor& t) { return t ? dense(*t) : Tensor(); }
template <class T>
const T* values_or_null(const Tensor& t) {
  return t.defined() ? values_of<T>(t) : nullptr;
}

void forward(std::array<Tensor, 3>& out, const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
             const OptionalTensor& running_mean, const OptionalTensor& running_var, const BatchNormOptions& o) {
  if (input.numel() == 0) {  // no statistics to speak of
    fill_elements(out[1], 0);
    return fill_elements(out[2], 0);
  }
  dispatch_floating(input.dtype(), "batch_norm", [&]<class T>(Type<T>) {
    T *mean = place_of<T>(out[1]), *invstd = place_of<T>(out[2]);
    const MemoryFormat format = common_order(out[0], input);
    const Tensor x = operand_in_order("batch_norm", input, format), w = dense(weight), b = dense(bias);
    const BatchNormShape s = shape_of(x, format);
    const OnDevice on(x.device());
    if (o.training) {
      // Statistics that stay as they are do not count as written.
      const Updated average(o.momentum != 0 ? running_mean : std::nullopt, "batch_norm");
      const Updated variance(o.momentum != 0 ? running_var : std::nullopt, "batch_norm");
      const DataPtr sums = memory_for_sums(on, s);
      batch_norm_statistics<T>(on.queue(), s,
                               {.x = values_of<T>(x),
                                .eps = o.eps,
                                .momentum = o.momentum,
                                .mean = mean,
                                .invstd = invstd,
                                .running_mean = average.place<T>(),
                                .running_var = variance.place<T>()},
                               static_cast<ChannelSums*>(sums.get()));
      average.finish();
      variance.finish();
    } else {
      const Tensor m = dense(widened(*running_mean)), v = dense(widened(*running_var));
      batch_norm_running<T>(on.queue(), s.c.divisor, o.eps, values_of<T>(m), values_of<T>(v), mean, invstd);
    }
    batch_norm_apply<T>(on.queue(), s, values_of<T>(x), mean, invstd, values_or_null<T>(w), values_or_null<T>(b),
                        place_of<T>(out[0]));
  });
}

/// The running statistics are written to, in whatever dtype they have; the statistics of the batch are float32.
void forward_any(std::array<Tensor, 3>& out, const Tensor& input, const OptionalTensor& weight,
                 const OptionalTensor& bias, const OptionalTensor& running_mean, const OptionalTensor& running_var,
                 const BatchNormOptions& o) {
  if (!is_16_bit_float(input.dtype())) return forward(out, input, weight, bias, running_mean, running_var, o);
  std::array<Tensor, 3> wide = kernels::wide_result(out);
  forward(wide, widened(input), widened(weight), widened(bias), running_mean, running_var, o);
  kernels::narrow_into(out, wide);
}

void backward(std::array<Tensor, 3>& out, const Tensor& grad, const Tensor& input, const OptionalTensor& weight,
              const Tensor& mean, const Tensor& invstd, const BatchNormOptions& o, const std::array<bool, 3>& wanted) {
  if (input.numel() == 0) {
    fill_elements(out[1], 0);
    return fill_elements(out[2], 0);
  }
  dispatch_floating(input.dtype(), "batch_norm", [&]<class T>(Type<T>) {
    const MemoryFormat format = common_order(wanted[0] ? out[0] : input, input);
    const Tensor x = operand_in_order("batch_norm_backward", input, format), w = dense(weight);
    const Tensor dy = operand_in_order("batch_norm_backward", grad, format);
    const BatchNormShape s = shape_of(x, format);
    const OnDevice on(x.device());
    const DataPtr sums = memory_for_sums(on, s);
    const DataPtr numbers = on.state().allocator().allocate(3 * s.c.divisor * sizeof(T));
    const auto place = [&](std::size_t i) { return wanted[i] ? place_of<T>(out[i]) : nullptr; };
    batch_norm_backward<T>(on.queue(), s,
                           {.dy = values_of<T>(dy),
                            .x = values_of<T>(x),
                            .mean = values_of<T>(mean),
                            .invstd = values_of<T>(invstd),
                            .weight = values_or_null<T>(w),
                            .dx = place(0),
                            .dweight = place(1),
                            .dbias = place(2),
                            .numbers = static_cast<T*>(numbers.get()),
                            .uses_batch_statistics = o.training},
                           static_cast<ChannelSums*>(sums.get()));
  });
}

}  // namespace

void install_norm() {
  ops::batch_norm.set_kernel(DispatchKey::CUDA, forward_any);
  ops::batch_norm_backward.set_kernel(DispatchKey::CUDA, kernels::widening<backward>);
}

}  // namespace taper::cuda_kernels
