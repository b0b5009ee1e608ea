#pragma once
// The arguments that windows over images have, as functions and as modules.
#include <taper/ops/conv.h>
#include <taper/ops/pool.h>

#include "value.h"

namespace oracle {

inline taper::IntPair pair(const Args& a, const char* name, std::int64_t absent) {
  if (!a.has(name)) return absent;
  const IntVec list = a.ints(name);
  if (list.size() != 1 && list.size() != 2) a.assume_all_read();
  return taper::IntPair::of(name, list);
}
inline taper::PoolStride pool_stride(const Args& a) {
  const bool is_given = a.has("stride") && !(a.is_list("stride") && a.ints("stride").empty());
  return is_given ? taper::PoolStride(pair(a, "stride", 1)) : taper::PoolStride();
}
inline taper::Conv2dPadding conv_padding(const Args& a) {
  if (a.has("padding") && a.value("padding").is<std::string>()) return a.text("padding", "").c_str();
  return pair(a, "padding", 0);
}
inline taper::MaxPool2dOptions max_pool_options(const Args& a) {
  return {.stride = pool_stride(a),
          .padding = pair(a, "padding", 0),
          .dilation = pair(a, "dilation", 1),
          .ceil_mode = a.flag("ceil_mode", false)};
}
inline taper::AvgPool2dOptions avg_pool_options(const Args& a) {
  return {.stride = pool_stride(a),
          .padding = pair(a, "padding", 0),
          .ceil_mode = a.flag("ceil_mode", false),
          .count_include_pad = a.flag("count_include_pad", true),
          .divisor_override = a.optional_integer("divisor_override")};
}

}  // namespace oracle
