#include <taper/nn/resize.h>
#include <taper/ops/pad.h>
#include <taper/ops/resample.h>

#include "fan_init.h"

namespace taper::nn {

namespace {

/// "2", or "(2, 3)" for several numbers.
template <class Numbers, class Name>
std::string name_of(const Numbers& numbers, Name name) {
  std::string s;
  for (const auto& n : numbers) s += (s.empty() ? "" : ", ") + name(n);
  return numbers.size() == 1 ? s : '(' + s + ')';
}
std::string name_of_int(std::int64_t i) { return std::to_string(i); }

}  // namespace

Upsample::Upsample(UpsampleOptions options) : options_(std::move(options)) {
  check<ValueError>(options_.size.empty() != options_.scale_factor.empty(),
                    "Upsample: give one of size and scale_factor, got ", options_.size.empty() ? "neither" : "both");
}

Tensor Upsample::forward(const Tensor& x) {
  return interpolate(x, {.size = options_.size,
                         .scale_factor = options_.scale_factor,
                         .mode = options_.mode,
                         .align_corners = options_.align_corners,
                         .recompute_scale_factor = options_.recompute_scale_factor});
}

std::string Upsample::extra_repr() const {
  const std::string target = options_.size.empty() ? "scale_factor=" + name_of(options_.scale_factor, name_of_number)
                                                   : "size=" + name_of(options_.size, name_of_int);
  return target + ", mode=" + options_.mode;
}

ZeroPad2d::ZeroPad2d(IntSpan padding) : padding_(padding.begin(), padding.end()) {
  check<ValueError>(padding.size() == 4, "ZeroPad2d: padding must be {left, right, top, bottom} or one number, got ",
                    padding.size(), " numbers");
}

Tensor ZeroPad2d::forward(const Tensor& x) { return pad(x, IntSpan(padding_)); }

std::string ZeroPad2d::extra_repr() const { return name_of(padding_, name_of_int); }

}  // namespace taper::nn
