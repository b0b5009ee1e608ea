#include <taper/nn/pooling.h>

#include "fan_init.h"

namespace taper::nn {

namespace {

/// "2", or "(2, 3)" where height and width differ.
std::string name_of(const IntPair& p) {
  if (p.h == p.w) return std::to_string(p.h);
  return '(' + std::to_string(p.h) + ", " + std::to_string(p.w) + ')';
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

}  // namespace taper::nn
