#pragma once
#include <taper/error.h>

#include <concepts>

namespace taper {

/// A number for height and one for width, or one for both: {2, 3}, 2.
struct IntPair {
  using plain_argument = void;
  std::int64_t h = 0, w = 0;

  constexpr IntPair(std::integral auto both) : h(std::int64_t(both)), w(std::int64_t(both)) {}
  constexpr IntPair(std::integral auto height, std::integral auto width)
      : h(std::int64_t(height)), w(std::int64_t(width)) {}
  /// A list of one or two numbers. Throws ValueError, calling it `name`, if it has another length.
  static IntPair of(const char* name, IntSpan list) {
    check<ValueError>(list.size() == 1 || list.size() == 2, name, ": expected one number or two (height, width), got ",
                      list);
    return {list[0], list[list.size() - 1]};
  }
  friend constexpr bool operator==(const IntPair&, const IntPair&) = default;
};
/// Appends "2 x 3".
inline void append_to(std::string& s, const IntPair& p) {
  append_to(s, p.h);
  append_to(s, " x ");
  append_to(s, p.w);
}

}  // namespace taper
