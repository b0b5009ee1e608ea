#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace taper {

using IntVec = std::vector<std::int64_t>;

/// A borrowed list of sizes, strides or indices. A type of our own, not a bare
/// std::span, so that `{2, 3}` converts to it and it prints.
struct IntSpan : std::span<const std::int64_t> {
  using span::span;
  IntSpan(const IntVec& v) : span(v.data(), v.size()) {}
  IntSpan(std::initializer_list<std::int64_t> l) : span(l.begin(), l.size()) {}
  /// One number as a list of one, so that `x.sum(1)` and `x.view(-1)` read well. Borrows it like everything else here.
  IntSpan(const std::int64_t& one) : span(&one, 1) {}

  IntVec vec() const { return IntVec(begin(), end()); }
  friend bool operator==(IntSpan a, IntSpan b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
};

/// Appends "[2, 3]".
void append_to(std::string& s, IntSpan v);

}  // namespace taper
