#pragma once
#include <cstdint>

namespace taper {

/// One call's worth of random numbers; <taper/philox.h> says which they are.
struct RandomStream {
  using plain_argument = void;
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;  // below 2^63
};

}  // namespace taper
