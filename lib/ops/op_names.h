#pragma once
#include <algorithm>
#include <cstddef>

namespace taper {

/// An operator's name as a template argument: one function serves several operators and still names the right one.
template <std::size_t N>
struct OpName {
  consteval OpName(const char (&name)[N]) { std::copy_n(name, N, text); }
  char text[N];
};

}  // namespace taper
