#pragma once
#include <taper/ops/loss.h>

#include "value.h"

namespace oracle {

/// The argument `reduction`, spelled as in the records.
inline taper::Reduction reduction(const Args& a) {
  const std::string name = a.text("reduction", "mean");
  if (name == "none") return taper::Reduction::none;
  if (name == "mean") return taper::Reduction::mean;
  if (name == "sum") return taper::Reduction::sum;
  // The compiler refuses what is no value of the enumeration; here that counts as the call's error.
  a.assume_all_read();
  taper::raise<taper::ValueError>(a.op(), ": reduction '", name, "' is no value of taper::Reduction");
}
inline taper::CrossEntropyOptions cross_entropy_options(const Args& a) {
  return {.weight = a.optional_tensor("weight"),
          .ignore_index = a.integer("ignore_index", -100),
          .reduction = reduction(a),
          .label_smoothing = a.real("label_smoothing", 0)};
}

}  // namespace oracle
