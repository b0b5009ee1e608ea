// Layer normalization of tensors.
#include "cuda/layer_norm.h"

#include <taper/operator.h>
#include <taper/ops/norm_samples.h>

#include "caching_allocator.h"
#include "device.h"
#include "elementwise.h"
#include "install.h"
#include "operand_order.h"
#include "widen.h"

namespace taper::cuda_kernels {
namespace {

using kernels::place_of;
using kernels::values_of;
using OptionalTensor = std::optional<Tensor>;

constexpr std::int64_t kMost = (std::int64_t(1) << 31) - 1;  // sums over lines count in 32 bits

Tensor dense(const Tensor& t) { return kernels::operand_in_order("layer_norm", t, MemoryFormat::contiguous); }
Tensor dense(const OptionalTensor& t) { return t ? dense(*t) : Tensor(); }
template <class T>
const T* values_or_null(const Tensor& t) {
  return t.defined() ? values_of<T>(t) : nullptr;
}

void forward(std::array<Tensor, 3>& out, const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
             const LayerNormOptions& o) {
  if (input.numel() == 0) {  // no statistics to speak of
    fill_elements(out[1], 0);
    return fill_elements(out[2], 0);
  }
  const Tensor x = dense(input), w = dense(weight), b = dense(bias);
  const std::int64_t lines = out[1].numel();
  const OnDevice on(x.device());
  dispatch_floating(x.dtype(), "layer_norm", [&]<class T>(Type<T>) {
    layer_norm<T>(on.queue(), {lines, x.numel() / lines, o.centered},
                  {.x = values_of<T>(x),
                   .weight = values_or_null<T>(w),
                   .bias = values_or_null<T>(b),
                   .eps = o.eps,
                   .y = place_of<T>(out[0]),
                   .mean = place_of<T>(out[1]),
                   .invstd = place_of<T>(out[2])});
  });
}

void backward(std::array<Tensor, 3>& out, const Tensor& grad, const Tensor& input, const OptionalTensor& weight,
              const Tensor& mean, const Tensor& invstd, const LayerNormOptions& o, const std::array<bool, 3>& wanted) {
  if (input.numel() == 0) {
    fill_elements(out[1], 0);
    return fill_elements(out[2], 0);
  }
  const Tensor dy = dense(grad), x = dense(input), w = dense(weight), m = dense(mean), s = dense(invstd);
  const std::int64_t lines = mean.numel(), n = x.numel() / lines;
  const OnDevice on(x.device());
  dispatch_floating(x.dtype(), "layer_norm_backward", [&]<class T>(Type<T>) {
    const LayerNormGradients<T> g{.dy = values_of<T>(dy),
                                  .x = values_of<T>(x),
                                  .mean = values_of<T>(m),
                                  .invstd = values_of<T>(s),
                                  .weight = values_or_null<T>(w)};
    const auto place = [&](std::size_t i) { return wanted[i] ? place_of<T>(out[i]) : nullptr; };
    if (wanted[0]) layer_norm_input_gradient<T>(on.queue(), {lines, n, o.centered}, g, place(0));
    if (!wanted[1] && !wanted[2]) return;
    check<NotImplementedError>(x.numel() <= kMost, "layer_norm: ", x.spec(), " has more than ", kMost,
                               " elements, which CUDA kernels do not count; use a smaller batch");
    const BatchNormShape columns{
        .c = FastDiv::by(std::uint32_t(n)), .l = FastDiv::by(1), .n = std::uint32_t(lines), .channels_last = false};
    const std::size_t parts = batch_norm_parts(on.queue(), columns);
    const DataPtr sums = on.state().allocator().allocate(parts > 1 ? parts * std::size_t(n) * sizeof(ChannelSums) : 0);
    layer_norm_parameter_gradients<T>(on.queue(), columns, g, place(1), place(2),
                                      static_cast<ChannelSums*>(sums.get()));
  });
}

}  // namespace

void install_layer_norm() {
  ops::layer_norm.set_kernel(DispatchKey::CUDA, kernels::widening<forward>);
  ops::layer_norm_backward.set_kernel(DispatchKey::CUDA, kernels::widening<backward>);
}

}  // namespace taper::cuda_kernels
