#pragma once
#include <taper/int_pair.h>

namespace taper {

/// Throws ValueError unless both numbers of an option are at least `least`, and small enough to be multiplied.
inline void check_window_option(const char* op, const char* name, IntPair p, std::int64_t least) {
  constexpr std::int64_t most = (std::int64_t(1) << 31) - 1;
  check<ValueError>(p.h >= least && p.w >= least, op, ": ", name, " is ", p, ", expected ", least, " or more");
  check<ValueError>(p.h <= most && p.w <= most, op, ": ", name, " is ", p, ", expected at most ", most);
}

}  // namespace taper
