#pragma once
#include <array>
#include <string>

namespace taper {

/// Where in the user's program something happened: the innermost call that is neither Taper's nor the standard
/// library's. Taking one costs microseconds; finding the name of the place is left to str().
class CallSite {
 public:
  static CallSite here() noexcept;
  /// "/home/me/train.cpp:41" where the program has debug information, else the function's name; "" if nothing is known.
  std::string str() const;

 private:
  std::array<void*, 40> frames_{};
  int depth_ = 0;
};

}  // namespace taper
