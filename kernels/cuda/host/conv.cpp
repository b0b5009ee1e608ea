// Convolutions of tensors, by a kernel or as products of matrices by cuBLAS.
#include "cuda/conv.h"

#include <taper/operator.h>
#include <taper/ops/conv.h>
#include <taper/ops/reduce.h>

#include <algorithm>
#include <utility>

#include "caching_allocator.h"
#include "device.h"
#include "elementwise.h"
#include "gemm.h"
#include "install.h"
#include "operand_order.h"
#include "widen.h"

namespace taper::cuda_kernels {
namespace {

using kernels::common_order;
using kernels::in_order;
using kernels::operand_in_order;
using kernels::packed_weight;
using kernels::place_of;
using kernels::values_of;

constexpr std::int64_t kMost = (std::int64_t(1) << 31) - 1;  // kernels count in 32 bits
constexpr std::int64_t kMostColumns = std::int64_t(1)
                                      << 26;  // elements of matrices at a time, unless one image has more

/// What a convolution works on, and its matrices: a window's taps, its positions in an image.
struct Shape {
  Conv conv;
  std::int64_t n, c, out_c, groups, taps, positions;
  bool channels_last;
  bool is_pointwise;  // images are their own matrices

  std::int64_t group_out_c() const { return out_c / groups; }
  /// Groups of few channels make matrices that are too narrow for cuBLAS.
  bool is_narrow() const { return groups > 1 && group_out_c() <= 4; }
  /// Whether one kernel is faster than a product with its columns, also because there is little to do.
  bool is_direct() const {
    constexpr std::int64_t kSmall = std::int64_t(1) << 25;
    return n * positions * out_c * taps <= kSmall || is_narrow();
  }
  /// Images whose matrices are made at a time.
  std::int64_t images_at_once() const {
    return std::clamp<std::int64_t>(kMostColumns / std::max<std::int64_t>(groups * taps * positions, 1), 1, n);
  }
  Columns columns(Columns::Order order, std::int64_t first, std::int64_t images) const {
    return {order, FastDiv::by(std::uint32_t(images)), FastDiv::by(std::uint32_t(taps)),
            FastDiv::by(std::uint32_t(positions)), std::uint32_t(first)};
  }
};

Shape shape_of(const Tensor& x, const Tensor& y, IntSpan weight, const Conv2dWindow& o, MemoryFormat format) {
  const bool last = format == MemoryFormat::channels_last;
  const std::int64_t group_c = weight[1], window = weight[2] * weight[3];
  const auto by = [](std::int64_t n) { return FastDiv::by(std::uint32_t(n)); };
  Shape s{.conv = {},
          .n = x.size(0),
          .c = x.size(1),
          .out_c = y.size(1),
          .groups = o.groups,
          .taps = group_c * window,
          .positions = y.size(2) * y.size(3),
          .channels_last = last,
          .is_pointwise = window == 1 && o.stride == IntPair(1) && o.padding == IntPair(0)};
  check<NotImplementedError>(
      x.numel() <= kMost && y.numel() <= kMost && o.groups * s.taps * s.positions <= kMost, "conv2d: input ", x.spec(),
      " with weight [", weight[0], ", ", weight[1], ", ", weight[2], ", ", weight[3], "] needs more than ", kMost,
      " elements at once, which CUDA kernels do not count; convolve a part of the batch or image at a time");
  s.conv = {.x = Images::of(s.n, s.c, x.size(2), x.size(3), last),
            .y = Images::of(s.n, s.out_c, y.size(2), y.size(3), last),
            .groups = by(o.groups),
            .group_c = by(group_c),
            .group_out_c = by(s.group_out_c()),
            .window = by(window),
            .kernel_w = by(weight[3]),
            .stride_h = by(o.stride.h),
            .stride_w = by(o.stride.w),
            .pad_h = std::int32_t(o.padding.h),
            .pad_w = std::int32_t(o.padding.w),
            .dilation_h = std::int32_t(o.dilation.h),
            .dilation_w = std::int32_t(o.dilation.w)};
  return s;
}

/// t's elements, seen in other dimensions.
Tensor seen_as(const Tensor& t, std::initializer_list<std::pair<std::int64_t, std::int64_t>> sizes_and_strides) {
  SizesAndStrides g = SizesAndStrides::of_rank(int(sizes_and_strides.size()));
  int d = 0;
  for (const auto& [size, stride] : sizes_and_strides) g.set(d++, size, stride);
  return Tensor(make_intrusive<TensorImpl>(t.storage(), t.dtype(), std::move(g), t.storage_offset()));
}

/// Calls f(first image, number of images, memory for their columns), for all images.
template <class T, class F>
void for_images(const OnDevice& on, const Shape& s, const F& f) {
  const std::int64_t at_once = s.is_pointwise ? s.n : s.images_at_once();
  const std::int64_t elements = s.is_pointwise ? 0 : at_once * s.groups * s.taps * s.positions;
  const DataPtr columns = on.state().allocator().allocate(std::size_t(elements) * sizeof(T));
  for (std::int64_t i = 0; i < s.n; i += at_once) f(i, std::min(at_once, s.n - i), static_cast<T*>(columns.get()));
}

/// Products for each image and each group: a batch of images or of groups, whichever are more. Steps from one group to
/// the next, and from one image to the next.
struct Steps {
  std::int64_t group, image;
};
template <class T>
void for_groups(const OnDevice& on, Gemm g, std::int64_t groups, std::int64_t images, const T* a, Steps step_a,
                const T* b, Steps step_b, T* c, Steps step_c) {
  const bool by_image = images >= groups;
  const auto pick = [&](Steps s, bool of_batch) { return by_image == of_batch ? s.image : s.group; };
  g.batch = by_image ? images : groups;
  g.step_a = pick(step_a, true), g.step_b = pick(step_b, true), g.step_c = pick(step_c, true);
  for (std::int64_t i = 0; i < (by_image ? groups : images); ++i)
    gemm("conv2d", on, g, a + i * pick(step_a, false), b + i * pick(step_b, false), c + i * pick(step_c, false));
}

// In memory of the usual order an image is [group, channel, position] and its matrices are [group, tap, position]; with
// the channels last it is [position, group, channel], and so are all images together.

template <class T>
void forward(const OnDevice& on, const Shape& s, const T* x, const T* w, bool has_bias, T* y) {
  const std::int64_t rows = s.group_out_c(), k = s.taps, p = s.positions;
  for_images<T>(on, s, [&](std::int64_t first, std::int64_t images, T* columns) {
    const auto order = s.channels_last ? Columns::Order::positions : Columns::Order::images;
    if (!s.is_pointwise) gather_columns(on.queue(), s.conv, s.columns(order, first, images), x, columns);
    if (s.channels_last) {
      const std::int64_t all = images * p;
      gemm("conv2d", on,
           {.trans_b = true,
            .m = all,
            .n = rows,
            .k = k,
            .lda = s.is_pointwise ? s.c : k,
            .ldb = k,
            .ldc = s.out_c,
            .batch = s.groups,
            .step_a = s.is_pointwise ? k : all * k,
            .step_b = rows * k,
            .step_c = rows,
            .accumulate = has_bias},
           s.is_pointwise ? x : columns, w, y + first * p * s.out_c);
    } else {
      for_groups(on, {.m = rows, .n = p, .k = k, .lda = k, .ldb = p, .ldc = p, .accumulate = has_bias}, s.groups,
                 images, w, {rows * k, 0}, s.is_pointwise ? x : columns, {k * p, s.groups * k * p},
                 y + first * s.out_c * p, {rows * p, s.out_c * p});
    }
  });
}

template <class T>
void input_grad(const OnDevice& on, const Shape& s, const T* dy, const T* w, T* dx) {
  const std::int64_t rows = s.group_out_c(), k = s.taps, p = s.positions;
  for_images<T>(on, s, [&](std::int64_t first, std::int64_t images, T* columns) {
    T* const to = s.is_pointwise ? dx : columns;
    if (s.channels_last) {
      const std::int64_t all = images * p;
      gemm("conv2d", on,
           {.m = all,
            .n = k,
            .k = rows,
            .lda = s.out_c,
            .ldb = k,
            .ldc = s.is_pointwise ? s.c : k,
            .batch = s.groups,
            .step_a = rows,
            .step_b = rows * k,
            .step_c = s.is_pointwise ? k : all * k},
           dy + first * p * s.out_c, w, to);
    } else {
      for_groups(on, {.trans_a = true, .m = k, .n = p, .k = rows, .lda = k, .ldb = p, .ldc = p}, s.groups, images, w,
                 {rows * k, 0}, dy + first * s.out_c * p, {rows * p, s.out_c * p}, to, {k * p, s.groups * k * p});
    }
    const auto order = s.channels_last ? Columns::Order::positions : Columns::Order::images;
    if (!s.is_pointwise) sum_columns(on.queue(), s.conv, s.columns(order, first, images), columns, dx);
  });
}

/// dy is [out_c, n, position], or with the channels last.
template <class T>
void weight_grad(const OnDevice& on, Shape s, const T* x, const T* dy, T* dw) {
  const std::int64_t rows = s.group_out_c(), k = s.taps, p = s.positions;
  s.is_pointwise &= s.channels_last;  // else one product for all images wants them next to each other
  for_images<T>(on, s, [&](std::int64_t first, std::int64_t images, T* columns) {
    const std::int64_t all = images * p;
    Gemm g{.m = rows, .n = k, .k = all, .ldc = k, .batch = s.groups, .step_c = rows * k, .accumulate = first > 0};
    if (s.channels_last) {
      if (!s.is_pointwise)
        gather_columns(on.queue(), s.conv, s.columns(Columns::Order::positions, first, images), x, columns);
      g.trans_a = true, g.lda = s.out_c, g.step_a = rows;
      g.ldb = s.is_pointwise ? s.c : k, g.step_b = s.is_pointwise ? k : all * k;
      gemm("conv2d", on, g, dy + first * p * s.out_c, s.is_pointwise ? x : columns, dw);
    } else {
      gather_columns(on.queue(), s.conv, s.columns(Columns::Order::taps, first, images), x, columns);
      g.lda = s.n * p, g.step_a = rows * s.n * p;
      g.trans_b = true, g.ldb = all, g.step_b = k * all;
      gemm("conv2d", on, g, dy + first * p, columns, dw);
    }
  });
}

void conv2d(Tensor& out, const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
            const Conv2dWindow& o) {
  if (out.numel() == 0) return;
  const auto start_from_bias = [&] {
    copy_elements(out, seen_as(*bias, {{bias->size(0), bias->stride(0)}, {1, 1}, {1, 1}}));
  };
  if (weight.numel() == 0) return bias ? start_from_bias() : fill_elements(out, 0);
  const MemoryFormat format = common_order(out, input);
  const Tensor x = operand_in_order("conv2d", input, format);
  const Tensor w = packed_weight("conv2d", weight);
  const Shape s = shape_of(x, out, w.sizes(), o, format);
  const OnDevice on(out.device());
  dispatch_floating(out.dtype(), "conv2d", [&]<class T>(Type<T>) {
    if (s.is_direct()) {
      const Tensor b = bias ? in_order(*bias, MemoryFormat::contiguous) : Tensor();
      return convolve(on.queue(), s.conv, values_of<T>(x), values_of<T>(w), bias ? values_of<T>(b) : nullptr,
                      place_of<T>(out));
    }
    if (bias) start_from_bias();
    forward(on, s, values_of<T>(x), values_of<T>(w), bias.has_value(), place_of<T>(out));
  });
}

void conv2d_input_grad(Tensor& out, const Tensor& grad, const Tensor& weight, const IntPair&, const Conv2dWindow& o) {
  if (out.numel() == 0) return;
  if (grad.numel() == 0) return fill_elements(out, 0);
  const MemoryFormat format = common_order(out, grad);
  const Tensor dy = operand_in_order("conv2d_input_grad", grad, format);
  const Tensor w = packed_weight("conv2d_input_grad", weight);
  const Shape s = shape_of(out, dy, w.sizes(), o, format);
  const OnDevice on(out.device());
  dispatch_floating(out.dtype(), "conv2d", [&]<class T>(Type<T>) {
    if (s.is_narrow())
      return convolve_input_grad(on.queue(), s.conv, values_of<T>(dy), values_of<T>(w), place_of<T>(out));
    input_grad(on, s, values_of<T>(dy), values_of<T>(w), place_of<T>(out));
  });
}

void conv2d_weight_grad(std::array<Tensor, 2>& out, const Tensor& grad, const Tensor& input, const IntPair&,
                        const bool& with_bias, const Conv2dWindow& o) {
  if (grad.numel() == 0) {
    fill_elements(out[0], 0);
    return fill_elements(out[1], 0);
  }
  if (with_bias)  // over images, rows and columns
    copy_elements(out[1], ops::sum.below_autograd(grad, ops::Reduced{.dims = 0b1101}));
  if (out[0].numel() == 0) return;
  const MemoryFormat format = common_order(input, grad);
  const Tensor x = operand_in_order("conv2d_weight_grad", input, format);
  const Shape s = shape_of(x, grad, out[0].sizes(), o, format);
  const OnDevice on(x.device());
  dispatch_floating(grad.dtype(), "conv2d", [&]<class T>(Type<T>) {
    if (s.is_direct()) {
      const Tensor dy = operand_in_order("conv2d_weight_grad", grad, format);
      return convolve_weight_grad(on.queue(), s.conv, std::uint32_t(s.n), values_of<T>(x), values_of<T>(dy),
                                  place_of<T>(out[0]));
    }
    const Tensor dy = s.channels_last ? operand_in_order("conv2d_weight_grad", grad, format)
                                      : in_order(seen_as(grad, {{grad.size(1), grad.stride(1)},
                                                                {grad.size(0), grad.stride(0)},
                                                                {grad.size(2), grad.stride(2)},
                                                                {grad.size(3), grad.stride(3)}}),
                                                 MemoryFormat::contiguous);
    weight_grad(on, s, values_of<T>(x), values_of<T>(dy), place_of<T>(out[0]));
  });
}

}  // namespace

void install_conv() {
  constexpr DispatchKey key = DispatchKey::CUDA;
  ops::conv2d.set_kernel(key, kernels::widening<conv2d>);
  ops::conv2d_input_grad.set_kernel(key, kernels::widening<conv2d_input_grad>);
  ops::conv2d_weight_grad.set_kernel(key, kernels::widening<conv2d_weight_grad>);
}

}  // namespace taper::cuda_kernels
