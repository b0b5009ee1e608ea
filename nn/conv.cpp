#include <taper/factory.h>
#include <taper/nn/conv.h>

#include "fan_init.h"

namespace taper::nn {

namespace {

/// "(2, 3)"
std::string name_of(const IntPair& p) { return '(' + std::to_string(p.h) + ", " + std::to_string(p.w) + ')'; }

}  // namespace

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, IntPair kernel_size, const Conv2dOptions& options)
    : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size), options_(options) {
  check<ValueError>(in_channels > 0 && out_channels > 0, "Conv2d: there must be channels, got in_channels ",
                    in_channels, " and out_channels ", out_channels);
  check<ValueError>(kernel_size.h > 0 && kernel_size.w > 0, "Conv2d: kernel_size must be positive, got ", kernel_size);
  const std::int64_t groups = options.groups;
  check<ValueError>(groups > 0 && in_channels % groups == 0 && out_channels % groups == 0,
                    "Conv2d: groups must divide ", "in_channels and out_channels, got ", groups, " for ", in_channels,
                    " and ", out_channels);
  check<ValueError>(!options.padding.is_same || options.stride == IntPair(1),
                    "Conv2d: padding \"same\" needs stride 1, got ", options.stride);
  weight = Parameter(
      empty({out_channels, in_channels / groups, kernel_size.h, kernel_size.w}, options.dtype, options.device));
  if (options.bias) bias = Parameter(empty({out_channels}, options.dtype, options.device));
  reset_parameters();
}

void Conv2d::reset_parameters() { init_by_fan_in(weight, bias); }

Tensor Conv2d::forward(const Tensor& x) {
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
  return s;
}

Conv2d Conv2d::clone() const { return clone_as(*this, in_channels_, out_channels_, kernel_size_, options_); }

}  // namespace taper::nn
