#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/conv.h>
#include <taper/ops/join.h>

#include <string_view>

#include "window.h"

namespace taper {
namespace {

constexpr const char* kShapes =
    "needs input [n, c, h, w] or [c, h, w] and weight [out_c, c / groups, kh, kw], got input ";

void check_window(const Conv2dWindow& o) {
  check_window_option("conv2d", "stride", o.stride, 1);
  check_window_option("conv2d", "padding", o.padding, 0);
  check_window_option("conv2d", "dilation", o.dilation, 1);
  check<ValueError>(o.groups > 0, "conv2d: groups is ", o.groups, ", expected 1 or more");
}

/// Positions of a window along one dimension; none if it is longer than the padded image.
std::int64_t positions(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                       std::int64_t dilation) {
  const std::int64_t room = size + 2 * padding - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

void check_dtypes(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  check<DTypeError>(is_floating(input.dtype()), "conv2d: needs a floating dtype, got input ", input.spec(),
                    "; convert with x.to(taper::float32) first");
  check<DTypeError>(weight.dtype() == input.dtype(), "conv2d: input ", input.spec(), " and weight ", weight.spec(),
                    " differ in dtype; convert one of them with to()");
  check<DTypeError>(!bias || bias->dtype() == input.dtype(), "conv2d: input ", input.spec(), " and bias ",
                    bias ? bias->spec() : TensorSpec{}, " differ in dtype; convert one of them with to()");
}

TensorSpec infer_conv2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                        const Conv2dWindow& o) {
  check<ShapeError>(input.dim() == 4 && weight.dim() == 4, "conv2d: ", kShapes, input.spec(), " and weight ",
                    weight.spec());
  check_dtypes(input, weight, bias);
  check_window(o);
  const std::int64_t c = input.size(1), out_c = weight.size(0), kh = weight.size(2), kw = weight.size(3);
  check<ShapeError>(out_c % o.groups == 0, "conv2d: weight ", weight.sizes(), " has ", out_c,
                    " output channels, which groups=", o.groups, " does not divide");
  check<ShapeError>(c == weight.size(1) * o.groups, "conv2d: input ", input.sizes(), " has ", c,
                    " channels but weight ", weight.sizes(), " with groups=", o.groups, " expects ",
                    weight.size(1) * o.groups);
  check<ShapeError>(!bias || (bias->dim() == 1 && bias->size(0) == out_c), "conv2d: weight ", weight.sizes(),
                    " needs a bias of [", out_c, "], got ", bias ? bias->sizes() : IntSpan{});
  check<ShapeError>(kh > 0 && kw > 0, "conv2d: weight ", weight.sizes(), " has a window without elements");
  const std::int64_t oh = positions(input.size(2), kh, o.stride.h, o.padding.h, o.dilation.h);
  const std::int64_t ow = positions(input.size(3), kw, o.stride.w, o.padding.w, o.dilation.w);
  check<ShapeError>(oh > 0 && ow > 0, "conv2d: the window of weight ", weight.sizes(), " covers ",
                    IntPair(o.dilation.h * (kh - 1) + 1, o.dilation.w * (kw - 1) + 1), " (dilation ", o.dilation,
                    ") but input ", input.sizes(), " with padding ", o.padding, " is only ",
                    IntPair(input.size(2) + 2 * o.padding.h, input.size(3) + 2 * o.padding.w),
                    "; use a smaller kernel or more padding");
  const bool is_last = suggested_memory_format(input) == MemoryFormat::channels_last ||
                       suggested_memory_format(weight) == MemoryFormat::channels_last;
  return {
      dense_geometry({input.size(0), out_c, oh, ow}, is_last ? MemoryFormat::channels_last : MemoryFormat::contiguous),
      input.dtype(), input.device()};
}

TensorSpec infer_input_grad(const Tensor& grad, const Tensor& weight, const IntPair& size, const Conv2dWindow& o) {
  check_window(o);
  return {dense_geometry({grad.size(0), weight.size(1) * o.groups, size.h, size.w}, suggested_memory_format(grad)),
          grad.dtype(), grad.device()};
}

std::array<TensorSpec, 2> infer_weight_grad(const Tensor& grad, const Tensor& input, const IntPair& kernel,
                                            const bool& with_bias, const Conv2dWindow& o) {
  check_window(o);
  const IntVec weight = {grad.size(1), input.size(1) / o.groups, kernel.h, kernel.w};
  return {TensorSpec::contiguous(weight, grad.dtype(), grad.device()),
          TensorSpec::contiguous({with_bias ? grad.size(1) : 0}, grad.dtype(), grad.device())};
}

/// Zeros after the last entry of a dimension.
Tensor padded_at_end(const Tensor& x, std::int64_t dim, std::int64_t amount) {
  if (amount == 0) return x;
  IntVec sizes = x.sizes().vec();
  sizes[x.wrapped_dim(dim)] = amount;
  return cat({x, zeros(sizes, x.options())}, dim);
}

}  // namespace

Conv2dPadding::Conv2dPadding(const char* name) {
  const std::string_view given = name ? name : "";
  check<ValueError>(given == "same" || given == "valid", "conv2d: padding is \"", given,
                    "\", expected \"same\", \"valid\" or numbers");
  is_same = given == "same";
}

namespace ops {
constinit StructuredOp<Tensor(Tensor, Tensor, std::optional<Tensor>, Conv2dWindow)> conv2d{
    "conv2d", "input, weight, bias, options", infer_conv2d};
constinit StructuredOp<Tensor(Tensor, Tensor, IntPair, Conv2dWindow)> conv2d_input_grad{
    "conv2d_input_grad", "grad, weight, size, options", infer_input_grad};
constinit StructuredOp<std::array<Tensor, 2>(Tensor, Tensor, IntPair, bool, Conv2dWindow)> conv2d_weight_grad{
    "conv2d_weight_grad", "grad, input, kernel, with_bias, options", infer_weight_grad};
}  // namespace ops

Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  check<ShapeError>((input.dim() == 3 || input.dim() == 4) && weight.dim() == 4, "conv2d: ", kShapes, input.spec(),
                    " and weight ", weight.spec());
  Conv2dWindow window{options.stride, options.padding.amount, options.dilation, options.groups};
  Tensor x = input.dim() == 3 ? input.unsqueeze(0) : input;
  if (options.padding.is_same) {
    check<ValueError>(options.stride == IntPair(1),
                      "conv2d: padding \"same\" keeps the size only at stride 1, got stride ", options.stride,
                      "; give the padding in numbers");
    const IntPair total(options.dilation.h * (weight.size(2) - 1), options.dilation.w * (weight.size(3) - 1));
    window.padding = {total.h / 2, total.w / 2};
    x = padded_at_end(padded_at_end(x, 2, total.h % 2), 3, total.w % 2);
  }
  const Tensor y = ops::conv2d(x, weight, bias.defined() ? std::optional<Tensor>(bias) : std::nullopt, window);
  return input.dim() == 3 ? y.squeeze(0) : y;
}

}  // namespace taper
