#include <taper/factory.h>
#include <taper/nn/conv.h>
#include <taper/ops/pad.h>

#include "fan_init.h"

namespace taper::nn {

namespace {

/// "(2, 3)"
std::string name_of(const IntPair& p) { return '(' + std::to_string(p.h) + ", " + std::to_string(p.w) + ')'; }

std::string name_of(std::int64_t n) { return '(' + std::to_string(n) + ",)"; }

void check_arguments(const char* name, std::int64_t in_channels, std::int64_t out_channels, IntPair kernel_size,
                     std::int64_t groups) {
  check<ValueError>(in_channels > 0 && out_channels > 0, name, ": there must be channels, got in_channels ",
                    in_channels, " and out_channels ", out_channels);
  check<ValueError>(kernel_size.h > 0 && kernel_size.w > 0, name, ": kernel_size must be positive, got ", kernel_size);
  check<ValueError>(groups > 0 && in_channels % groups == 0 && out_channels % groups == 0, name,
                    ": groups must divide in_channels and out_channels, got ", groups, " for ", in_channels, " and ",
                    out_channels);
}

/// Entries that are added before and after a dim.
struct Ends {
  std::int64_t before, after;
};
Ends ends_of(bool is_same, std::int64_t amount, std::int64_t kernel_size, std::int64_t dilation) {
  if (!is_same) return {amount, amount};
  const std::int64_t both = dilation * (kernel_size - 1);
  return {both / 2, both - both / 2};
}
const char* name_of(PaddingMode mode) {
  constexpr const char* kNames[] = {"zeros", "reflect", "replicate", "circular"};
  return kNames[std::size_t(mode)];
}

/// What the options of a transposed convolution print as.
template <class Size, class Options>
std::string transposed_repr(std::int64_t in_channels, std::int64_t out_channels, Size kernel_size, const Options& o) {
  std::string s = std::to_string(in_channels) + ", " + std::to_string(out_channels) +
                  ", kernel_size=" + name_of(kernel_size) + ", stride=" + name_of(o.stride);
  if (!(o.padding == Size(0))) s += ", padding=" + name_of(o.padding);
  if (!(o.dilation == Size(1))) s += ", dilation=" + name_of(o.dilation);
  if (!(o.output_padding == Size(0))) s += ", output_padding=" + name_of(o.output_padding);
  if (o.groups != 1) s += ", groups=" + std::to_string(o.groups);
  if (!o.bias) s += ", bias=False";
  return s;
}

}  // namespace

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, IntPair kernel_size, const Conv2dOptions& options)
    : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size), options_(options) {
  check_arguments("Conv2d", in_channels, out_channels, kernel_size, options.groups);
  check<ValueError>(!options.padding.is_same || options.stride == IntPair(1),
                    "Conv2d: padding \"same\" needs stride 1, got ", options.stride);
  weight = Parameter(
      empty({out_channels, in_channels / options.groups, kernel_size.h, kernel_size.w}, options.dtype, options.device));
  if (options.bias) bias = Parameter(empty({out_channels}, options.dtype, options.device));
  reset_parameters();
}

void Conv2d::reset_parameters() { init_by_fan_in(weight, bias); }

Tensor Conv2d::forward(const Tensor& x) {
  if (options_.padding_mode != PaddingMode::zeros) {
    const Conv2dPadding& p = options_.padding;
    const Ends h = ends_of(p.is_same, p.amount.h, kernel_size_.h, options_.dilation.h);
    const Ends w = ends_of(p.is_same, p.amount.w, kernel_size_.w, options_.dilation.w);
    const Tensor padded = pad(x, {w.before, w.after, h.before, h.after}, name_of(options_.padding_mode));
    return conv2d(padded, weight, bias,
                  {.stride = options_.stride, .dilation = options_.dilation, .groups = options_.groups});
  }
  return conv2d(x, weight, bias,
                {.stride = options_.stride,
                 .padding = options_.padding,
                 .dilation = options_.dilation,
                 .groups = options_.groups});
}

void Conv2d::members(MemberVisitor& v) {
  v("weight", weight);
  v("bias", bias);
}

std::string Conv2d::extra_repr() const {
  const Conv2dOptions& o = options_;
  std::string s = std::to_string(in_channels_) + ", " + std::to_string(out_channels_) +
                  ", kernel_size=" + name_of(kernel_size_) + ", stride=" + name_of(o.stride);
  if (o.padding.is_same)
    s += ", padding=same";
  else if (!(o.padding.amount == IntPair(0)))
    s += ", padding=" + name_of(o.padding.amount);
  if (!(o.dilation == IntPair(1))) s += ", dilation=" + name_of(o.dilation);
  if (o.groups != 1) s += ", groups=" + std::to_string(o.groups);
  if (!bias.defined()) s += ", bias=False";
  if (o.padding_mode != PaddingMode::zeros) s += std::string(", padding_mode=") + name_of(o.padding_mode);
  return s;
}

