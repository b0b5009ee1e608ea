#pragma once
// Rows of a function that is computed without branches for usual arguments, F::usual(x) where F::is_usual(x), and by a
// call for the others: a block without others becomes vector instructions.
#include <algorithm>
#include <concepts>

#include "strided.h"

namespace taper::cpu_kernels {

template <class F, class... A>
concept HasUsualArguments = requires(A... a) {
  requires sizeof...(A) == 1;
  requires(std::same_as<A, float> && ...);
  { F::usual(a...) } -> std::same_as<float>;
  { F::is_usual(a...) } -> std::same_as<bool>;
};

template <class F>
void usual_rows(const void* functor, char* const* p, const std::int64_t* step, const std::int64_t* row_step,
                std::int64_t n, std::int64_t rows) {
  if (step[0] != sizeof(float) || step[1] != sizeof(float))
    return row_loop<F, float, float>(functor, p, step, row_step, n, rows);
  constexpr std::int64_t kBlock = 1024;
  const auto usual = [](float* out, const float* x, std::int64_t count) TAPER_INLINE_CALLS {
    TAPER_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) out[i] = F::usual(x[i]);
  };
  for (std::int64_t r = 0; r < rows; ++r) {
    float* out = reinterpret_cast<float*>(p[0] + r * row_step[0]);
    const float* x = reinterpret_cast<const float*>(p[1] + r * row_step[1]);
    for (std::int64_t begin = 0; begin < n; begin += kBlock) {
      const std::int64_t end = std::min(n, begin + kBlock);
      int others = 0;
      for (std::int64_t i = begin; i < end; ++i) others |= !F::is_usual(x[i]);
      if (others) {
        for (std::int64_t i = begin; i < end; ++i) out[i] = F{}(x[i]);
      } else {
        usual(out + begin, x + begin, end - begin);
      }
    }
  }
}

}  // namespace taper::cpu_kernels
