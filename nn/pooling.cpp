#include <taper/nn/pooling.h>

#include "fan_init.h"

namespace taper::nn {

namespace {

/// "2", or "(2, 3)" where height and width differ.
std::string name_of(const IntPair& p) {
  if (p.h == p.w) return std::to_string(p.h);
  return '(' + std::to_string(p.h) + ", " + std::to_string(p.w) + ')';
}

std::string name_of(const OutputSizes& sizes) {
  const auto one = [](std::optional<std::int64_t> n) { return n ? std::to_string(*n) : "None"; };
  if (sizes.size() == 1) return one(sizes[0]);
  std::string s = "(";
  for (std::size_t i = 0; i < sizes.size(); ++i) s += (i > 0 ? ", " : "") + one(sizes[i]);
  return s + ")";
}

}  // namespace

std::string MaxPool2d::extra_repr() const {
  return "kernel_size=" + name_of(kernel_size_) +
         ", stride=" + name_of(options_.stride.is_given ? options_.stride.step : kernel_size_) +
         ", padding=" + name_of(options_.padding) + ", dilation=" + name_of(options_.dilation) +
         ", ceil_mode=" + name_of_bool(options_.ceil_mode);
}

std::string AvgPool2d::extra_repr() const {
  return "kernel_size=" + name_of(kernel_size_) +
         ", stride=" + name_of(options_.stride.is_given ? options_.stride.step : kernel_size_) +
         ", padding=" + name_of(options_.padding);
}

std::string MaxPool1d::extra_repr() const {
  return "kernel_size=" + std::to_string(kernel_size_) +
         ", stride=" + std::to_string(options_.stride.value_or(kernel_size_)) +
         ", padding=" + std::to_string(options_.padding) + ", dilation=" + std::to_string(options_.dilation) +
         ", ceil_mode=" + name_of_bool(options_.ceil_mode);
}

std::string AvgPool1d::extra_repr() const {
  return "kernel_size=(" + std::to_string(kernel_size_) + ",), stride=(" +
         std::to_string(options_.stride.value_or(kernel_size_)) + ",), padding=(" + std::to_string(options_.padding) +
         ",)";
}

std::string AdaptiveAvgPool2d::extra_repr() const { return "output_size=" + name_of(output_size_); }
std::string AdaptiveMaxPool2d::extra_repr() const { return "output_size=" + name_of(output_size_); }
std::string AdaptiveAvgPool1d::extra_repr() const { return "output_size=" + std::to_string(output_size_); }
std::string AdaptiveMaxPool1d::extra_repr() const { return "output_size=" + std::to_string(output_size_); }

}  // namespace taper::nn