Conv2d Conv2d::clone() const { return clone_as(*this, in_channels_, out_channels_, kernel_size_, options_); }

Conv1d::Conv1d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t kernel_size,
               const Conv1dOptions& options)
    : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size), options_(options) {
  check_arguments("Conv1d", in_channels, out_channels, kernel_size, options.groups);
  check<ValueError>(!options.padding.is_same || options.stride == 1, "Conv1d: padding \"same\" needs stride 1, got ",
                    options.stride);
  weight = Parameter(empty({out_channels, in_channels / options.groups, kernel_size}, options.dtype, options.device));
  if (options.bias) bias = Parameter(empty({out_channels}, options.dtype, options.device));
  init_by_fan_in(weight, bias);
}
Tensor Conv1d::forward(const Tensor& x) {
  if (options_.padding_mode != PaddingMode::zeros) {
    const Ends l = ends_of(options_.padding.is_same, options_.padding.amount, kernel_size_, options_.dilation);
    return conv1d(pad(x, {l.before, l.after}, name_of(options_.padding_mode)), weight, bias,
                  {.stride = options_.stride, .dilation = options_.dilation, .groups = options_.groups});
  }
  return conv1d(x, weight, bias,
                {.stride = options_.stride,
                 .padding = options_.padding,
                 .dilation = options_.dilation,
                 .groups = options_.groups});
}
void Conv1d::members(MemberVisitor& v) {
  v("weight", weight);
  v("bias", bias);
}
std::string Conv1d::extra_repr() const {
  const Conv1dOptions& o = options_;
  std::string s = std::to_string(in_channels_) + ", " + std::to_string(out_channels_) +
                  ", kernel_size=" + name_of(kernel_size_) + ", stride=" + name_of(o.stride);
  if (o.padding.is_same)
    s += ", padding=same";
  else if (o.padding.amount != 0)
    s += ", padding=" + name_of(o.padding.amount);
  if (o.dilation != 1) s += ", dilation=" + name_of(o.dilation);
  if (o.groups != 1) s += ", groups=" + std::to_string(o.groups);
  if (!bias.defined()) s += ", bias=False";
  if (o.padding_mode != PaddingMode::zeros) s += std::string(", padding_mode=") + name_of(o.padding_mode);
  return s;
}

ConvTranspose2d::ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels, IntPair kernel_size,
                                 const ConvTranspose2dOptions& options)
    : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size), options_(options) {
  check_arguments("ConvTranspose2d", in_channels, out_channels, kernel_size, options.groups);
  weight = Parameter(
      empty({in_channels, out_channels / options.groups, kernel_size.h, kernel_size.w}, options.dtype, options.device));
  if (options.bias) bias = Parameter(empty({out_channels}, options.dtype, options.device));
  init_by_fan_in(weight, bias);
}
Tensor ConvTranspose2d::forward(const Tensor& x) {
  return conv_transpose2d(x, weight, bias,
                          {.stride = options_.stride,
                           .padding = options_.padding,
                           .output_padding = options_.output_padding,
                           .groups = options_.groups,
                           .dilation = options_.dilation});
}
void ConvTranspose2d::members(MemberVisitor& v) {
  v("weight", weight);
  v("bias", bias);
}
std::string ConvTranspose2d::extra_repr() const {
  return transposed_repr(in_channels_, out_channels_, kernel_size_, options_);
}

ConvTranspose1d::ConvTranspose1d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t kernel_size,
                                 const ConvTranspose1dOptions& options)
    : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size), options_(options) {
  check_arguments("ConvTranspose1d", in_channels, out_channels, kernel_size, options.groups);
  weight = Parameter(empty({in_channels, out_channels / options.groups, kernel_size}, options.dtype, options.device));
  if (options.bias) bias = Parameter(empty({out_channels}, options.dtype, options.device));
  init_by_fan_in(weight, bias);
}
Tensor ConvTranspose1d::forward(const Tensor& x) {
  return conv_transpose1d(x, weight, bias,
                          {.stride = options_.stride,
                           .padding = options_.padding,
                           .output_padding = options_.output_padding,
                           .groups = options_.groups,
                           .dilation = options_.dilation});
}
void ConvTranspose1d::members(MemberVisitor& v) {
  v("weight", weight);
  v("bias", bias);
}
std::string ConvTranspose1d::extra_repr() const {
  return transposed_repr(in_channels_, out_channels_, kernel_size_, options_);
}

}  // namespace taper::nn
